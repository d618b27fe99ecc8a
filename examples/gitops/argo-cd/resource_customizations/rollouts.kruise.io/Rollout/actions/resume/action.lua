-- Ends a pause. Without a pause it is a retry: a failure and an inconclusive analysis wait for resume or retry.
local os = require("os")

if obj.spec.strategy.paused == true then
  obj.spec.strategy.paused = false
  return obj
end

local revision = obj.status.canaryStatus.canaryRevision
-- Letters and digits: a user who may only write statuses must not add to the action.
if tonumber(revision, 36) == nil then error("the status has no revision: " .. revision) end

local function text(name, value)
  return '"' .. name .. '":"' .. value .. '"'
end

local members = {
  text("id", "argocd-resume-" .. revision .. "-" .. os.time()),
  text("type", "retry"),
  text("revision", revision),
  text("by", "argocd"),
}

if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["tranche.dev/action"] = "{" .. table.concat(members, ",") .. "}"
return obj
