-- Health of a BatchRelease, which Tranche creates for each release of a Rollout and deletes at its end.

local status = obj.status or {}
local waiting = status.waiting or {}

-- Reasons for which a BatchRelease waits for a user.
local needsSomebody = {
  BudgetZero = true,
  ForeignControl = true,
  PodsStuck = true,
  ReleaseFailed = true,
  RevisionHeld = true,
  StrategyConflict = true,
}
local isSuspended = { AnalysisInconclusive = true, Paused = true }

local function health(verdict, otherwise)
  local message = waiting.message
  if message == nil or message == "" then message = otherwise end
  return { status = verdict, message = message }
end

if obj.metadata.deletionTimestamp ~= nil then
  return { status = "Progressing", message = "the BatchRelease is being deleted" }
end
if status.phase == "Completed" then
  return { status = "Healthy", message = "the release has ended" }
end
if needsSomebody[waiting.reason] then return health("Degraded", "the release is held") end
if isSuspended[waiting.reason] then return health("Suspended", "the release is paused") end
return health("Progressing", "the release is running")
