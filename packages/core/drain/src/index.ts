export { agentReturn, type ReturnTimes } from './agent-return.ts'
export { type Consumer, type PodOnNode, claimsOf, consumersOf, isEvictable, needsDrivers } from './consumers.ts'
export { type CordonMark, cordonMarkOf, type DrainedPermit, isMarkFor, isMarkOf, isSamePermit, parseCordonMark } from './cordon-mark.ts'
export { type CordonStep, cordonStep, isYieldedToUser, type NodePatch, uncordonPatch } from './cordon-step.ts'
export {
  DOWNTIME_WINDOW_MS,
  type Downtime,
  downtimeMs,
  DOWNTIMES_KEPT,
  keptDowntimes,
  belowLimitAtMs,
  type SpentDowntime,
  spentDowntime,
} from './downtime-window.ts'
export { drainConditionPatch, hasDrainCondition, noDrainConditionPatch, type NodeStatusPatch } from './drain-condition.ts'
export { drainText, type EvictionRefusal } from './drain-text.ts'
export {
  halfOverAtMs,
  heldText,
  isHeld,
  isLockedBy,
  type SeenPermit,
  type LockWanted,
  lockBody,
  LONGEST_LOCK_MS,
  longestDeletionMs,
  NODE_LOCK_SECONDS,
  type NodeLock,
  nodeLockName,
  renewalDueMs,
  toNodeLock,
} from './node-lock.ts'
export {
  type AgentReturn,
  allDowntimes,
  downtimeEnded,
  isStartOutdated,
  isStillAway,
  downtimeBody,
  type DowntimeBody,
  downtimeName,
  type Downtimes,
  type DowntimeWanted,
  type NodeAgent,
  type NodeDowntime,
  downtimeBegun,
  type OpenDowntime,
  toNodeDowntime,
} from './node-downtime.ts'
