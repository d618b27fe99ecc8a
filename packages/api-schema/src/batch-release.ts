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
import { conditionSchema, failureSchema, leakedSchema, skippedNodesSchema } from './status-fields.ts'
import { batchReleasePhases, batchStates, finalizingPolicies, flightStates, rollingStyles } from './values.ts'

const releasePlanSchema = z.object({
  batches: z
    .array(z.object({ canaryReplicas: intOrString() }))
    .optional()
    .meta({ description: 'Cumulative sizes, one for each batch.' }),
  batchPartition: int32().optional().meta({ description: 'Highest batch allowed, from 0; absent finalizes.' }),
  rolloutID: z.string().optional(),
  failureThreshold: intOrString().optional(),
  finalizingPolicy: known(finalizingPolicies).optional(),
  patchPodTemplateMetadata: patchPodTemplateMetadataSchema.optional(),
  rollingStyle: known(rollingStyles).optional(),
  enableExtraWorkloadForCanary: z.boolean(),
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
  finalSettleSeconds: int32().min(0).optional().meta({ description: 'Seconds in which a crash still counts after the last batch.' }),
  hold: heldBySchema.optional().meta({ description: 'Nothing may be deleted, for this reason, until it is taken away.' }),
  retry: z.string().optional().meta({ description: 'Id of the last retry accepted for this release; lifts what waits for a person.' }),
  nodes: opaqueObject().optional().meta({ description: 'Which nodes a batch may take, and in which order.' }),
})
/** What the Rollout tells beside the plan; outside `releasePlan`, whose hash other programs read. */
export type TrancheSpec = Frozen<z.infer<typeof trancheSpecSchema>>

const batchReleaseSpecSchema = z.object({
  workloadRef: workloadRefSchema.optional().meta({ description: 'The workload to release.' }),
  releasePlan: releasePlanSchema,
  tranche: trancheSpecSchema.optional(),
})
/** One release, batch by batch. */
export type BatchReleaseSpec = Frozen<z.infer<typeof batchReleaseSpecSchema>>

const permitSchema = z.object({ node: z.string(), podUid: z.string(), podResourceVersion: z.string() })
/** Leave to delete one pod, as it was when it was chosen (rule F3). */
export type Permit = Frozen<z.infer<typeof permitSchema>>

const holdSchema = z.object({ reason: z.string(), id: z.string() })
/** Why a record is not open; lifted only by its own wish or condition (rule F9). */
export type Hold = Frozen<z.infer<typeof holdSchema>>

const flightRecordSchema = z.object({
  workloadUid: z.string().meta({ description: 'uid of the DaemonSet.' }),
  epoch: int64().min(0).meta({ format: 'int64', description: 'Raised whenever less is allowed.' }),
  seq: int64().min(0).meta({ format: 'int64', description: 'Raised by every write of the record.' }),
  state: z.enum(flightStates),
  holds: atomicList(holdSchema),
  generation: int64().min(0).meta({ format: 'int64', description: 'Generation of the DaemonSet that the record agrees with.' }),
  revision: z.string().meta({ description: 'controller-revision-hash being released.' }),
  partition: int32().min(0).meta({ format: 'int32', description: 'Nodes to keep on the old revision.' }),
  limit: int32().min(0).meta({ format: 'int32', description: 'Nodes that may be in flight at a time.' }),
  watermark: z.string().meta({ description: 'Highest pod resourceVersion that any write of the record rested on.' }),
  permits: atomicList(permitSchema).meta({ description: 'Permits not yet settled, oldest first.' }),
})
/** The permit record of the fence: it alone allows a deletion (rules F1 to F13). */
export type FlightRecord = Frozen<z.infer<typeof flightRecordSchema>>

const batchCanaryStatusSchema = z.object({
  batchState: known(batchStates).optional(),
  currentBatch: int32().meta({ format: 'int32', description: 'From 0.' }),
  batchReadyTime: time().optional(),
  updatedReplicas: int32().optional(),
  updatedReadyReplicas: int32().optional(),
  noNeedUpdateReplicas: int32().optional(),
})
/** Where the current batch stands. */
export type BatchCanaryStatus = Frozen<z.infer<typeof batchCanaryStatusSchema>>

const waitingSchema = z.object({
  reason: z.string(),
  message: z.string(),
  since: time(),
  nodes: atomicList(z.string()),
})
/** What the batch waits for, since when, and on which nodes (bounded). */
export type Waiting = Frozen<z.infer<typeof waitingSchema>>

const batchReleaseStatusSchema = z.object({
  observedGeneration: int64().optional(),
  phase: known(['', ...batchReleasePhases]).optional(),
  message: z.string().optional(),
  conditions: z.array(conditionSchema).optional(),
  canaryStatus: batchCanaryStatusSchema.optional(),
  stableRevision: z.string().optional(),
  updateRevision: z.string().optional(),
  observedRolloutID: z.string().optional(),
  observedWorkloadReplicas: int32().optional().meta({ description: '-1: not known.' }),
  observedReleasePlanHash: z.string().optional(),
  collisionCount: int32().optional(),
  observedRelease: z.string().optional().meta({ description: 'spec.tranche.release that this status speaks of.' }),
  settledSince: time().optional().meta({ description: 'Since when every node of the last batch has been available.' }),
  updatedAvailableReplicas: int32().min(0).optional().meta({ description: 'Updated nodes that are available.' }),
  failure: failureSchema.optional(),
  leaked: leakedSchema.optional(),
  skippedNodes: skippedNodesSchema.optional(),
  waiting: waitingSchema.optional(),
  flight: flightRecordSchema.optional(),
})
/** What is seen of a BatchRelease. */
export type BatchReleaseStatus = Frozen<z.infer<typeof batchReleaseStatusSchema>>

/** A BatchRelease: one execution of a Rollout. */
export const batchReleaseSchema = z.object({ ...objectFields, spec: batchReleaseSpecSchema, status: batchReleaseStatusSchema.optional() })

/** @see batchReleaseSchema */
export interface BatchRelease extends KubeObject {
  readonly spec: BatchReleaseSpec
  readonly status?: BatchReleaseStatus | undefined
}
