-- Ends the pause of this step.
-- The action is for this revision and step; it is rejected for any other.
local os = require("os")

local canary = obj.status.canaryStatus
local revision = canary.canaryRevision
-- Letters and digits: a user who may only write statuses must not add to the action.
if tonumber(revision, 36) == nil then error("the status has no revision: " .. revision) end

local function text(name, value)
  return '"' .. name .. '":"' .. value .. '"'
end

local members = {
  text("id", "argocd-approve-" .. revision .. "-" .. os.time()),
  text("type", "approve"),
  text("revision", revision),
  text("by", "argocd"),
  '"expectedStep":' .. canary.currentStepIndex,
}

if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["tranche.dev/action"] = "{" .. table.concat(members, ",") .. "}"
return obj
