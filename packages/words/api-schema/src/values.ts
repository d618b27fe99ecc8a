/** Phases of a Rollout, as `status.phase` shows them. Released products read these words: they never change. */
export const rolloutPhases = ['Initial', 'Healthy', 'Progressing', 'Terminating', 'Disabled', 'Disabling'] as const
/** @see rolloutPhases */
export type RolloutPhase = (typeof rolloutPhases)[number]

/** States of the current step, in the order in which a step walks through them. */
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

/** What the end of a release is doing; empty while it has not begun. */
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

/** Condition types of a Rollout. `Ready`, `Reconciling` and `Stalled` are the three that Flux reads. */
export const rolloutConditionTypes = [
  'Progressing',
  'Succeeded',
  'Terminating',
  'Ready',
  'Reconciling',
  'Stalled',
  'StrategyRestored',
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

/** Reasons of the condition `Stalled`: why a Rollout cannot go on until somebody changes something. */
export const stalledReasons = [
  'WorkloadNotFound',
  'WorkloadTaken',
  'InvalidSpec',
  'UnsupportedField',
  'BudgetZero',
  'CRDOutdated',
  'PeerActive',
  'StrategyContested',
  'NodesLeft',
  'ForeignControl',
  'PodsStuck',
  'RevisionHeld',
  'PolicyNotFound',
  'PolicyInvalid',
  'ReleaseFailed',
  'AnalysisInconclusive',
] as const
/** @see stalledReasons */
export type StalledReason = (typeof stalledReasons)[number]

/**
 * Reasons of events, in the order of docs/operations/events.md; a reason of the condition `Stalled` is told by an event of that name. Alerts
 * and programs read these words: they never change.
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
  'Frozen',
  'ActionRequested',
  'ActionAccepted',
  'ActionRejected',
  'PolicyChanged',
  'PolicyUnusable',
  'AnalysisSuccessful',
  'AnalysisFailed',
  ...stalledReasons,
] as const
/** @see eventReasons */
export type EventReason = (typeof eventReasons)[number]

/** How a BatchRelease brings the new revision to the workload. A DaemonSet is always released by `Partition`. */
export const rollingStyles = ['Partition', 'Canary', 'BlueGreen'] as const
/** @see rollingStyles */
export type RollingStyle = (typeof rollingStyles)[number]

/** Whether finalizing waits for the workload to be wholly updated. */
export const finalizingPolicies = ['WaitResume', 'Immediate'] as const
/** @see finalizingPolicies */
export type FinalizingPolicy = (typeof finalizingPolicies)[number]

/** States of the flight record (rules F1, F8, F9). */
export const flightStates = ['open', 'voiding', 'stopped'] as const
/** @see flightStates */
export type FlightState = (typeof flightStates)[number]

/** Actions that the annotation `tranche.dev/action` can carry. */
export const rolloutActionTypes = ['approve', 'jump', 'promote', 'abort', 'retry'] as const
/** @see rolloutActionTypes */
export type RolloutActionType = (typeof rolloutActionTypes)[number]

/** Values of the annotation `tranche.dev/on-delete`; absent means `Freeze`. */
export const onDeletePolicies = ['Freeze', 'Complete', 'Rollback'] as const
/** @see onDeletePolicies */
export type OnDeletePolicy = (typeof onDeletePolicies)[number]

/** Why a revision is held: a person took it back, or it was found to be bad. */
export const heldReasons = ['Aborted', 'Failed'] as const
/** @see heldReasons */
export type HeldReason = (typeof heldReasons)[number]

/** The most node names that one list in a status carries; the count beside it is exact. */
export const LISTED_NODES_MAX = 50

/** The most held revisions that a status remembers: the oldest goes first. */
export const HELD_REVISIONS_MAX = 10

/** How many releases a status remembers. */
export const RELEASES_MAX = 10

/**
 * How a release ended. `Failed` and `Superseded`: another template was applied, after it had failed or while it ran. `Stopped`: the Rollout
 * was disabled, or its DaemonSet was gone.
 */
export const releaseResults = ['Completed', 'RolledBack', 'Failed', 'Superseded', 'Stopped'] as const
/** @see releaseResults */
export type ReleaseResult = (typeof releaseResults)[number]

/** Number of ids of answered actions in a status. */
export const ANSWERED_ACTIONS_MAX = 16

/** What is done when the new version is taken to be bad. */
export const failureActions = ['Pause', 'Rollback', 'Continue'] as const
/** @see failureActions */
export type FailureAction = (typeof failureActions)[number]

/** What happens when a template that failed is applied again. */
export const reapplyActions = ['Hold', 'Deny', 'Revert'] as const
/** @see reapplyActions */
export type ReapplyAction = (typeof reapplyActions)[number]

/** By what nodes are put in order, beside selectors. */
export const nodeOrders = ['Oldest', 'Newest', 'Name'] as const
/** @see nodeOrders */
export type NodeOrder = (typeof nodeOrders)[number]

/** What a node means that is NotReady when its turn comes. */
export const notReadyActions = ['Skip', 'Wait', 'Fail'] as const
/** @see notReadyActions */
export type NotReadyAction = (typeof notReadyActions)[number]

/** What receivers can be told of. */
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

/** Where an analysis, or one measurement of it, stands. */
export const analysisPhases = ['Running', 'Successful', 'Failed', 'Inconclusive', 'Error'] as const
/** @see analysisPhases */
export type AnalysisPhase = (typeof analysisPhases)[number]

/** The most nodes whose restarts and waits a release remembers. */
export const WATCHED_NODES_MAX = 100

/** The most nodes whose failures a release remembers as accepted; what fails on others counts on. */
export const ACCEPTED_NODES_MAX = 1_000

/** The most pods that a release remembers as older than itself; those beyond are judged. */
export const OLDER_PODS_MAX = 500

/** The most measurements of one analysis that a status lists; the counts beside them are exact. */
export const MEASUREMENTS_MAX = 5

/** The most notifications that wait to be sent; then the oldest that nobody has to act on goes. */
export const NOTIFICATIONS_MAX = 50

/** The most nodes that a notification names. */
export const NOTIFIED_NODES_MAX = 10
