-- Continues with a version that a failure, an analysis or an abort stopped.
-- The action is for this revision; it is rejected for any other.
local os = require("os")

local revision = obj.status.canaryStatus.canaryRevision

local function text(name, value)
  return '"' .. name .. '":"' .. value .. '"'
end

local members = {
  text("id", "argocd-retry-" .. revision .. "-" .. os.time()),
  text("type", "retry"),
  text("revision", revision),
  text("by", "argocd"),
}

if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["tranche.dev/action"] = "{" .. table.concat(members, ",") .. "}"
return obj
