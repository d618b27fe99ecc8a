export {
  type AnalysisRun,
  type BatchCanaryStatus,
  type BatchRelease,
  type BatchReleaseSpec,
  type BatchReleaseStatus,
  batchReleaseSchema,
  type BlockedNode,
  type StrategyDriftStatus,
  type FlightRecord,
  type HeldBy,
  type LeftAtEnd,
  type Hold,
  type Measurement,
  type Permit,
  type ReleasePlan,
  type StableTemplate,
  type StoppedTime,
  type TrancheSpec,
  type WatchedNode,
  type FrozenWatch,
  frozenWatchSchema,
} from './batch-release.ts'
export {
  type DurationRange,
  type WholeNumberRange,
  pathOfField,
  policyDurations,
  policyNumbers,
  policySizes,
} from './policy-bounds.ts'
export {
  type AcceptedActions,
  type CanaryStatus,
  type CanaryStrategy,
  type HeldRevision,
  type ReleaseRecord,
  heldRevisionSchema,
  type AnsweredBody,
  type LastAction,
  type Notification,
  type PolicyInUse,
  type Rollout,
  type RolloutSpec,
  type RolloutStatus,
  type RolloutStep,
  rolloutSchema,
} from './rollout.ts'
export {
  type Analysis,
  type DrainConsumer,
  drainDefaults,
  type DrainRules,
  type FailureRules,
  type NodeRules,
  type Receiver,
  type ReleaseNodeRules,
  notReadyDefaults,
  type ReleasePolicy,
  releasePolicySchema,
  type ReleasePolicySpec,
  type ReleasePolicyStatus,
  prePullDefaults,
  type PrePullRules,
} from './release-policy.ts'
export { type Oversize, oversizes, type Oversizes } from './oversize.ts'
export { sizeLimits, specLimits } from './size-limits.ts'
export { type DowntimeRules, downtimeSchema } from './downtime-rules.ts'
export type { NodeSelector } from './selector.ts'
export type { SecretKey } from './secret-key.ts'
export { type EventDescription, eventCatalog } from './event-catalog.ts'
export {
  type FailedNode,
  type Failure,
  failureSchema,
  type Leaked,
  FORMER_REVISIONS_MAX,
  type RolloutCondition,
  type Waiting,
  type WaitingFor,
} from './status-fields.ts'
export {
  ACCEPTED_NODES_MAX,
  type RolloutActionType,
  rolloutActionTypes,
  type AnalysisPhase,
  analysisPhases,
  ANSWERED_ACTIONS_MAX,
  type BatchReleasePhase,
  type BatchState,
  batchReleasePhases,
  batchStates,
  type ConditionStatus,
  conditionStatuses,
  type DrainTimeoutAction,
  drainTimeoutActions,
  type EventReason,
  eventReasons,
  type FailureAction,
  failureActions,
  type FinalisingStep,
  type FinalizingPolicy,
  type FlightState,
  finalisingSteps,
  finalizingPolicies,
  flightStates,
  HELD_REVISIONS_MAX,
  RELEASES_MAX,
  type ReleaseResult,
  type HeldReason,
  heldReasons,
  keptCopyReasons,
  LEFT_NODES_MAX,
  LISTED_NODES_MAX,
  MEASUREMENTS_MAX,
  type NodeOrder,
  nodeOrders,
  type NotifyEvent,
  notifyEvents,
  NOTIFICATIONS_MAX,
  NOTIFIED_NODES_MAX,
  type NotReadyAction,
  type RoomRule,
  pullFailureActions,
  type NodeLockRule,
  nodeLockRules,
  configRules,
  type ConfigRule,
  roomRules,
  notReadyActions,
  OLDER_PODS_MAX,
  type OnDeletePolicy,
  onDeletePolicies,
  type ProgressingReason,
  progressingReasons,
  type ReapplyAction,
  reapplyActions,
  type RollingStyle,
  type RolloutConditionType,
  type RolloutPhase,
  rollingStyles,
  rolloutConditionTypes,
  rolloutPhases,
  type StalledReason,
  type StepState,
  presentReason,
  stalledReasons,
  stepStates,
  type TerminatingReason,
  terminatingReasons,
  UNUSABLE_REASONS_MAX,
  WATCHED_NODES_MAX,
} from './values.ts'
export {
  ACCEPTED_FAILED,
  UNAVAILABLE_BEFORE,
  NOT_DELETED,
  type BlockedReason,
  blockedReasons,
  type GroupWaitReason,
  groupWaitReasons,
  isGroupWait,
  isReachWait,
  personWaitReasons,
  personWaits,
  type ReachWaitReason,
  reachWaitReasons,
  type UnderWayReason,
  underWayReasons,
} from './states/wait-reasons.ts'
export { waitText } from './states/wait-text.ts'
export { type Frozen, REVISION_HASH } from './fields.ts'
export type { ClusterSnapshot } from './cluster-snapshot.ts'
export { type DefinedKind, missingFields, unknownFields } from './compare-schema.ts'
export { type CustomResourceDefinition, customResourceDefinitions, type PrinterColumn } from './crd.ts'
export type { StructuralSchema } from './structural-schema.ts'
export { filledLength, fillTemplate, type NotifyArgument, notifyArguments, templateArguments, templateLeavings } from './template.ts'
export { type RolloutAction, rolloutActionSchema } from './rollout-action.ts'
export { durationMs, signedDurationMs } from './duration-ms.ts'
export {
  FAULTS_MAX,
  faultStatuses,
  faultVerbs,
  type SimFault,
  simFaultKinds,
  type SimFaults,
  simFaultsSchema,
} from './sim-faults.ts'
export {
  type Forecast,
  type ForecastRequest,
  forecastRequestSchema,
  forecastSchema,
  INJECTED_FAULT_FORMS,
  injectedFaultPattern,
} from './rest/forecast.ts'
export { type BudgetUser, budgetUserSchema, type LeftNodes, leftNodesSchema } from './rest/left-nodes.ts'
export { type BudgetUse, budgetUses, GROUPED_NODES_MAX, type LeftCause, leftCauses } from './rest/left-words.ts'
export { type HookBody, hookBodySchema, hookHeadersSchema, hookParamsSchema } from './rest/hook.ts'
export {
  namespaceParamsSchema,
  nodeParamsSchema,
  objectParamsSchema,
  PAGE_MAX,
  pageOf,
  pageQuerySchema,
  revisionParamsSchema,
} from './rest/paging.ts'
export {
  idempotencyHeadersSchema,
  type NodesQuery,
  nodesQuerySchema,
  rolloutSortKeys,
  type RolloutsQuery,
  rolloutsQuerySchema,
  waitQuerySchema,
} from './rest/queries.ts'
export {
  type LoginMethod,
  type LoginMethods,
  loginMethodsSchema,
  type ManifestFinding,
  type Me,
  meSchema,
  type ValidateAnswer,
  validateAnswerSchema,
  validateRequestSchema,
} from './rest/check.ts'
export { type DoctorCheck, doctorChecks, type DoctorFinding, type DoctorReport, doctorReportSchema } from './rest/doctor.ts'
export { NODE_EVENTS_MAX, type NodeEvent, type NodeEvents, nodeEventsSchema } from './rest/node-events.ts'
export { type Permissions, permissionsSchema } from './rest/permissions.ts'
export { type PolicyReport, policyReportSchema, type PolicyState, policyStateSchema } from './rest/policy.ts'
export { type ProblemDetails, problemSchema } from './rest/problem.ts'
export type { AnalysisReport } from './rest/analysis.ts'
export { type EventReport, eventReportSchema } from './rest/event-report.ts'
export {
  type NodeBudget,
  type NodeBudgetReason,
  nodeBudgetReasons,
  type NodeReport,
  nodeReportSchema,
  nodeStates,
  type ReportedNodeState,
  type RevisionRole,
  revisionRoles,
} from './rest/node-report.ts'
export {
  type BatchReport,
  batchReportSchema,
  type Explanation,
  explanationSchema,
  type HistoryReport,
  historyReportSchema,
  type ActionResult,
  type RecordedAction,
  recordedActionSchema,
  type ObservedChange,
  PINNED_CONFIG_MAX,
  type PinnedConfig,
  OBSERVED_REASON_MAX,
  observedChangeSchema,
  type ObservedChangeType,
  observedChangeTypes,
  type ReleaseReport,
  type RevisionReport,
  revisionReportSchema,
  type RevisionTemplate,
  revisionTemplateSchema,
  type RolloutReport,
  rolloutReportSchema,
} from './rest/report.ts'
export { type Need, type Outcome, outcomes, type RolloutSummary, rolloutSummarySchema } from './rest/summary.ts'
export { lastEventHeadersSchema, type StreamMessage, streamMessageSchema, type StreamQuery, streamQuerySchema } from './rest/stream.ts'
export {
  daemonSetRollbackSchema,
  REASON_MAX,
  RECORDED_ACTIONS_MAX,
  type ActionAnswer,
  actionAnswerSchema,
  type ActionBody,
  actionBodySchema,
  type ActionType,
  actionTypes,
} from './rest/action.ts'
export {
  batchReleasePhaseTransitions,
  batchStateTransitions,
  flightTransitions,
  isListed,
  progressingTransitions,
  rolloutPhaseTransitions,
  stepTransitions,
  type Transition,
} from './states/state-machines.ts'
