import { type ProblemEntry, sizeFix, thresholdFix } from './rule.ts'

const plan = 'spec.releasePlan'

/** Rules about BatchReleases; mostly for hand-written ones. */
export const batchReleaseRules = {
  BatchReleaseVersion: {
    of: 'BatchRelease',
    path: 'apiVersion',
    says: 'BatchReleases must use rollouts.kruise.io/v1beta1',
    fix: 'set it to rollouts.kruise.io/v1beta1, with the workload under spec.workloadRef',
    reason: 'InvalidSpec',
  },
  BatchReleaseField: {
    of: 'BatchRelease',
    path: 'spec…',
    says: 'fields must exist in the schema and have the type that it states',
    fix: 'see kubectl explain batchrelease',
    reason: 'InvalidSpec',
  },
  BatchReleaseSize: {
    of: 'BatchRelease',
    path: 'spec…',
    says: 'lists, texts and selectors must be small enough to check in a few milliseconds',
    fix: 'shorten the list or the text',
    reason: 'InvalidSpec',
  },
  BatchWorkload: {
    of: 'BatchRelease',
    path: 'spec.workloadRef',
    says: 'a BatchRelease must name the DaemonSet to release',
    fix: 'add workloadRef: {apiVersion: apps/v1, kind: DaemonSet, name: NAME}',
    reason: 'InvalidSpec',
  },
  BatchWorkloadVersion: {
    of: 'BatchRelease',
    path: 'spec.workloadRef.apiVersion',
    says: 'DaemonSets must use apps/v1',
    fix: 'set it to apps/v1',
    reason: 'InvalidSpec',
  },
  BatchWorkloadName: {
    of: 'BatchRelease',
    path: 'spec.workloadRef.name',
    says: 'it must be a valid DaemonSet name',
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
    says: 'a batch must state how many nodes are updated when it ends',
    fix: sizeFix,
    reason: 'InvalidSpec',
  },
  BatchShrinks: {
    of: 'BatchRelease',
    path: `${plan}.batches[i].canaryReplicas`,
    says: 'sizes are cumulative and must not shrink; numbers and percentages are compared once the number of nodes is known',
    fix: 'set it to at least the size of the batches before it, or make those smaller',
    reason: 'InvalidSpec',
  },
  BatchPartition: {
    of: 'BatchRelease',
    path: `${plan}.batchPartition`,
    says: 'it must be the index of the last batch that may run, counted from 0',
    fix: 'set it to the index of a batch, counted from 0, or remove it to release every node',
    reason: 'InvalidSpec',
  },
  BatchFailureThreshold: {
    of: 'BatchRelease',
    path: `${plan}.failureThreshold`,
    says: 'it must state how many updated nodes may be unavailable when a batch is ready',
    fix: thresholdFix,
    reason: 'InvalidSpec',
  },
  RolloutId: {
    of: 'BatchRelease',
    path: `${plan}.rolloutID`,
    says: 'it becomes a pod label: up to 63 letters, digits, dots, hyphens and underscores, with a letter or digit at both ends',
    fix: 'set it to a name such as agent-v2, or remove it',
    reason: 'InvalidSpec',
  },
  RollingStyle: {
    of: 'BatchRelease',
    path: `${plan}.rollingStyle`,
    says: 'DaemonSets are released in place, which is the style Partition',
    fix: 'set it to Partition, or remove it',
    reason: 'UnsupportedField',
  },
  BatchTemplateMetadata: {
    of: 'BatchRelease',
    path: `${plan}.patchPodTemplateMetadata`,
    says: 'canary pods of a DaemonSet use its own template and cannot get other labels',
    fix: 'remove it',
    reason: 'UnsupportedField',
  },
  TrancheCanaryRevision: revision('spec.tranche.canaryRevision'),
  TrancheStableRevision: revision('spec.tranche.stableRevision'),
  TrancheBudget: {
    of: 'BatchRelease',
    path: 'spec.tranche.maxUnavailable',
    says: 'it must be a whole number or a percentage up to 100% that allows at least one unavailable node',
    fix: 'set it to 1 or more, or to a percentage such as "10%", or remove it',
    reason: 'BudgetZero',
  },
  TranchePolicy: {
    of: 'BatchRelease',
    path: 'spec.tranche…',
    says: 'nodes, failure and analysis must follow the rules for a ReleasePolicy',
    fix: 'correct the field, or remove it',
    reason: 'InvalidSpec',
  },
} as const satisfies Record<string, ProblemEntry>

function revision(path: string) {
  return {
    of: 'BatchRelease',
    path,
    says: 'it must be a controller-revision-hash: up to 63 letters, digits, dots, hyphens and underscores',
    fix: 'set it to the label controller-revision-hash of a ControllerRevision, or remove it',
    reason: 'InvalidSpec',
  } as const
}
