import { valueIn } from '@tranche/kube-types'
/** Phases of a Rollout in `status.phase`. Other products read these values: they never change. */
export const rolloutPhases = ['Initial', 'Healthy', 'Progressing', 'Terminating', 'Disabled', 'Disabling'] as const
/** @see rolloutPhases */
export type RolloutPhase = (typeof rolloutPhases)[number]

/** States of the current step, in the order of the state machine. */
export const stepStates = [
  'BeforeStepUpgrade',
  'StepUpgrade',
  'StepTrafficRouting',
  'StepMetricsAnalysis',
  'StepPaused',
  'StepReady',
  'Completed',
] as const
/** @see stepStates */
export type StepState = (typeof stepStates)[number]

/** Cleanup tasks at the end of a release; empty before it starts. */
export const finalisingSteps = [
  '',
  'FinalisingStepRouteTrafficToNew',
  'FinalisingStepRouteTrafficToStable',
  'RestoreStableService',
  'RemoveCanaryService',
  'ResumeWorkload',
  'ReleaseWorkloadControl',
  'END',
  'WaitEndless',
] as const
/** @see finalisingSteps */
export type FinalisingStep = (typeof finalisingSteps)[number]

/** Phases of a BatchRelease. */
export const batchReleasePhases = ['Initial', 'Preparing', 'Progressing', 'Finalizing', 'Completed'] as const
/** @see batchReleasePhases */
export type BatchReleasePhase = (typeof batchReleasePhases)[number]

/** States of the current batch of a BatchRelease. */
export const batchStates = ['Upgrading', 'Verifying', 'Ready'] as const
/** @see batchStates */
export type BatchState = (typeof batchStates)[number]

/** Condition types of a Rollout. Flux reads `Ready`, `Reconciling` and `Stalled`. */
export const rolloutConditionTypes = [
  'Progressing',
  'Succeeded',
  'Terminating',
  'Ready',
  'Reconciling',
  'Stalled',
  'StrategyRestored',
  'ConfigUnversioned',
] as const
/** @see rolloutConditionTypes */
export type RolloutConditionType = (typeof rolloutConditionTypes)[number]

/** Values of a condition's `status`. */
export const conditionStatuses = ['True', 'False', 'Unknown'] as const
/** @see conditionStatuses */
export type ConditionStatus = (typeof conditionStatuses)[number]

/** Reasons of the condition `Progressing`. */
export const progressingReasons = ['Initializing', 'InRolling', 'Finalising', 'Completed', 'Cancelling', 'Paused'] as const
/** @see progressingReasons */
export type ProgressingReason = (typeof progressingReasons)[number]

/** Reasons of the condition `Terminating`. */
export const terminatingReasons = ['InTerminating', 'Completed'] as const
/** @see terminatingReasons */
export type TerminatingReason = (typeof terminatingReasons)[number]

/** Reasons of the condition `Stalled`: why a Rollout cannot continue without a change by a user. */
export const stalledReasons = [
  'WorkloadNotFound',
  'WorkloadTaken',
  'InvalidSpec',
  'UnsupportedField',
  'BudgetZero',
  'CRDOutdated',
  'OpenKruiseActive',
  'StrategyConflict',
  'NodesLeft',
  'ForeignControl',
  'PodsStuck',
  'RevisionHeld',
  'PolicyNotFound',
  'PolicyInvalid',
  'ConfigUnpinned',
  'ReleaseFailed',
  'AnalysisInconclusive',
  'ChangeRejected',
] as const
/** @see stalledReasons */
export type StalledReason = (typeof stalledReasons)[number]

/** Reasons of `Stalled` as the previous version named them. */
const formerReasons: Readonly<Record<string, StalledReason>> = { StrategyContested: 'StrategyConflict', PeerActive: 'OpenKruiseActive' }

/** @returns the reason as this version names it; a status that the previous version wrote is read until it is written again */
export function presentReason(reason: string): string {
  return valueIn(formerReasons, reason) ?? reason
}

/**
 * Reasons of events, in the order of docs/operations/events.md. Each reason of the condition `Stalled` has an event of the same name. Alerts
 * and programs read these values: they never change.
 */
export const eventReasons = [
  'ReleaseStarted',
  'StepStarted',
  'StepSoaking',
  'StepPaused',
  'Paused',
  'Resumed',
  'ReleaseCompleted',
  'RollbackStarted',
  'RollbackCompleted',
  'TemplateReverted',
  'StableRevisionChanged',
  'QueueUnavailable',
  'PassFailed',
  'Frozen',
  'ActionRequested',
  'ActionAccepted',
  'ActionRejected',
  'PolicyChanged',
  'PolicyUnusable',
  'AnalysisSuccessful',
  'AnalysisFailed',
  'ConfigUnversioned',
  'DrainTimedOut',
  ...stalledReasons,
] as const
/** @see eventReasons */
export type EventReason = (typeof eventReasons)[number]

/** How a BatchRelease rolls out the new revision. For a DaemonSet it is always `Partition`. */
export const rollingStyles = ['Partition', 'Canary', 'BlueGreen'] as const
/** @see rollingStyles */
export type RollingStyle = (typeof rollingStyles)[number]

/** Whether finalizing waits until the workload is fully updated. */
export const finalizingPolicies = ['WaitResume', 'Immediate'] as const
/** @see finalizingPolicies */
export type FinalizingPolicy = (typeof finalizingPolicies)[number]

/** States of the flight record (rules F1, F8, F9). */
export const flightStates = ['open', 'voiding', 'revoking', 'stopped'] as const
/** @see flightStates */
export type FlightState = (typeof flightStates)[number]

/** Types of actions in the annotation `tranche.dev/action`. */
export const rolloutActionTypes = ['approve', 'jump', 'promote', 'abort', 'retry'] as const
/** @see rolloutActionTypes */
export type RolloutActionType = (typeof rolloutActionTypes)[number]

/** Values of the annotation `tranche.dev/on-delete`; default `Freeze`. */
export const onDeletePolicies = ['Freeze', 'Complete', 'Rollback'] as const
/** @see onDeletePolicies */
export type OnDeletePolicy = (typeof onDeletePolicies)[number]

/** Why a revision is blocked: a user aborted it, or it failed. */
export const heldReasons = ['Aborted', 'Failed'] as const
/** @see heldReasons */
export type HeldReason = (typeof heldReasons)[number]

/** Reasons of the condition `ConfigUnversioned` where pods read copies that may differ from the present objects, and follow no change. */
export const keptCopyReasons: readonly string[] = ['RolledBack', 'PinnedBefore']

/** Maximum number of node names in a list of a status. The count beside the list is exact. */
export const LISTED_NODES_MAX = 50

/** Maximum number of blocked revisions in a status. The oldest is dropped first. */
export const HELD_REVISIONS_MAX = 10

/** Maximum number of releases in a status. */
export const RELEASES_MAX = 10

/**
 * Results of a release. `Failed`: another template was applied after the release failed. `Superseded`: another template was applied while
 * it ran. `Stopped`: the Rollout was disabled, or its DaemonSet no longer exists.
 */
export const releaseResults = ['Completed', 'RolledBack', 'Failed', 'Superseded', 'Stopped'] as const
/** @see releaseResults */
export type ReleaseResult = (typeof releaseResults)[number]

/** Maximum number of ids of answered actions in a status. */
export const ANSWERED_ACTIONS_MAX = 16

/** Actions to take when the new version is considered bad. */
export const failureActions = ['Pause', 'Rollback', 'Continue'] as const
/** @see failureActions */
export type FailureAction = (typeof failureActions)[number]

/** Actions to take when a failed template is applied again. */
export const reapplyActions = ['Hold', 'Deny', 'Revert'] as const
/** @see reapplyActions */
export type ReapplyAction = (typeof reapplyActions)[number]

/** Sort keys of nodes, beside selectors. */
export const nodeOrders = ['Oldest', 'Newest', 'Name'] as const
/** @see nodeOrders */
export type NodeOrder = (typeof nodeOrders)[number]

/** Actions to take for a node that is NotReady when it is due. */
export const notReadyActions = ['Skip', 'Wait', 'Fail'] as const
/** @see notReadyActions */
export type NotReadyAction = (typeof notReadyActions)[number]

/** Whether executors check that a node has room for the new pod before they delete the old one. */
export const roomRules = ['Ignore', 'Check'] as const
/** @see roomRules */
export type RoomRule = (typeof roomRules)[number]

/** Whether executors take the Lease of a node before they delete a pod there. */
export const nodeLockRules = ['Ignore', 'Take'] as const
/** @see nodeLockRules */
export type NodeLockRule = (typeof nodeLockRules)[number]

/** Actions to take for a node that cannot pull the new images. */
export const pullFailureActions = ['Hold', 'Continue'] as const

/** Whether config of a template is only reported where it is not part of the version, or pinned by copies. */
export const configRules = ['Report', 'Pin'] as const
/** @see configRules */
export type ConfigRule = (typeof configRules)[number]

/** Events that receivers can get. */
export const notifyEvents = [
  'ReleaseStarted',
  'StepPaused',
  'ReleaseFailed',
  'AnalysisInconclusive',
  'RollbackStarted',
  'RollbackCompleted',
  'ReleaseCompleted',
  'Stalled',
  'Reminder',
] as const
/** @see notifyEvents */
export type NotifyEvent = (typeof notifyEvents)[number]

/** Actions to take when the consumers of an agent do not leave a node in time. */
export const drainTimeoutActions = ['Hold', 'Continue'] as const
/** @see drainTimeoutActions */
export type DrainTimeoutAction = (typeof drainTimeoutActions)[number]

/** Phases of an analysis run or one of its measurements. */
export const analysisPhases = ['Running', 'Successful', 'Failed', 'Inconclusive', 'Error'] as const
/** @see analysisPhases */
export type AnalysisPhase = (typeof analysisPhases)[number]

/** Maximum number of nodes whose restarts and waits a release records. */
export const WATCHED_NODES_MAX = 100

/** Maximum number of nodes whose accepted failures a release records. Failures on other nodes still count. */
export const ACCEPTED_NODES_MAX = 1_000

/** Maximum number of names of nodes that an ended release left. With more of them, failures on every node count. */
export const LEFT_NODES_MAX = 1_000

/** Maximum number of pods that a release records as already unhealthy at its start. Other pods count as failures. */
export const OLDER_PODS_MAX = 500

/** Maximum number of reasons for which a ReleasePolicy cannot be used in full, in a status. */
export const UNUSABLE_REASONS_MAX = 50

/** Maximum number of measurements per analysis in a status. The counts beside the list are exact. */
export const MEASUREMENTS_MAX = 5

/** Maximum number of queued notifications. Beyond it, the oldest one that needs no action by a person is dropped. */
export const NOTIFICATIONS_MAX = 50

/** Maximum number of nodes in a notification. */
export const NOTIFIED_NODES_MAX = 10
