-- Actions that are available for a Rollout now. The controller checks each again when it reads it.

local actions = {}

-- Other workloads are released by OpenKruise, whose controller does not read these actions.
if obj.spec.workloadRef.kind ~= "DaemonSet" then return actions end

local status = obj.status or {}
local canary = status.canaryStatus or {}

local stalled = ""
for _, one in ipairs(status.conditions or {}) do
  if one.type == "Stalled" and one.status == "True" then stalled = one.reason end
end

-- Whether the version of the release is blocked: a retry unblocks it.
local isBlocked = false
for _, one in ipairs(status.heldRevisions or {}) do
  if one.revision ~= nil and one.revision == canary.canaryRevision then isBlocked = true end
end

local isReleasing = status.phase == "Progressing"
local isPaused = obj.spec.strategy.paused == true
-- Whether the release is a rollback to the previous version.
local isReturn = isReleasing and canary.canaryRevision == canary.stableRevision
local isFinishing = canary.finalisingStep == "ResumeWorkload"
local isBad = status.failure ~= nil and status.failure.stops == true and not isReturn
local isStopped = isBad or stalled == "RevisionHeld" or stalled == "ReleaseFailed" or stalled == "AnalysisInconclusive"

local function offer(name, displayName, icon, isPossible)
  actions[name] = { disabled = not isPossible, displayName = displayName, iconClass = "fa fa-fw " .. icon }
end

offer("pause", "Pause", "fa-pause", not isPaused)
offer("resume", "Resume", "fa-play", isPaused or stalled == "ReleaseFailed" or stalled == "AnalysisInconclusive")
offer("approve", "Approve this step", "fa-check", isReleasing and not isStopped and canary.currentStepState == "StepPaused")
offer("promote", "Promote: skip the pauses", "fa-forward", isReleasing and not isStopped and not isFinishing)
offer(
  "promote-full",
  "Promote in full: skip pauses, soak and analyses",
  "fa-fast-forward",
  isReleasing and (not isStopped or stalled == "AnalysisInconclusive") and not isFinishing
)
offer("abort", "Abort: take the version back", "fa-undo", isReleasing and not isReturn)
offer(
  "retry",
  "Retry: go on with what was stopped",
  "fa-redo",
  (status.phase == "Healthy" and stalled == "ReleaseFailed") or isReleasing and (isBlocked or status.failure ~= nil or stalled == "RevisionHeld" or stalled == "ReleaseFailed" or stalled == "AnalysisInconclusive" or stalled == "StrategyConflict")
)

return actions
