import { type ProblemEntry, sizeFix, thresholdFix } from './rule.ts'

const plan = 'spec.releasePlan'

/** Rules about BatchReleases, above all those that people write. */
export const batchReleaseRules = {
  BatchReleaseVersion: {
    of: 'BatchRelease',
    path: 'apiVersion',
    says: 'BatchReleases are served as rollouts.kruise.io/v1beta1 only',
    fix: 'set it to rollouts.kruise.io/v1beta1, with the workload under spec.workloadRef',
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
  TrancheBudget: {
    of: 'BatchRelease',
    path: 'spec.tranche.maxUnavailable',
    says: 'it is a whole number or a percentage up to 100%, and lets one node at least be without its pod',
    fix: 'set it to 1 or more, or to a percentage such as "10%", or remove it',
    reason: 'BudgetZero',
  },
  TranchePolicy: {
    of: 'BatchRelease',
    path: 'spec.tranche…',
    says: 'nodes, failure and analysis keep the rules of a ReleasePolicy',
    fix: 'mend the field, or remove it',
    reason: 'InvalidSpec',
  },
} as const satisfies Record<string, ProblemEntry>

function revision(path: string) {
  return {
    of: 'BatchRelease',
    path,
    says: 'it is a controller-revision-hash: up to 63 letters, digits, dots, hyphens and underscores',
    fix: 'set it to the label controller-revision-hash of a ControllerRevision, or remove it',
    reason: 'InvalidSpec',
  } as const
}
