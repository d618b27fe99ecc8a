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
  patchPodTemplateMetadataSchema,
  time,
  workloadRefSchema,
} from './fields.ts'
import { conditionSchema, failureSchema, leakedSchema, skippedNodesSchema } from './status-fields.ts'
import { requestHeaderModifierSchema, routeMatchSchema, trafficRoutingSchema } from './traffic-fields.ts'
import { finalisingSteps, rolloutPhases, stepStates } from './values.ts'

const pauseSchema = z.object({
  duration: int32().optional().meta({ description: 'Seconds to wait; without it the step waits for a person.' }),
})

/** One step. Traffic members belong to other workload kinds; they stand here so that nothing of theirs is pruned. */
const stepSchema = z.object({
  replicas: intOrString()
    .optional()
    .meta({ description: 'Cumulative nodes after the step: a whole number from 1 or a percentage, rounded up.' }),
  pause: pauseSchema.optional().meta({ description: 'What to wait for after the step; empty waits for a person.' }),
  traffic: z.string().optional().meta({ description: 'Share of requests; not for DaemonSets.' }),
  requestHeaderModifier: requestHeaderModifierSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  matches: z.array(routeMatchSchema).max(16).optional().meta({ description: 'Not for DaemonSets.' }),
})
/** @see stepSchema */
export type RolloutStep = Frozen<z.infer<typeof stepSchema>>

const strategyFields = {
  steps: z.array(stepSchema).max(50).optional().meta({ description: 'The steps in order; sizes never shrink.' }),
  trafficRoutings: z.array(trafficRoutingSchema).optional().meta({ description: 'Not for DaemonSets.' }),
  failureThreshold: intOrString().optional().meta({ description: 'Updated nodes that may be unavailable when a step is ready.' }),
  trafficRoutingRef: z.string().optional().meta({ description: 'Not for DaemonSets.' }),
  disableGenerateCanaryService: z.boolean().optional().meta({ description: 'Not for DaemonSets.' }),
}

const canaryStrategySchema = z.object({
  ...strategyFields,
  patchPodTemplateMetadata: patchPodTemplateMetadataSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  enableExtraWorkloadForCanary: z.boolean().optional().meta({ description: 'Not for DaemonSets.' }),
})
/** @see canaryStrategySchema */
export type CanaryStrategy = Frozen<z.infer<typeof canaryStrategySchema>>

const rolloutSpecSchema = z.object({
  workloadRef: workloadRefSchema.meta({ description: 'The workload whose updates are released in steps.' }),
  strategy: z
    .object({
      paused: z.boolean().optional().meta({ description: 'Stops the release, the batch in flight too.' }),
      canary: canaryStrategySchema.optional().meta({ description: 'Release in steps.' }),
      blueGreen: z.object(strategyFields).optional().meta({ description: 'Not for DaemonSets.' }),
    })
    .meta({ description: 'How to release: exactly one of canary and blueGreen.' }),
  disabled: z.boolean().optional().meta({ default: false, description: 'Ends the control over the workload.' }),
})
/** What to release, in which steps. */
export type RolloutSpec = Frozen<z.infer<typeof rolloutSpecSchema>>

const commonStatusFields = {
  observedWorkloadGeneration: int64().optional(),
  observedRolloutID: z.string().optional(),
  rolloutHash: z.string().optional(),
  stableRevision: z.string().optional(),
  podTemplateHash: z.string(),
  currentStepIndex: int32().meta({ format: 'int32', description: 'From 1.' }),
  nextStepIndex: int32().meta({ format: 'int32', description: 'From 1; -1 after the last step. Writing another number jumps.' }),
  finalisingStep: known(finalisingSteps),
  currentStepState: known(stepStates).meta({ description: 'Writing StepReady while StepPaused approves the step.' }),
  message: z.string().optional(),
  lastUpdateTime: time().optional(),
}

const canaryStatusSchema = z.object({
  ...commonStatusFields,
  canaryRevision: z.string(),
  canaryReplicas: int32(),
  canaryReadyReplicas: int32(),
})
/** Where a release stands; complete from the first status write on. */
export type CanaryStatus = Frozen<z.infer<typeof canaryStatusSchema>>

const blueGreenStatusSchema = z.object({
  ...commonStatusFields,
  updatedRevision: z.string(),
  updatedReplicas: int32(),
  updatedReadyReplicas: int32(),
})

const lastActionSchema = z.object({
  id: z.string(),
  type: z.string(),
  result: z.string().meta({ description: 'Accepted, Refused, or a word that says more.' }),
  by: z.string().optional(),
  reason: z.string().optional(),
  at: time(),
})
/** The answer to the latest wish. */
export type LastAction = Frozen<z.infer<typeof lastActionSchema>>

const heldRevisionSchema = z.object({
  digest: z.string().meta({ description: 'Digest of the template that failed.' }),
  revision: z.string().optional().meta({ description: 'Its controller-revision-hash.' }),
  reason: z.string().optional(),
  at: time().optional(),
})
/** A template that failed and is not released again by a re-apply (G12). */
export type HeldRevision = Frozen<z.infer<typeof heldRevisionSchema>>

const rolloutStatusSchema = z.object({
  observedGeneration: int64().optional(),
  phase: known(rolloutPhases).optional(),
  message: z.string().optional().meta({ description: 'What the Rollout waits for, since when, and on which nodes.' }),
  currentStepIndex: int32(),
  currentStepState: known([...stepStates, '']),
  conditions: z.array(conditionSchema).optional(),
  canaryStatus: canaryStatusSchema.optional(),
  blueGreenStatus: blueGreenStatusSchema.optional(),
  stableRevision: z.string().optional().meta({ description: 'Revision that the last completed release brought to every node.' }),
  failure: failureSchema.optional(),
  leaked: leakedSchema.optional(),
  skippedNodes: skippedNodesSchema.optional(),
  heldRevisions: atomicList(heldRevisionSchema).optional(),
  lastAction: lastActionSchema.optional(),
})
/** What is seen of a Rollout. */
export type RolloutStatus = Frozen<z.infer<typeof rolloutStatusSchema>>

/** A Rollout: the wish to release a workload's updates in steps. */
export const rolloutSchema = z.object({ ...objectFields, spec: rolloutSpecSchema, status: rolloutStatusSchema.optional() })

/** @see rolloutSchema */
export interface Rollout extends KubeObject {
  readonly spec: RolloutSpec
  readonly status?: RolloutStatus | undefined
}
