import type { StalledReason } from '@tranche/api-schema'

/** One rule about what people write. */
interface Rule {
  /** Kind of the object that it is about. */
  readonly of: 'Rollout' | 'BatchRelease' | 'DaemonSet'
  /** Path of the field, with `[i]` for the number of an entry. */
  readonly path: string
  /** The rule as a sentence without full stop; a finding may say more of its case. */
  readonly says: string
  /** What to do, as an imperative without full stop; a finding may name values. */
  readonly fix: string
}

interface ProblemEntry extends Rule {
  /** Reason of the condition `Stalled` while the problem stands. */
  readonly reason: StalledReason
}

const canary = 'spec.strategy.canary'
const rollingUpdate = 'spec.updateStrategy.rollingUpdate'
const plan = 'spec.releasePlan'
const sizeFix = 'set it to a whole number of nodes such as 3, or to a percentage such as "10%"'
const thresholdFix = 'set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"'
const budgetFix = 'set it to 1 or more, or to a percentage such as "10%"'
const ownKeyFix = 'remove the annotation; the controller writes it'

/** Every rule whose breach keeps a release from starting. A code never changes its meaning; docs/validation.md is this table. */
export const problemRules = {
  RolloutField: {
    of: 'Rollout',
    path: 'spec…',
    says: 'a field has the type that its schema gives it, and no other fields exist',
    fix: 'see kubectl explain rollout',
    reason: 'InvalidSpec',
  },
  RolloutVersion: {
    of: 'Rollout',
    path: 'apiVersion',
    says: 'Rollouts are served as rollouts.kruise.io/v1beta1 only',
    fix: 'set it to rollouts.kruise.io/v1beta1 and put the steps under spec.strategy.canary.steps',
    reason: 'InvalidSpec',
  },
  WorkloadVersion: {
    of: 'Rollout',
    path: 'spec.workloadRef.apiVersion',
    says: 'DaemonSets are served as apps/v1 only',
    fix: 'set it to apps/v1',
    reason: 'InvalidSpec',
  },
  WorkloadName: {
    of: 'Rollout',
    path: 'spec.workloadRef.name',
    says: 'it names no DaemonSet',
    fix: 'set it to the name of a DaemonSet in the same namespace',
    reason: 'InvalidSpec',
  },
  WorkloadTaken: {
    of: 'Rollout',
    path: 'spec.workloadRef.name',
    says: 'one Rollout at a time releases a DaemonSet; disabled ones and those being deleted do not count',
    fix: 'delete or disable one of the two',
    reason: 'WorkloadTaken',
  },
  WorkloadFrozen: {
    of: 'Rollout',
    path: 'spec.workloadRef',
    says: 'the workload stays while a release is under way',
    fix: 'wait until it has ended, or set spec.disabled first, which freezes the release where it stands',
    reason: 'InvalidSpec',
  },
  StrategyMissing: {
    of: 'Rollout',
    path: canary,
    says: 'it says in which steps to release',
    fix: 'add canary: {steps: [{replicas: "10%", pause: {}}, {replicas: "100%"}]}',
    reason: 'InvalidSpec',
  },
  BlueGreen: {
    of: 'Rollout',
    path: 'spec.strategy.blueGreen',
    says: 'a node runs one pod of a DaemonSet at a time, so two versions cannot stand side by side',
    fix: 'remove it and list steps under spec.strategy.canary',
    reason: 'UnsupportedField',
  },
  StepsMissing: {
    of: 'Rollout',
    path: `${canary}.steps`,
    says: 'a release needs at least one step',
    fix: 'add a step such as {replicas: "10%", pause: {}}',
    reason: 'InvalidSpec',
  },
  StepsTooMany: {
    of: 'Rollout',
    path: `${canary}.steps`,
    says: 'a release has at most 50 steps',
    fix: 'merge steps',
    reason: 'InvalidSpec',
  },
  StepsFrozen: {
    of: 'Rollout',
    path: `${canary}.steps`,
    says: 'the number of steps stays while a release is under way',
    fix: 'keep the number of steps until it has ended; sizes and pauses may change',
    reason: 'InvalidSpec',
  },
  StepSize: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'a step says how many nodes are updated after it',
    fix: sizeFix,
    reason: 'InvalidSpec',
  },
  StepShrinks: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'sizes are cumulative and never shrink; numbers and percentages are compared where the nodes are known',
    fix: 'set it to at least the size of the steps before it, or make those smaller',
    reason: 'InvalidSpec',
  },
  PauseNegative: {
    of: 'Rollout',
    path: `${canary}.steps[i].pause.duration`,
    says: 'a pause cannot last less than nothing',
    fix: 'set it to 0 seconds or more, or write pause: {} to wait for a person',
    reason: 'InvalidSpec',
  },
  StepTraffic: traffic(`${canary}.steps[i].traffic`),
  StepHeaders: traffic(`${canary}.steps[i].requestHeaderModifier`),
  StepMatches: traffic(`${canary}.steps[i].matches`),
  TrafficRoutings: traffic(`${canary}.trafficRoutings`),
  TrafficRoutingRef: traffic(`${canary}.trafficRoutingRef`),
  TemplateMetadata: {
    of: 'Rollout',
    path: `${canary}.patchPodTemplateMetadata`,
    says: 'canary pods of a DaemonSet come from its own template and cannot be labelled apart',
    fix: 'remove it',
    reason: 'UnsupportedField',
  },
  FailureThreshold: {
    of: 'Rollout',
    path: `${canary}.failureThreshold`,
    says: 'it says how many updated nodes may be unavailable when a step is ready',
    fix: thresholdFix,
    reason: 'InvalidSpec',
  },
  Action: {
    of: 'Rollout',
    path: 'metadata.annotations[tranche.dev/action]',
    says: 'a wish is JSON with id and type; a jump has a step',
    fix: 'write JSON such as {"id":"1","type":"approve","expectedStep":2}, or remove it',
    reason: 'InvalidSpec',
  },
  OnDelete: {
    of: 'Rollout',
    path: 'metadata.annotations[tranche.dev/on-delete]',
    says: 'it says what happens to a running release when the Rollout goes',
    fix: 'set it to Freeze, Complete or Rollback, or remove it',
    reason: 'InvalidSpec',
  },
  RollbackInBatch: {
    of: 'Rollout',
    path: 'metadata.annotations[rollouts.kruise.io/rollback-in-batch]',
    says: 'it says whether a rollback walks the steps',
    fix: 'set it to "true" or "false", or remove it',
    reason: 'InvalidSpec',
  },
  StatusStepState: {
    of: 'Rollout',
    path: 'status.canaryStatus.currentStepState',
    says: 'people write StepReady here, which approves a paused step, and nothing else',
    fix: 'set it to StepReady, or leave it as it is',
    reason: 'InvalidSpec',
  },
  StatusNextStep: {
    of: 'Rollout',
    path: 'status.canaryStatus.nextStepIndex',
    says: 'people write the number of a step here, which jumps to it',
    fix: 'set it to the number of a step, from 1, or leave it as it is',
    reason: 'InvalidSpec',
  },
  StatusOthers: {
    of: 'Rollout',
    path: 'status',
    says: 'the controller writes the status; people write canaryStatus.currentStepState and canaryStatus.nextStepIndex only',
    fix: 'leave the rest of the status as it is',
    reason: 'InvalidSpec',
  },
  BatchReleaseField: {
    of: 'BatchRelease',
    path: 'spec…',
    says: 'a field has the type that its schema gives it, and no other fields exist',
    fix: 'see kubectl explain batchrelease',
    reason: 'InvalidSpec',
  },
  BatchWorkload: {
    of: 'BatchRelease',
    path: 'spec.workloadRef',
    says: 'it says which DaemonSet to release',
    fix: 'add workloadRef: {apiVersion: apps/v1, kind: DaemonSet, name: NAME}',
    reason: 'InvalidSpec',
  },
  BatchWorkloadVersion: {
    of: 'BatchRelease',
    path: 'spec.workloadRef.apiVersion',
    says: 'DaemonSets are served as apps/v1 only',
    fix: 'set it to apps/v1',
    reason: 'InvalidSpec',
  },
  BatchWorkloadName: {
    of: 'BatchRelease',
    path: 'spec.workloadRef.name',
    says: 'it names no DaemonSet',
    fix: 'set it to the name of a DaemonSet in the same namespace',
    reason: 'InvalidSpec',
  },
  BatchesMissing: {
    of: 'BatchRelease',
    path: `${plan}.batches`,
    says: 'a release needs at least one batch',
    fix: 'add a batch such as {canaryReplicas: "10%"}',
    reason: 'InvalidSpec',
  },
  BatchesTooMany: {
    of: 'BatchRelease',
    path: `${plan}.batches`,
    says: 'a release has at most 50 batches',
    fix: 'merge batches',
    reason: 'InvalidSpec',
  },
  BatchSize: {
    of: 'BatchRelease',
    path: `${plan}.batches[i].canaryReplicas`,
    says: 'a batch says how many nodes are updated after it',
    fix: sizeFix,
    reason: 'InvalidSpec',
  },
  BatchShrinks: {
    of: 'BatchRelease',
    path: `${plan}.batches[i].canaryReplicas`,
    says: 'sizes are cumulative and never shrink; numbers and percentages are compared where the nodes are known',
    fix: 'set it to at least the size of the batches before it, or make those smaller',
    reason: 'InvalidSpec',
  },
  BatchPartition: {
    of: 'BatchRelease',
    path: `${plan}.batchPartition`,
    says: 'it is the number of the highest batch allowed, from 0',
    fix: 'set it to the number of a batch, from 0, or remove it to release every node',
    reason: 'InvalidSpec',
  },
  BatchFailureThreshold: {
    of: 'BatchRelease',
    path: `${plan}.failureThreshold`,
    says: 'it says how many updated nodes may be unavailable when a batch is ready',
    fix: thresholdFix,
    reason: 'InvalidSpec',
  },
  RolloutId: {
    of: 'BatchRelease',
    path: `${plan}.rolloutID`,
    says: 'it becomes a label of pods, so it has up to 63 letters, digits, dots, hyphens and underscores, and begins and ends with a letter or digit',
    fix: 'set it to a name such as agent-v2, or remove it',
    reason: 'InvalidSpec',
  },
  RollingStyle: {
    of: 'BatchRelease',
    path: `${plan}.rollingStyle`,
    says: 'a DaemonSet is released in place, which is the style Partition',
    fix: 'set it to Partition or remove it',
    reason: 'UnsupportedField',
  },
  BatchTemplateMetadata: {
    of: 'BatchRelease',
    path: `${plan}.patchPodTemplateMetadata`,
    says: 'canary pods of a DaemonSet come from its own template and cannot be labelled apart',
    fix: 'remove it',
    reason: 'UnsupportedField',
  },
  TrancheCanaryRevision: revision('spec.tranche.canaryRevision'),
  TrancheStableRevision: revision('spec.tranche.stableRevision'),
  FinalSettle: {
    of: 'BatchRelease',
    path: 'spec.tranche.finalSettleSeconds',
    says: 'the settling time at the end lasts from nothing to a day',
    fix: 'set it to seconds from 0 to 86400',
    reason: 'InvalidSpec',
  },
  BudgetSurge: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxSurge`,
    says: 'a release in steps replaces pods in place, and surge cannot be had under OnDelete',
    fix: 'set maxSurge to 0 and maxUnavailable to 1 or more',
    reason: 'BudgetZero',
  },
  BudgetNothing: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'no node may be without its pod, so no pod can be replaced',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  BudgetUnreadable: {
    of: 'DaemonSet',
    path: `${rollingUpdate}.maxUnavailable`,
    says: 'it is neither a whole number nor a percentage up to 100%, so no node may be taken',
    fix: budgetFix,
    reason: 'BudgetZero',
  },
  KeyPartition: key('rollouts.kruise.io/daemonset-partition', 'it is a whole number from 0: the nodes to keep on the old revision'),
  KeyCanaryRevision: key('rollouts.kruise.io/daemonset-canary-revision', 'it is the controller-revision-hash that is released'),
  KeyStableRevision: key('rollouts.kruise.io/daemonset-stable-revision', 'it is the controller-revision-hash that is replaced'),
  KeyControlInfo: key('batchrelease.rollouts.kruise.io/control-info', 'it is JSON with name and uid of the BatchRelease in charge'),
  KeyInProgressing: key('rollouts.kruise.io/in-progressing', 'it is JSON such as {"rolloutName":"node-agent"}'),
  KeyOriginalStrategy: {
    ...key('rollouts.kruise.io/daemonset-original-update-strategy', 'it is the type to restore: RollingUpdate or OnDelete'),
    fix: 'set it to RollingUpdate or OnDelete, whichever the DaemonSet had; without a type the strategy stays OnDelete at the end',
  },
  KeyPaused: {
    ...key('tranche.dev/paused', 'it stops every deletion, whatever it says'),
    fix: 'set spec.strategy.paused of the Rollout in its place',
  },
  KeyRollout: key('tranche.dev/rollout', 'it is the name of the Rollout that the DaemonSet is bound to'),
  KeyFrozen: key('tranche.dev/frozen', 'it is JSON that says what was left when a Rollout went'),
  KeyUnsettled: key('tranche.dev/unsettled', 'it is JSON that says on which nodes the last release had deleted pods'),
} as const satisfies Record<string, ProblemEntry>

/** Every rule whose breach is allowed and may surprise: shown as a warning by admission and `lint`, and failing nothing. */
export const adviceRules = {
  OtherWorkload: {
    of: 'Rollout',
    path: 'spec.workloadRef',
    says: 'Tranche acts on DaemonSets of apps/v1 only and leaves this Rollout alone',
    fix: 'leave it to the controller of that kind',
  },
  WorkloadAbsent: {
    of: 'Rollout',
    path: 'spec.workloadRef.name',
    says: 'there is no such DaemonSet in the namespace yet',
    fix: 'create it, or name another one',
  },
  SizeAboveFleet: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the DaemonSet runs on fewer nodes, so the step takes all of them',
    fix: 'set it to a percentage such as "50%", or to a smaller number',
  },
  LastStepBelowAll: {
    of: 'Rollout',
    path: `${canary}.steps[i].replicas`,
    says: 'the last step is below 100%: after its pause the remaining nodes follow as one more batch',
    fix: 'add a step of "100%" to say so',
  },
  ExtraWorkload: noEffect('Rollout', `${canary}.enableExtraWorkloadForCanary`),
  CanaryService: noEffect('Rollout', `${canary}.disableGenerateCanaryService`),
  OnDeleteFreezes: {
    of: 'Rollout',
    path: 'metadata.annotations[tranche.dev/on-delete]',
    says: 'it is not carried out: this version always freezes a release where it stands',
    fix: 'set it to Freeze, or remove it',
  },
  BatchOtherWorkload: {
    of: 'BatchRelease',
    path: 'spec.workloadRef',
    says: 'Tranche acts on DaemonSets of apps/v1 only and leaves this BatchRelease alone',
    fix: 'leave it to the controller of that kind',
  },
  BatchPartitionAbsent: {
    of: 'BatchRelease',
    path: `${plan}.batchPartition`,
    says: 'without it every batch is allowed, and the release ends with all nodes updated',
    fix: 'set it to 0 to begin with the first batch only',
  },
  BatchExtraWorkload: noEffect('BatchRelease', `${plan}.enableExtraWorkloadForCanary`),
  NativeMoment: {
    of: 'DaemonSet',
    path: 'spec.updateStrategy.type',
    says: 'where no admission of Tranche runs, applying RollingUpdate with a new template lets the native controller take its first pods before Tranche stops it',
    fix: 'set it to OnDelete, which drifts nowhere',
  },
  HistoryGone: {
    of: 'DaemonSet',
    path: 'spec.revisionHistoryLimit',
    says: 'Kubernetes prunes a revision as soon as no pod runs it, so nothing is left to go back to',
    fix: 'set it to 1 or more; 10 is the default',
  },
} as const satisfies Record<string, Rule>

/** Code of a rule whose breach is a problem. */
export type ProblemRule = keyof typeof problemRules
/** Code of a rule whose breach is advised of. */
export type AdviceRule = keyof typeof adviceRules

function traffic(path: string) {
  return {
    of: 'Rollout',
    path,
    says: 'requests cannot be routed by revision for a DaemonSet, whose pods are chosen by node',
    fix: 'remove it',
    reason: 'UnsupportedField',
  } as const
}

function revision(path: string) {
  return {
    of: 'BatchRelease',
    path,
    says: 'it is a controller-revision-hash: up to 63 letters, digits, dots, hyphens and underscores',
    fix: 'set it to the label controller-revision-hash of a ControllerRevision, or remove it',
    reason: 'InvalidSpec',
  } as const
}

function key(annotation: string, says: string) {
  return { of: 'DaemonSet', path: `metadata.annotations[${annotation}]`, says, fix: ownKeyFix, reason: 'InvalidSpec' } as const
}

function noEffect(of: 'Rollout' | 'BatchRelease', path: string) {
  return { of, path, says: 'it has no effect on a DaemonSet', fix: 'remove it' } as const
}
