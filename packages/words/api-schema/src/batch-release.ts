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
  time,
  workloadRefSchema,
} from './fields.ts'
import { conditionSchema, failureSchema, leakedSchema, skippedNodesSchema, waitingSchema } from './status-fields.ts'
import { policyFields } from './release-policy.ts'
import {
  analysisPhases,
  batchReleasePhases,
  batchStates,
  finalizingPolicies,
  flightStates,
  OLDER_PODS_MAX,
  rollingStyles,
  WATCHED_NODES_MAX,
} from './values.ts'

const releasePlanSchema = z.object({
  batches: z
    .array(
      z.object({
        canaryReplicas: intOrString().meta({
          description: 'Cumulative nodes after the batch: a whole number from 1 or a percentage, rounded up.',
        }),
      }),
    )
    .optional()
    .meta({ description: 'Cumulative sizes, one for each batch.' }),
  batchPartition: int32().min(0).optional().meta({ description: 'Highest batch allowed, from 0; absent finalizes.' }),
  rolloutID: z.string().optional().meta({ description: 'Name of the release; stands as a label on the pods that it brings.' }),
  failureThreshold: intOrString().optional().meta({ description: 'Updated nodes that may be unavailable when a batch is ready.' }),
  finalizingPolicy: known(finalizingPolicies)
    .optional()
    .meta({ description: 'Whether finalizing waits for the workload to be wholly updated; a DaemonSet always waits.' }),
  patchPodTemplateMetadata: patchPodTemplateMetadataSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  rollingStyle: known(rollingStyles).optional().meta({ description: 'How the revision comes to the workload; Partition for a DaemonSet.' }),
  enableExtraWorkloadForCanary: z.boolean().meta({ description: 'Not for DaemonSets.' }),
})
/** The batches and how far they may go. Its hash is what readers compare. */
export type ReleasePlan = Frozen<z.infer<typeof releasePlanSchema>>

const heldBySchema = z.object({
  reason: z.string().meta({ description: 'Why, in one word: RevisionHeld and others.' }),
  id: z.string().meta({ description: 'What it is about, such as the revision.' }),
  message: z.string().meta({ description: 'Why, and what lifts it, for a person.' }),
})
/** A stop that the Rollout asks for; it stands as long as the spec has it. */
export type HeldBy = Frozen<z.infer<typeof heldBySchema>>

const trancheSpecSchema = z.object({
  paused: z.boolean().optional().meta({ description: 'Nothing may be deleted; the batch in flight stops too.' }),
  canaryRevision: z.string().optional().meta({ description: 'controller-revision-hash to release.' }),
  stableRevision: z.string().optional().meta({ description: 'controller-revision-hash of the last good revision.' }),
  rolloutGeneration: int64().optional().meta({ description: 'Generation of the Rollout that this spec was written for.' }),
  release: z.string().optional().meta({ description: 'Identity of the release; another one at each rollover.' }),
  finalSettleSeconds: int32()
    .min(0)
    .max(86_400)
    .optional()
    .meta({ description: 'Seconds in which a crash still counts after the last batch.' }),
  stepSoakSeconds: int32()
    .min(0)
    .max(604_800)
    .optional()
    .meta({ description: 'Seconds for which a batch must stay ready before its step goes on.' }),
  hold: heldBySchema.optional().meta({ description: 'Nothing may be deleted, for this reason, until it is taken away.' }),
  retry: z.string().optional().meta({ description: 'Id of the last retry accepted for this release; lifts what waits for a person.' }),
  ...policyFields,
})
/** What the Rollout tells beside the plan; outside `releasePlan`, whose hash other programs read. */
export type TrancheSpec = Frozen<z.infer<typeof trancheSpecSchema>>

const batchReleaseSpecSchema = z.object({
  workloadRef: workloadRefSchema.optional().meta({ description: 'The workload to release.' }),
  releasePlan: releasePlanSchema.meta({ description: 'The batches, and how far they may go.' }),
  tranche: trancheSpecSchema.optional().meta({ description: 'What the Rollout tells beside the plan.' }),
})
/** One release, batch by batch. */
export type BatchReleaseSpec = Frozen<z.infer<typeof batchReleaseSpecSchema>>

const permitSchema = z.object({
  node: z.string().meta({ description: 'Node of the pod.' }),
  podUid: z.string().meta({ description: 'uid of the pod, a precondition of its deletion.' }),
  podResourceVersion: z.string().meta({ description: 'resourceVersion of the pod as it was chosen, a precondition of its deletion.' }),
  wasBad: z
    .boolean()
    .optional()
    .meta({ description: 'Its node had no available pod when it was chosen: a failure there says nothing of the new version.' }),
})
/** Leave to delete one pod, as it was when it was chosen (rule F3). */
export type Permit = Frozen<z.infer<typeof permitSchema>>

const holdSchema = z.object({
  reason: z.string().meta({ description: 'Why nothing may be deleted, in one word.' }),
  id: z.string().meta({ description: 'What the hold belongs to; another one is another hold.' }),
})
/** Why a record is not open; lifted only by its own cause (rule F9). */
export type Hold = Frozen<z.infer<typeof holdSchema>>

const flightRecordSchema = z.object({
  workloadUid: z.string().meta({ description: 'uid of the DaemonSet.' }),
  epoch: int64().min(0).meta({ format: 'int64', description: 'Raised whenever less is allowed.' }),
  seq: int64().min(0).meta({ format: 'int64', description: 'Raised by every write of the record.' }),
  state: z.enum(flightStates).meta({ description: 'Only an open record permits a deletion.' }),
  holds: atomicList(holdSchema).meta({ description: 'Why the record is not open.' }),
  generation: int64().min(0).meta({ format: 'int64', description: 'Generation of the DaemonSet that the record agrees with.' }),
  revision: z.string().meta({ description: 'controller-revision-hash being released.' }),
  size: int32()
    .min(0)
    .optional()
    .meta({ format: 'int32', description: 'Nodes that the batch may have on the revision; without it no pod gets a permit.' }),
  partition: int32().min(0).meta({ format: 'int32', description: 'Nodes to keep on the old revision.' }),
  limit: int32().min(0).meta({ format: 'int32', description: 'Nodes that may be in flight at a time.' }),
  scope: z.string().optional().meta({ description: 'Digest of the rules by which nodes may be taken; absent where every node may.' }),
  watermark: z.string().meta({ description: 'Highest pod resourceVersion that any write of the record rested on.' }),
  permits: atomicList(permitSchema).meta({ description: 'Permits not yet settled, oldest first.' }),
})
/** The permit record of the fence: it alone allows a deletion (rules F1 to F13). */
export type FlightRecord = Frozen<z.infer<typeof flightRecordSchema>>

const batchCanaryStatusSchema = z.object({
  batchState: known(batchStates).optional().meta({ description: 'Where the current batch stands.' }),
  currentBatch: int32().meta({ format: 'int32', description: 'From 0.' }),
  batchReadyTime: time().optional().meta({ description: 'Since when the batch has been ready.' }),
  updatedReplicas: int32().optional().meta({ description: 'Nodes on the canary revision.' }),
  updatedReadyReplicas: int32().optional().meta({ description: 'Nodes on the canary revision whose pod is Ready.' }),
  noNeedUpdateReplicas: int32().optional().meta({ description: 'Not for DaemonSets.' }),
})
/** Where the current batch stands. */
export type BatchCanaryStatus = Frozen<z.infer<typeof batchCanaryStatusSchema>>

const strategyDriftStatusSchema = z.object({
  release: z.string().meta({ description: 'spec.tranche.release in which it happened.' }),
  rounds: int32().min(0).meta({ format: 'int32', description: 'How often updateStrategy.type was set back in that release.' }),
  generation: int64().meta({ format: 'int64', description: 'Generation of the DaemonSet that brought the last round.' }),
  retry: z.string().optional().meta({ description: 'spec.tranche.retry at that time; another one begins to count anew.' }),
})
/** How often somebody asked for another update strategy than the release needs (G11). */
export type StrategyDriftStatus = Frozen<z.infer<typeof strategyDriftStatusSchema>>

const stableTemplateSchema = z.object({
  revision: z.string().meta({ description: 'controller-revision-hash of the stable revision.' }),
  template: opaqueObject().meta({ description: 'Its pod template.' }),
})
/** The template of the stable revision, kept where the history of the DaemonSet may lose it. */
export type StableTemplate = Frozen<z.infer<typeof stableTemplateSchema>>

const watchedNodeSchema = z.object({
  node: z.string().meta({ description: 'Node that was updated.' }),
  since: time().meta({ description: 'Since when its present pod, or none, has been there.' }),
  downSeconds: int32().optional().meta({ description: 'Seconds without an available pod before `downSince`, stops not counted.' }),
  downSince: time().optional().meta({ description: 'Since when it has been without an available pod, this time.' }),
  stoppedSeconds: int32().optional().meta({ description: 'Seconds for which the release had been stopped at `downSince`.' }),
  uid: z.string().optional().meta({ description: 'uid of its pod.' }),
  restarts: int32().optional().meta({ description: 'Restarts of the containers of earlier pods of the release there.' }),
  seen: int32().optional().meta({ description: 'Restarts of the containers of this pod.' }),
  ignoredRestarts: int32().optional().meta({
    description: 'Restarts that do not count: they happened while the node was bad for reasons from before its update.',
  }),
})
/** What a release remembers of a node that is not well, so that neither flapping nor another pod makes it forgotten. */
export type WatchedNode = Frozen<z.infer<typeof watchedNodeSchema>>

const measurementSchema = z.object({
  at: time().meta({ description: 'When it was made.' }),
  phase: known(analysisPhases).meta({ description: 'What came of it.' }),
  value: z.string().optional().meta({ description: 'What was answered, cut to 256 characters.' }),
  message: z.string().optional().meta({ description: 'Why, for a person.' }),
})
/** One answer of a metric system. */
export type Measurement = Frozen<z.infer<typeof measurementSchema>>

const analysisRunSchema = z.object({
  name: z.string().meta({ description: 'Name of the analysis in the policy.' }),
  release: z.string().meta({ description: 'spec.tranche.release that it is of.' }),
  step: int32().optional().meta({ description: 'Step, from 1, after which it runs; absent in the background.' }),
  spec: z.string().meta({ description: 'Digest of the analysis as it was begun; a changed one begins anew.' }),
  retry: z.string().optional().meta({ description: 'spec.tranche.retry with which it was begun; another one begins anew.' }),
  phase: known(analysisPhases).meta({ description: 'Where it stands.' }),
  message: z.string().optional().meta({ description: 'Why, for a person.' }),
  startedAt: time().meta({ description: 'When it began.' }),
  nextAt: time().optional().meta({ description: 'When the next measurement is due.' }),
  finishedAt: time().optional().meta({ description: 'When it ended.' }),
  successful: int32().optional().meta({ description: 'Measurements that succeeded.' }),
  failed: int32().optional().meta({ description: 'Measurements that failed.' }),
  inconclusive: int32().optional().meta({ description: 'Measurements with neither outcome.' }),
  errors: int32().optional().meta({ description: 'Measurements that could not be made.' }),
  consecutiveErrors: int32().optional().meta({ description: 'Of those, the last ones in a row.' }),
  measurements: atomicList(measurementSchema).optional().meta({ description: 'The latest, newest last.' }),
  dryRun: z.boolean().optional().meta({ description: 'It decides nothing.' }),
})
/** One run of an analysis. */
export type AnalysisRun = Frozen<z.infer<typeof analysisRunSchema>>

const stoppedTimeSchema = z.object({
  release: z.string().meta({ description: 'spec.tranche.release that it is of.' }),
  startedAt: time().meta({ description: 'When the release was first seen.' }),
  olderPods: atomicList(z.string()).max(OLDER_PODS_MAX).optional().meta({
    description:
      'uids of pods that were not well when the release was first seen, of a revision that had been there before; they are not judged.',
  }),
  seconds: int32().meta({ description: 'Seconds for which the release was stopped before `since`.' }),
  since: time().optional().meta({ description: 'Since when it has been stopped; absent while it is not.' }),
})
/** For how long a release was stopped: deadlines do not count that time. */
export type StoppedTime = Frozen<z.infer<typeof stoppedTimeSchema>>

/** What a release that was frozen in the middle knew of its nodes; in the annotation `tranche.dev/frozen`, as `watch`. */
export const frozenWatchSchema = z.object({
  workload: z.string().meta({ description: 'uid of the DaemonSet.' }),
  revision: z.string().meta({ description: 'controller-revision-hash that was released.' }),
  stopped: stoppedTimeSchema.meta({ description: 'Since when it was judged, and for how long it was stopped.' }),
  nodes: z.array(watchedNodeSchema).max(WATCHED_NODES_MAX).meta({ description: 'Updated nodes that were not well.' }),
})
/** @see frozenWatchSchema */
export type FrozenWatch = Frozen<z.infer<typeof frozenWatchSchema>>

const batchReleaseStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation of the BatchRelease that this status is about.' }),
  phase: known(['', ...batchReleasePhases])
    .optional()
    .meta({ description: 'Where the release stands.' }),
  message: z.string().optional().meta({ description: 'What goes on, for a person.' }),
  conditions: z.array(conditionSchema).optional().meta({ description: 'What holds, and since when.' }),
  canaryStatus: batchCanaryStatusSchema.optional().meta({ description: 'Where the current batch stands.' }),
  stableRevision: z.string().optional().meta({ description: 'controller-revision-hash of the revision that is replaced.' }),
  updateRevision: z.string().optional().meta({ description: 'controller-revision-hash of the revision that is released.' }),
  observedRolloutID: z.string().optional().meta({ description: 'Name of the release that this status is about.' }),
  observedWorkloadReplicas: int32().optional().meta({ description: '-1: not known.' }),
  observedReleasePlanHash: z.string().optional().meta({ description: 'Hash of the releasePlan that this status is about.' }),
  collisionCount: int32().optional().meta({ description: 'Not for DaemonSets.' }),
  observedRelease: z.string().optional().meta({ description: 'spec.tranche.release that this status speaks of.' }),
  settledSince: time().optional().meta({ description: 'Since when every node of the last batch has been available.' }),
  settlingUntil: time().optional().meta({ description: 'When the final settling time ends; absent while nodes are left to update.' }),
  updatedAvailableReplicas: int32().min(0).optional().meta({ description: 'Updated nodes that are available.' }),
  failure: failureSchema.optional().meta({ description: 'Why the new version is taken to be bad.' }),
  leaked: leakedSchema.optional().meta({ description: 'Nodes that came to the new version by other hands.' }),
  contested: strategyDriftStatusSchema.optional().meta({ description: 'How often updateStrategy.type was set back in mid-release.' }),
  stableTemplate: stableTemplateSchema.optional().meta({ description: 'Kept where the history of the DaemonSet may lose it.' }),
  skippedNodes: skippedNodesSchema.optional(),
  waiting: waitingSchema.optional().meta({ description: 'What the batch waits for, since when, and on which nodes.' }),
  watchedNodes: atomicList(watchedNodeSchema).optional().meta({ description: 'Updated nodes that are not well, at most a hundred.' }),
  stoppedTime: stoppedTimeSchema.optional().meta({ description: 'For how long the release was stopped.' }),
  analysis: atomicList(analysisRunSchema).optional().meta({ description: 'Analyses of the present step and in the background.' }),
  flight: flightRecordSchema.optional().meta({ description: 'The permit record: it alone allows a deletion.' }),
})
/** What is seen of a BatchRelease. */
export type BatchReleaseStatus = Frozen<z.infer<typeof batchReleaseStatusSchema>>

/** A BatchRelease: one execution of a Rollout. */
export const batchReleaseSchema = z.object({
  ...objectFields,
  spec: batchReleaseSpecSchema.meta({ description: 'What to release, in which batches.' }),
  status: batchReleaseStatusSchema.meta({ description: 'Where it stands, as the controller sees it.' }).optional(),
})

/** @see batchReleaseSchema */
export interface BatchRelease extends KubeObject {
  readonly spec: BatchReleaseSpec
  readonly status?: BatchReleaseStatus | undefined
}
