-- Skips the current pause and all later ones.
-- The action is for this revision; it is rejected for any other.
local os = require("os")

local revision = obj.status.canaryStatus.canaryRevision
-- Letters and digits: a user who may only write statuses must not add to the action.
if tonumber(revision, 36) == nil then error("the status has no revision: " .. revision) end

local function text(name, value)
  return '"' .. name .. '":"' .. value .. '"'
end

local members = {
  text("id", "argocd-promote-" .. revision .. "-" .. os.time()),
  text("type", "promote"),
  text("revision", revision),
  text("by", "argocd"),
}

if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["tranche.dev/action"] = "{" .. table.concat(members, ",") .. "}"
return obj
