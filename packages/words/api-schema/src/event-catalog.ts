import type { EventReason } from './values.ts'

/** What an event says, for docs/operations/events.md. */
export interface EventDescription {
  /** Of which types it is written. */
  readonly types: readonly ('Normal' | 'Warning')[]
  /** Kinds of objects that it is written on. */
  readonly on: readonly ('Rollout' | 'DaemonSet')[]
  /** When it is written, for a person. */
  readonly when: string
}

/** Every event by its reason. */
export const eventCatalog: Readonly<Record<EventReason, EventDescription>> = {
  ReleaseStarted: { types: ['Normal'], on: ['Rollout'], when: 'a new template begins to be released' },
  StepStarted: { types: ['Normal'], on: ['Rollout'], when: 'a step begins to bring nodes' },
  StepSoaking: { types: ['Normal'], on: ['Rollout'], when: 'the nodes of a step are updated, and its soak or its analyses begin' },
  StepPaused: { types: ['Normal'], on: ['Rollout'], when: 'a step is ready, and its pause begins' },
  Paused: { types: ['Normal'], on: ['Rollout'], when: 'somebody has paused the release' },
  Resumed: { types: ['Normal'], on: ['Rollout'], when: 'a paused release goes on' },
  ReleaseCompleted: { types: ['Normal'], on: ['Rollout'], when: 'every node that can be is on the new version' },
  RollbackStarted: { types: ['Normal'], on: ['Rollout'], when: 'nodes begin to go back to the stable revision' },
  RollbackCompleted: { types: ['Normal'], on: ['Rollout'], when: 'they are back' },
  TemplateReverted: {
    types: ['Normal', 'Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'the stable template was put back; a Warning where the version failed, or was applied again',
  },
  StableRevisionChanged: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'the ControllerRevision of the stable revision does not hold the template that became stable: it is never put back',
  },
  QueueUnavailable: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'the job queue (Redis) has taken nothing for 10 s, and the release waits for executors, which begin nothing without it',
  },
  Frozen: {
    types: ['Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'a Rollout was disabled or deleted in the middle, and says what it left where',
  },
  ActionRequested: {
    types: ['Normal'],
    on: ['Rollout', 'DaemonSet'],
    when: 'an action was requested over REST, the command line or a hook',
  },
  ActionAccepted: { types: ['Normal'], on: ['Rollout'], when: 'an action is carried out' },
  ActionRejected: {
    types: ['Warning'],
    on: ['Rollout'],
    when: 'an action was refused, or a value in the status that is no action was put back',
  },
  PolicyChanged: { types: ['Normal'], on: ['Rollout'], when: 'the release under way goes by another policy, or another generation of it' },
  PolicyUnusable: { types: ['Warning'], on: ['Rollout'], when: 'something that the policy names cannot be used' },
  AnalysisSuccessful: { types: ['Normal'], on: ['Rollout'], when: 'an analysis has succeeded' },
  AnalysisFailed: { types: ['Warning'], on: ['Rollout'], when: 'an analysis has failed; Normal where it is a dry run' },
  WorkloadNotFound: { types: ['Warning'], on: ['Rollout'], when: 'the Rollout is stalled: its DaemonSet does not exist' },
  WorkloadTaken: { types: ['Warning'], on: ['Rollout'], when: 'stalled: another Rollout has the DaemonSet' },
  InvalidSpec: { types: ['Warning'], on: ['Rollout'], when: 'stalled: a field is wrong' },
  UnsupportedField: { types: ['Warning'], on: ['Rollout'], when: 'stalled: a field means nothing for a DaemonSet' },
  BudgetZero: { types: ['Warning'], on: ['Rollout'], when: 'stalled: nothing may be down' },
  CRDOutdated: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the API server drops fields of ours' },
  PeerActive: { types: ['Warning'], on: ['Rollout'], when: "stalled: OpenKruise's controller is active" },
  StrategyContested: {
    types: ['Warning'],
    on: ['Rollout', 'DaemonSet'],
    when: 'somebody has set the update strategy back in mid-release; stalled with the second time',
  },
  NodesLeft: { types: ['Warning'], on: ['Rollout'], when: 'the release is over but for nodes that could not be updated' },
  ForeignControl: { types: ['Warning'], on: ['Rollout'], when: 'stalled: a BatchRelease that is not ours has the DaemonSet' },
  PodsStuck: { types: ['Warning'], on: ['Rollout'], when: 'stalled: pods that do not go use the budget up' },
  RevisionHeld: { types: ['Warning'], on: ['Rollout'], when: 'a template that was taken back was applied again' },
  PolicyNotFound: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the policy does not exist' },
  PolicyInvalid: { types: ['Warning'], on: ['Rollout'], when: 'stalled: the policy breaks a rule' },
  ReleaseFailed: { types: ['Warning'], on: ['Rollout'], when: 'the new version is bad; what is done about it stands in the message' },
  AnalysisInconclusive: { types: ['Warning'], on: ['Rollout'], when: 'stalled: an analysis has no outcome; Normal where it is a dry run' },
}
