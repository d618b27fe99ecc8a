-- Health of a Rollout, for releases of DaemonSets by Tranche. Rollouts of other workloads, which OpenKruise releases, are judged as
-- Argo CD's own script judges them. Nothing but the base library of Lua is used: Argo CD opens no other.

-- What the first sync of an application may pass through, for its objects come one after the other.
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

-- Whether nodes go back from a version that failed or was aborted in this release. One that Git takes back itself is none of these: it may
-- have been held before, but not since the release began.
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
  -- Whether a release was left where it stood: nothing updates the other nodes then.
  if step == "Completed" then return health("Healthy", "the Rollout is disabled") end
  return health("Degraded", "the Rollout was disabled in mid-release")
end
-- Who waits for the version, as the next sync wave does, must not take the end of this for its success.
if phase == "Progressing" and isRolledBack() then
  return health("Degraded", "the version is taken back")
end
if phase == "Progressing" and (step == "StepPaused" or condition("Progressing").reason == "Paused") then
  return health("Suspended", "the release is paused")
end
return health("Progressing", "the release goes on")
