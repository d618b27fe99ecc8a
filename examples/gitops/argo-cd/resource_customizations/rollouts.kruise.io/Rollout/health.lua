-- Health of a Rollout, for releases of DaemonSets by Tranche. Rollouts of other workloads, which OpenKruise releases, get the same health
-- as from Argo CD's built-in script. The script uses only Lua's base library: Argo CD opens no other.

-- Reasons that are expected during the first sync of an application, whose objects are created one after the other.
local mayComeYet = { WorkloadNotFound = true, PolicyNotFound = true }

local status = obj.status or {}
local canary = status.canaryStatus or {}
local phase = status.phase
local step = canary.currentStepState

local function health(verdict, otherwise)
  local message = status.message
  if message == nil or message == "" then message = otherwise end
  return { status = verdict, message = message }
end

local function condition(type)
  for _, one in ipairs(status.conditions or {}) do
    if one.type == type then return one end
  end
  return {}
end

-- Whether nodes are rolled back from a version that failed or was aborted in this release. A rollback by Git does not count: its version may
-- have been blocked before, but not since the release began.
local function isRolledBack()
  local began = condition("Progressing").lastTransitionTime
  for _, held in ipairs(status.heldRevisions or {}) do
    if held.revision == status.rollbackFrom and type(held.at) == "string" and type(began) == "string" and held.at > began then return true end
  end
  return false
end

if obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "the Rollout is being deleted")
end
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "waiting for the controller to observe this generation" }
end

local stalled = condition("Stalled")
if stalled.status == "True" then
  if phase == "Initial" and mayComeYet[stalled.reason] then return health("Progressing") end
  if stalled.reason == "AnalysisInconclusive" then return health("Suspended") end
  return health("Degraded")
end

if phase == "Healthy" and step == "Completed" then
  return health("Healthy", "no release runs")
end
if phase == "Disabled" then
  -- Whether the release was frozen before its end, so that the other nodes are not updated.
  if step == "Completed" then return health("Healthy", "the Rollout is disabled") end
  return health("Degraded", "the Rollout was disabled during a release")
end
-- The next sync wave waits for the version and must not take the end of a rollback for its success.
if phase == "Progressing" and isRolledBack() then
  return health("Degraded", "the version is being rolled back")
end
if phase == "Progressing" and (step == "StepPaused" or condition("Progressing").reason == "Paused") then
  return health("Suspended", "the release is paused")
end
return health("Progressing", "the release is running")
