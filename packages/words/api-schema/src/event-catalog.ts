import type { EventReason } from './values.ts'

/** Description of an event, for docs/operations/events.md. */
export interface EventDescription {
  /** Types with which the event is written. */
  readonly types: readonly ('Normal' | 'Warning')[]
  /** Kinds of objects on which the event is written. */
  readonly on: readonly ('Rollout' | 'DaemonSet')[]
  /** When the event is written, as text for the table. */
  readonly when: string
}

/** Every event, by reason. */
export const eventCatalog: Readonly<Record<EventReason, EventDescription>> = {
  ReleaseStarted: { types: ['Normal'], on: ['Rollout'], when: 'the release of a new template starts' },
  StepStarted: { types: ['Normal'], on: ['Rollout'], when: 'a step starts to update nodes' },
  StepSoaking: { types: ['Normal'], on: ['Rollout'], when: 'a step updated its nodes; its soak or analysis started' },
  StepPaused: { types: ['Normal'], on: ['Rollout'], when: 'a step is ready, and its pause starts' },
  Paused: { types: ['Normal'], on: ['Rollout'], when: 'a user paused the release' },
  Resumed: { types: ['Normal'], on: ['Rollout'], when: 'a paused release resumes' },
  ReleaseCompleted: { types: ['Normal'], on: ['Rollout'], when: 'every node that can be updated is on the new version' },
  RollbackStarted: { types: ['Normal'], on: ['Rollout'], when: 'the rollback to the stable revision starts' },
  RollbackCompleted: { types: ['Normal'], on: ['Rollout'], when: 'every node that can be updated is back on the stable revision' },
  TemplateReverted: {
    types: ['Normal', 'Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'the stable template was restored; a Warning if the version failed or was applied again',
  },
  StableRevisionChanged: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'the ControllerRevision of the stable revision no longer holds the template that became stable; it is never restored',
  },
  QueueUnavailable: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'the job queue (Redis) has accepted no job for 10 s; the release waits, because executors start no work without the queue',
  },
  PassFailed: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'the controller repeatedly failed to plan the release, and stopped it; its log says why. It continues after a pass that succeeds',
  },
  Frozen: {
    types: ['Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'a Rollout was disabled or deleted during a release; the message lists the state it left behind',
  },
  ActionRequested: {
    types: ['Normal'],
    on: ['Rollout', 'DaemonSet'],
    when: 'an action was requested by REST, the command line or a hook',
  },
  ActionAccepted: { types: ['Normal'], on: ['Rollout'], when: 'an action was accepted' },
  ActionRejected: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'an action was rejected, or an invalid value in the status was reset',
  },
  PolicyChanged: {
    types: ['Normal'],
    on: ['Rollout'],
    when: 'the current release uses another policy, or another generation of its policy',
  },
  PolicyUnusable: { types: ['Warning'], on: ['Rollout'], when: 'a Secret or host that the policy names cannot be used' },
  AnalysisSuccessful: { types: ['Normal'], on: ['Rollout'], when: 'an analysis succeeded' },
  AnalysisFailed: { types: ['Warning'], on: ['Rollout'], when: 'an analysis failed; Normal for a dry run' },
  ConfigUnversioned: {
    types: ['Normal', 'Warning'],
    on: ['Rollout'],
    when: 'the ConfigMaps and Secrets that the template reads without being part of its version are found, or change; Normal with a checksum annotation',
  },
  DrainTimedOut: {
    types: ['Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'a node is updated although pods still use its agent, because `drain.onTimeout` of the policy is `Continue`; the message names node and pods',
  },
  WorkloadNotFound: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the DaemonSet of the Rollout does not exist' },
  WorkloadTaken: { types: ['Warning'], on: ['Rollout'], when: 'stalled: another Rollout controls the DaemonSet' },
  InvalidSpec: { types: ['Warning'], on: ['Rollout'], when: 'stalled: a field is invalid' },
  UnsupportedField: { types: ['Warning'], on: ['Rollout'], when: 'stalled: a field is not supported for DaemonSets' },
  BudgetZero: { types: ['Warning'], on: ['Rollout'], when: 'stalled: maxUnavailable is 0, or maxSurge is set' },
  CRDOutdated: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'stalled: the installed CRDs are outdated, so the API server drops status fields',
  },
  OpenKruiseActive: {
    types: ['Warning'],
    on: ['Rollout'],
    when: "stalled: OpenKruise's controller for DaemonSets is active in the cluster",
  },
  StrategyConflict: {
    types: ['Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'the update strategy was changed back during a release; stalled on the second change',
  },
  NodesLeft: { types: ['Warning'], on: ['Rollout'], when: 'the release completed, except for nodes that could not be updated' },
  ForeignControl: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'stalled: a BatchRelease of another controller controls the DaemonSet, or finalizers of other programs keep the one of the Rollout',
  },
  PodsStuck: { types: ['Warning'], on: ['Rollout'], when: 'stalled: pods that do not terminate use up the budget' },
  RevisionHeld: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'a template that was rolled back was applied again; the message names its revision and images',
  },
  PolicyNotFound: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the ReleasePolicy does not exist' },
  PolicyInvalid: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the ReleasePolicy is invalid' },
  ConfigUnpinned: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'stalled: config cannot be pinned as the ReleasePolicy asks; the message names the template that is held',
  },
  ReleaseFailed: { types: ['Warning'], on: ['Rollout'], when: 'the new version is bad; the message says which failure action follows' },
  AnalysisInconclusive: { types: ['Warning'], on: ['Rollout'], when: 'stalled: an analysis is inconclusive; Normal for a dry run' },
  ChangeRejected: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'stalled: the API server rejects a change of the DaemonSet or of the BatchRelease; the message has its words',
  },
}
