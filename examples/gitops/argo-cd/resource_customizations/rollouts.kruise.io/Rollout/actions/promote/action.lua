-- Skips the current pause and all later ones.
-- The action is for this revision; it is rejected for any other.
local os = require("os")

local revision = obj.status.canaryStatus.canaryRevision

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
