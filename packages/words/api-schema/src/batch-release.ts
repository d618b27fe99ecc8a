import type { KubeObject } from '@tranche/kube-types'
import { z } from 'zod'
import {
  atomicList,
  type Frozen,
  int32,
  int64,
  intOrString,
  known,
  objectFields,
  opaqueObject,
  patchPodTemplateMetadataSchema,
  textUpTo,
  time,
  workloadRefSchema,
} from './fields.ts'
import { conditionSchema, failureSchema, leakedSchema, formerRevisionsSchema, skippedNodesSchema, waitingSchema } from './status-fields.ts'
import { policyFields } from './release-policy.ts'
import { sizeLimits } from './size-limits.ts'
import {
  analysisPhases,
  batchReleasePhases,
  batchStates,
  finalizingPolicies,
  flightStates,
  LEFT_NODES_MAX,
  OLDER_PODS_MAX,
  rollingStyles,
  WATCHED_NODES_MAX,
} from './values.ts'

const releasePlanSchema = z.object({
  batches: z
    .array(
      z.object({
        canaryReplicas: intOrString().meta({
          description: 'Cumulative number of nodes after the batch: a whole number from 1, or a percentage, rounded up.',
        }),
      }),
    )
    .optional()
    .meta({ description: 'Cumulative size of each batch, in order.' }),
  batchPartition: int32()
    .min(0)
    .optional()
    .meta({ description: 'Index of the highest batch allowed, from 0. If absent, the release is finalized.' }),
  rolloutID: z.string().optional().meta({ description: 'Name of the release, set as a label on its pods.' }),
  failureThreshold: intOrString()
    .optional()
    .meta({ description: 'Number or percentage of updated nodes that may be unavailable in a ready batch.' }),
  finalizingPolicy: known(finalizingPolicies)
    .optional()
    .meta({ description: 'Whether finalizing waits until the workload is fully updated. A DaemonSet always waits.' }),
  patchPodTemplateMetadata: patchPodTemplateMetadataSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  rollingStyle: known(rollingStyles).optional().meta({ description: 'How the revision is rolled out; Partition for a DaemonSet.' }),
  enableExtraWorkloadForCanary: z.boolean().meta({ description: 'Not for DaemonSets.' }),
})
/** The batches, and the highest one allowed. Other programs compare the hash of the plan. */
export type ReleasePlan = Frozen<z.infer<typeof releasePlanSchema>>

const heldBySchema = z.object({
  reason: textUpTo(sizeLimits.reason).meta({ description: 'Reason in one word, such as RevisionHeld.' }),
  id: textUpTo(sizeLimits.identity).meta({ description: 'Subject of the hold, such as a revision.' }),
  message: textUpTo(sizeLimits.message).meta({ description: 'Why the release is held and what lifts the hold.' }),
})
/** A hold that the Rollout requests. It lasts as long as it is in the spec. */
export type HeldBy = Frozen<z.infer<typeof heldBySchema>>

const leftAtEndSchema = z.object({
  nodes: atomicList(textUpTo(sizeLimits.objectName))
    .max(LEFT_NODES_MAX)
    .optional()
    .meta({ description: 'Names of the nodes. Absent if there are too many to list: then failures on every node count.' }),
})
/** Nodes that ran an old pod when their release ended. */
export type LeftAtEnd = Frozen<z.infer<typeof leftAtEndSchema>>

const trancheSpecSchema = z.object({
  paused: z.boolean().optional().meta({ description: 'Stops all pod deletions, including those of the batch in flight.' }),
  canaryRevision: textUpTo(sizeLimits.name).optional().meta({ description: 'controller-revision-hash to release.' }),
  stableRevision: textUpTo(sizeLimits.name).optional().meta({ description: 'controller-revision-hash of the last good revision.' }),
  formerRevisions: formerRevisionsSchema.optional(),
  rolloutGeneration: int64().optional().meta({ description: 'Generation of the Rollout from which this spec was written.' }),
  release: textUpTo(sizeLimits.identity).optional().meta({ description: 'Identity of the release. It changes at each rollover.' }),
  finalSettleSeconds: int32()
    .min(0)
    .max(86_400)
    .optional()
    .meta({ description: 'Seconds after the last batch in which a crash still counts as a failure.' }),
  stepSoakSeconds: int32()
    .min(0)
    .max(604_800)
    .optional()
    .meta({ description: 'Seconds for which a batch must stay ready before its step is done.' }),
  hold: heldBySchema.optional().meta({ description: 'Stops all pod deletions for this reason until the hold is removed.' }),
  retry: textUpTo(sizeLimits.identity)
    .optional()
    .meta({ description: 'Id of the last retry accepted for this release. A retry lifts stops that wait for a person.' }),
  left: leftAtEndSchema.optional().meta({
    description:
      'Nodes that still ran an old pod when the release ended; they are updated when they return. From then on, only failures on them stop the release.',
  }),
  ...policyFields,
})
/** Release settings beside the plan. They are outside `releasePlan` because other programs read the hash of the plan. */
export type TrancheSpec = Frozen<z.infer<typeof trancheSpecSchema>>

const batchReleaseSpecSchema = z.object({
  workloadRef: workloadRefSchema.optional().meta({ description: 'The workload to release.' }),
  releasePlan: releasePlanSchema.meta({ description: 'The batches, and the highest one allowed.' }),
  tranche: trancheSpecSchema.optional().meta({ description: 'Release settings beside the plan, written by the Rollout controller.' }),
})
/** One release, batch by batch. */
export type BatchReleaseSpec = Frozen<z.infer<typeof batchReleaseSpecSchema>>

const permitSchema = z.object({
  node: z.string().meta({ description: 'Node that the pod runs on.' }),
  podUid: z.string().meta({ description: 'uid of the pod; a precondition of its deletion.' }),
  podResourceVersion: z.string().meta({ description: 'resourceVersion of the pod when it was chosen; a precondition of its deletion.' }),
  wasBad: z.boolean().optional().meta({
    description:
      'The node was broken before its update: when the pod was chosen, it was NotReady or had no Ready pod. If a version that was never stable was still starting there, the permit for that one decides. A failure there does not count against the new version.',
  }),
})
/** Permission to delete one pod in the version in which it was chosen (rule F3). */
export type Permit = Frozen<z.infer<typeof permitSchema>>

const holdSchema = z.object({
  reason: z.string().meta({ description: 'Why pods may not be deleted, in one word.' }),
  id: z.string().meta({ description: 'Identifies the cause of the hold.' }),
})
/** Why a record is not open. Only its own cause lifts a hold (rule F9). */
export type Hold = Frozen<z.infer<typeof holdSchema>>

const blockedNodeSchema = z.object({
  node: z.string().meta({ description: 'Name of the node.' }),
  reason: z.string().meta({ description: 'Why the node keeps its old pod, in one word, such as NoRoom.' }),
  message: z.string().meta({ description: 'Shortage or failure that keeps the pod.' }),
})
/** A node that keeps its old pod because a check of the node does not allow its deletion. */
export type BlockedNode = Frozen<z.infer<typeof blockedNodeSchema>>

const flightRecordSchema = z.object({
  workloadUid: z.string().meta({ description: 'uid of the DaemonSet.' }),
  epoch: int64().min(0).meta({ format: 'int64', description: 'Increased whenever the record allows less than before.' }),
  seq: int64().min(0).meta({ format: 'int64', description: 'Increased by every write of the record.' }),
  state: z.enum(flightStates).meta({
    description: 'Fence state: open, voiding (revoking from the next version on) or stopped. Only an open record permits a deletion.',
  }),
  holds: atomicList(holdSchema).meta({ description: 'Why the record is not open.' }),
  generation: int64().min(0).meta({ format: 'int64', description: 'Generation of the DaemonSet for which the record is valid.' }),
  revision: z.string().meta({ description: 'controller-revision-hash being released.' }),
  size: int32()
    .min(0)
    .optional()
    .meta({ format: 'int32', description: 'Number of nodes that the batch may have on the revision. If absent, no pod gets a permit.' }),
  outside: int32().min(1).optional().meta({
    format: 'int32',
    description: 'Number of nodes of size that no step so far selects, and that have no old pod any more. Absent if there are none.',
  }),
  partition: int32().min(0).meta({ format: 'int32', description: 'Number of nodes to keep on the old revision.' }),
  limit: int32().min(0).meta({ format: 'int32', description: 'Maximum number of nodes in flight at a time.' }),
  scope: z.string().optional().meta({ description: 'Digest of the rules that select nodes. Absent if every node may be updated.' }),
  begunAt: time().optional().meta({
    description:
      'Time when this release began, by the clock of the API server and up to five seconds early. Absent if its BatchRelease was created for it.',
  }),
  watermark: z.string().meta({ description: 'Highest pod resourceVersion that any write of the record was based on.' }),
  permits: atomicList(permitSchema).meta({ description: 'Permits not yet settled, oldest first.' }),
  blocked: atomicList(blockedNodeSchema).optional().meta({
    description: 'Nodes that keep their old pod because of a check that the policy asks for, at most 10. Written by executors.',
  }),
})
/** Permit record of the fence. Only this record allows a deletion (rules F1 to F13). */
export type FlightRecord = Frozen<z.infer<typeof flightRecordSchema>>

const batchCanaryStatusSchema = z.object({
  batchState: known(batchStates).optional().meta({ description: 'State of the current batch.' }),
  currentBatch: int32().meta({ format: 'int32', description: 'Index of the current batch, from 0.' }),
  batchReadyTime: time().optional().meta({ description: 'Time when the batch became ready.' }),
  updatedReplicas: int32().optional().meta({ description: 'Nodes on the canary revision.' }),
  updatedReadyReplicas: int32().optional().meta({ description: 'Nodes on the canary revision whose pod is Ready.' }),
  noNeedUpdateReplicas: int32().optional().meta({ description: 'Not for DaemonSets.' }),
})
/** State of the current batch. */
export type BatchCanaryStatus = Frozen<z.infer<typeof batchCanaryStatusSchema>>

const strategyDriftStatusSchema = z.object({
  release: z.string().meta({ description: 'Value of spec.tranche.release when it happened.' }),
  rounds: int32().min(0).meta({ format: 'int32', description: 'How often updateStrategy.type was changed back in that release.' }),
  generation: int64().meta({ format: 'int64', description: 'Generation of the DaemonSet at the last change.' }),
  retry: z.string().optional().meta({ description: 'Value of spec.tranche.retry at that time. A different value resets the count.' }),
})
/** How often the update strategy was changed away from the one that the release needs (G11). */
export type StrategyDriftStatus = Frozen<z.infer<typeof strategyDriftStatusSchema>>

const stableTemplateSchema = z.object({
  revision: z.string().meta({ description: 'controller-revision-hash of the stable revision.' }),
  template: opaqueObject().meta({ description: 'Pod template of that revision.' }),
})
/** Template of the stable revision, kept if the DaemonSet's history may lose it. */
export type StableTemplate = Frozen<z.infer<typeof stableTemplateSchema>>

const watchedNodeSchema = z.object({
  node: z.string().meta({ description: 'Name of the updated node.' }),
  since: time().meta({ description: 'Since when the node has had its current pod, or no pod.' }),
  downSeconds: int32().optional().meta({ description: 'Seconds without an available pod before `downSince`, not counting stops.' }),
  downSince: time().optional().meta({
    description:
      'Start of the current period without an available pod. Absent also while its kubelet has not seen the pod, if it had stopped reporting before the pod was created.',
  }),
  stoppedSeconds: int32().optional().meta({ description: 'Seconds for which the release had been stopped by `downSince`.' }),
  uid: z.string().optional().meta({ description: 'uid of the pod on the node.' }),
  restarts: int32().optional().meta({ description: 'Container restarts of earlier pods of the release on the node.' }),
  seen: int32().optional().meta({ description: 'Container restarts of the current pod.' }),
  ignoredRestarts: int32().optional().meta({
    description: 'Restarts that do not count, because the node was already unhealthy before its update.',
  }),
})
/** Health record of an unhealthy node. It survives flapping and pod replacement. */
export type WatchedNode = Frozen<z.infer<typeof watchedNodeSchema>>

const measurementSchema = z.object({
  at: time().meta({ description: 'Time of the measurement.' }),
  phase: known(analysisPhases).meta({ description: 'Outcome of the measurement.' }),
  value: z.string().optional().meta({ description: 'Measured value, truncated to 256 characters.' }),
  message: z.string().optional().meta({ description: 'Human-readable explanation.' }),
})
/** One measurement, taken from a metric provider. */
export type Measurement = Frozen<z.infer<typeof measurementSchema>>

const analysisRunSchema = z.object({
  name: z.string().meta({ description: 'Name of the analysis in the policy.' }),
  release: z.string().meta({ description: 'Value of spec.tranche.release that it belongs to.' }),
  step: int32().optional().meta({ description: 'Step, from 1, after which it runs. Absent for a background analysis.' }),
  spec: z.string().meta({ description: 'Digest of the analysis at its start. A changed analysis starts over.' }),
  retry: z
    .string()
    .optional()
    .meta({ description: 'Value of spec.tranche.retry at its start. A different value starts the analysis over.' }),
  phase: known(analysisPhases).meta({ description: 'Phase of the run.' }),
  message: z.string().optional().meta({ description: 'Human-readable explanation.' }),
  startedAt: time().meta({ description: 'Start time of the run.' }),
  nextAt: time().optional().meta({ description: 'Time when the next measurement is due.' }),
  finishedAt: time().optional().meta({ description: 'End time of the run.' }),
  successful: int32().optional().meta({ description: 'Measurements that succeeded.' }),
  failed: int32().optional().meta({ description: 'Measurements that failed.' }),
  inconclusive: int32().optional().meta({ description: 'Measurements that neither succeeded nor failed.' }),
  errors: int32().optional().meta({ description: 'Measurements that could not be taken.' }),
  consecutiveErrors: int32().optional().meta({ description: 'Number of most recent consecutive errors.' }),
  measurements: atomicList(measurementSchema).optional().meta({ description: 'Latest measurements, newest last; at most five.' }),
  dryRun: z.boolean().optional().meta({ description: 'Measures and reports, but never affects the release.' }),
})
/** One run of an analysis. */
export type AnalysisRun = Frozen<z.infer<typeof analysisRunSchema>>

const stoppedTimeSchema = z.object({
  release: z.string().meta({
    description: 'Value of spec.tranche.release that it belongs to; followed by `/left` after the end of the release.',
  }),
  startedAt: time().meta({ description: 'Time when the release was first observed.' }),
  olderPods: atomicList(z.string()).max(OLDER_PODS_MAX).optional().meta({
    description:
      'uids of pods of earlier revisions that were already unhealthy when the release was first observed. They do not count as failures.',
  }),
  seconds: int32().meta({ description: 'Seconds for which the release was stopped, before `since`.' }),
  since: time().optional().meta({ description: 'Start of the current stop. Absent while the release is not stopped.' }),
})
/** How long a release was stopped. Deadlines do not count that time. */
export type StoppedTime = Frozen<z.infer<typeof stoppedTimeSchema>>

/** Node health of a release that was frozen before its end; stored in the annotation `tranche.dev/frozen` as `watch`. */
export const frozenWatchSchema = z.object({
  workload: z.string().meta({ description: 'uid of the DaemonSet.' }),
  revision: z.string().meta({ description: 'controller-revision-hash that was being released.' }),
  begunAt: time().optional().meta({ description: 'When the release began, by the clock of the API server.' }),
  stopped: stoppedTimeSchema.meta({ description: 'When the release was first observed, and how long it was stopped.' }),
  nodes: z.array(watchedNodeSchema).max(WATCHED_NODES_MAX).meta({ description: 'Updated nodes that were unhealthy.' }),
})
/** @see frozenWatchSchema */
export type FrozenWatch = Frozen<z.infer<typeof frozenWatchSchema>>

const batchReleaseStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation of the BatchRelease that this status describes.' }),
  phase: known(['', ...batchReleasePhases])
    .optional()
    .meta({ description: 'Phase of the release.' }),
  message: z.string().optional().meta({ description: 'Human-readable summary of the current state.' }),
  conditions: z.array(conditionSchema).optional().meta({ description: 'Conditions of the release.' }),
  canaryStatus: batchCanaryStatusSchema.optional().meta({ description: 'State of the current batch.' }),
  stableRevision: z.string().optional().meta({ description: 'controller-revision-hash of the revision being replaced.' }),
  updateRevision: z.string().optional().meta({ description: 'controller-revision-hash of the revision being released.' }),
  observedRolloutID: z.string().optional().meta({ description: 'Name of the release that this status describes.' }),
  observedWorkloadReplicas: int32().optional().meta({ description: 'Desired nodes of the DaemonSet; -1 if unknown.' }),
  observedReleasePlanHash: z.string().optional().meta({ description: 'Hash of the releasePlan that this status describes.' }),
  collisionCount: int32().optional().meta({ description: 'Not for DaemonSets.' }),
  observedRelease: z.string().optional().meta({ description: 'Value of spec.tranche.release that this status describes.' }),
  settledSince: time().optional().meta({ description: 'Time when every node of the last batch became available.' }),
  settlingUntil: time().optional().meta({ description: 'Time when the final soak ends. Absent while nodes still have to be updated.' }),
  updatedAvailableReplicas: int32().min(0).optional().meta({ description: 'Updated nodes that are available.' }),
  failure: failureSchema.optional().meta({ description: 'Why the new version is considered bad.' }),
  leaked: leakedSchema.optional().meta({ description: 'Nodes that got the new version outside the release.' }),
  strategyDrift: strategyDriftStatusSchema
    .optional()
    .meta({ description: 'How often updateStrategy.type was changed back during the release.' }),
  contested: strategyDriftStatusSchema.optional().meta({ description: 'strategyDrift as the previous version named it; read only.' }),
  stableTemplate: stableTemplateSchema
    .optional()
    .meta({ description: "Template of the stable revision, kept if the DaemonSet's history may lose it." }),
  skippedNodes: skippedNodesSchema.optional(),
  waiting: waitingSchema.optional().meta({ description: 'What the batch waits for, since when, and on which nodes.' }),
  watchedNodes: atomicList(watchedNodeSchema).optional().meta({ description: 'Unhealthy updated nodes, at most 100.' }),
  stoppedTime: stoppedTimeSchema.optional().meta({ description: 'How long the release was stopped.' }),
  analysis: atomicList(analysisRunSchema).optional().meta({ description: 'Analysis runs of the current step and in the background.' }),
  groupLease: z.string().optional().meta({
    description: 'Name of the Lease of the group that this release waits for or holds. Absent without a group.',
  }),
  flight: flightRecordSchema.optional().meta({ description: 'Permit record. Only this record allows a deletion.' }),
})
/** Observed state of a BatchRelease. */
export type BatchReleaseStatus = Frozen<z.infer<typeof batchReleaseStatusSchema>>

/** A BatchRelease: one execution of a Rollout. */
export const batchReleaseSchema = z.object({
  ...objectFields,
  spec: batchReleaseSpecSchema.meta({ description: 'Workload to release, and its batches.' }),
  status: batchReleaseStatusSchema.meta({ description: 'Observed state of the release.' }).optional(),
})

/** @see batchReleaseSchema */
export interface BatchRelease extends KubeObject {
  readonly spec: BatchReleaseSpec
  readonly status?: BatchReleaseStatus | undefined
}
