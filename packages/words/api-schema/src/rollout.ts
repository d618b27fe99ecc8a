import type { KubeObject } from '@tranche/kube-types'
import { z } from 'zod'
import {
  atomicList,
  celRule,
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
import { conditionSchema, failureSchema, leakedSchema, skippedNodesSchema, waitingForSchema } from './status-fields.ts'
import { requestHeaderModifierSchema, routeMatchSchema, trafficRoutingSchema } from './traffic-fields.ts'
import { nodeSelectorSchema } from './release-policy.ts'
import { finalisingSteps, heldReasons, notifyEvents, releaseResults, rolloutPhases, stepStates } from './values.ts'

const pauseSchema = z.object({
  duration: int32().optional().meta({ description: 'Seconds to wait; without it the step waits for a person.' }),
})

/** One step. Traffic members belong to other workload kinds; they stand here so that nothing of theirs is pruned. */
const stepSchema = z.object({
  replicas: intOrString()
    .optional()
    .meta({ description: 'Cumulative nodes after the step: a whole number from 1 or a percentage, rounded up.' }),
  pause: pauseSchema.optional().meta({ description: 'What to wait for after the step; empty waits for a person.' }),
  nodes: nodeSelectorSchema.optional().meta({
    description: 'The step takes these nodes alone, beside those of the steps before it; without replicas all of them.',
  }),
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
    .meta({
      description: 'How to release: exactly one of canary and blueGreen.',
      ...celRule('has(self.canary) != has(self.blueGreen)', 'exactly one of canary and blueGreen says how to release'),
    }),
  disabled: z.boolean().optional().meta({ default: false, description: 'Ends the control over the workload.' }),
})
/** What to release, in which steps. */
export type RolloutSpec = Frozen<z.infer<typeof rolloutSpecSchema>>

const commonStatusFields = {
  observedWorkloadGeneration: int64().optional().meta({ description: 'Generation of the workload that this is about.' }),
  observedRolloutID: z.string().optional().meta({ description: 'Name that its owner gave the release.' }),
  rolloutHash: z
    .string()
    .optional()
    .meta({ description: 'Hash of the steps that this speaks of, as in the annotation rollouts.kruise.io/hash.' }),
  stableRevision: z.string().optional().meta({ description: 'Revision that is replaced.' }),
  podTemplateHash: z.string().meta({ description: 'Hash by which pods of the new revision are told.' }),
  currentStepIndex: int32().meta({ format: 'int32', description: 'From 1.' }),
  nextStepIndex: int32().meta({ format: 'int32', description: 'From 1; -1 after the last step. Writing another number jumps.' }),
  finalisingStep: known(finalisingSteps).meta({ description: 'What is being put back at the end.' }),
  currentStepState: known(stepStates).meta({ description: 'Writing StepReady while StepPaused approves the step.' }),
  message: z.string().optional().meta({ description: 'What the step waits for.' }),
  lastUpdateTime: time().optional().meta({ description: 'When the state of the step last changed.' }),
}

const canaryStatusSchema = z.object({
  ...commonStatusFields,
  canaryRevision: z.string().meta({ description: 'Revision that is released.' }),
  canaryReplicas: int32().meta({ description: 'Nodes that run it.' }),
  canaryReadyReplicas: int32().meta({ description: 'Nodes on which it is Ready.' }),
})
/** Where a release stands; complete from the first status write on. */
export type CanaryStatus = Frozen<z.infer<typeof canaryStatusSchema>>

const blueGreenStatusSchema = z.object({
  ...commonStatusFields,
  updatedRevision: z.string().meta({ description: 'Revision that is released.' }),
  updatedReplicas: int32().meta({ description: 'Replicas of it.' }),
  updatedReadyReplicas: int32().meta({ description: 'Replicas of it that are Ready.' }),
})

/** How the status answers the latest action. */
export const lastActionSchema = z.object({
  id: z.string().meta({ description: 'Id of the action.' }),
  type: z.string().meta({ description: 'Type of the action.' }),
  result: z.string().meta({ description: 'Accepted or Refused.' }),
  by: z.string().optional().meta({ description: 'Who asked for it.' }),
  reason: z.string().optional().meta({ description: 'Why: in their words, or why it was refused.' }),
  at: time().meta({ description: 'When it was answered.' }),
})
/** The answer to the latest action. */
export type LastAction = Frozen<z.infer<typeof lastActionSchema>>

const answeredBodySchema = z.object({
  id: z.string().meta({ description: 'Id of the action.' }),
  digest: z.string().meta({ description: 'SHA-256 of its other members, first 16 hexadecimal digits.' }),
  result: z.string().optional().meta({ description: 'Accepted or Refused.' }),
  reason: z.string().optional().meta({ description: 'Why it was refused.' }),
})
/** Content of an action that was answered. */
export type AnsweredBody = Frozen<z.infer<typeof answeredBodySchema>>

/** One release: a template on its way to the nodes, until it is there or is replaced. */
const releaseRecordSchema = z.object({
  revision: z.string().meta({ description: 'Its controller-revision-hash.' }),
  startedAt: time().meta({ description: 'When it began.' }),
  endedAt: time().optional().meta({ description: 'When it ended; absent while it runs.' }),
  result: known(releaseResults).optional().meta({
    description: 'Completed, RolledBack, Failed or Superseded (by another template), or Stopped; absent while it runs.',
  }),
  failure: z.string().optional().meta({ description: 'Why the version was taken to be bad, cut to 256 characters.' }),
})
/** A release, and how it ended. */
export type ReleaseRecord = Frozen<z.infer<typeof releaseRecordSchema>>

/** One template that is held. */
export const heldRevisionSchema = z.object({
  digest: z.string().meta({ description: 'Digest of the template, which stays when its revision is made anew.' }),
  revision: z.string().optional().meta({ description: 'Its controller-revision-hash when it was held.' }),
  reason: known(heldReasons).optional().meta({ description: 'Why it is held: Aborted or Failed.' }),
  at: time().optional().meta({ description: 'Since when.' }),
  reverted: z
    .boolean()
    .optional()
    .meta({ description: 'The stable template was put back, which is done once, or another one was applied since.' }),
  reverts: int32().optional().meta({ description: 'How often the stable template was put back after this one was applied again.' }),
  revertAt: time().optional().meta({ description: 'When it is put back next.' }),
})
/** A template that failed and is not released again by a re-apply (G12). */
export type HeldRevision = Frozen<z.infer<typeof heldRevisionSchema>>

const acceptedActionsSchema = z.object({
  promote: z
    .object({
      id: z.string().meta({ description: 'Id of the action.' }),
      full: z.boolean().meta({ description: 'Without soak and analysis too; never without the budget.' }),
    })
    .optional()
    .meta({ description: 'The remaining pauses are skipped.' }),
  retry: z.string().optional().meta({ description: 'Id of the last retry, which lifts what waits for a person.' }),
  pause: z
    .object({
      failure: z.string().meta({ description: 'When that failure was found.' }),
      lifts: z.boolean().meta({ description: 'It was set once the failure had been told: taking it away lifts that, as a retry does.' }),
    })
    .optional()
    .meta({ description: 'A pause beside a failure that stops the release.' }),
})
/** Accepted actions that count until the release ends. */
export type AcceptedActions = Frozen<z.infer<typeof acceptedActionsSchema>>

const notificationSchema = z.object({
  id: z.string().meta({ description: 'Idempotency key: the same for every attempt to tell this to this receiver.' }),
  receiver: z.string().meta({ description: 'Name of the receiver in the policy.' }),
  event: known(notifyEvents).meta({ description: 'What is told.' }),
  message: z.string().meta({ description: 'What is told, for a person.' }),
  at: time().meta({ description: 'When it happened.' }),
  revision: z.string().optional().meta({ description: 'Revision being released then.' }),
  step: int32().optional().meta({ description: 'Step, from 1, at which the release was then.' }),
  nodes: atomicList(z.string()).optional().meta({ description: 'Nodes that it is about, at most ten.' }),
  dropped: int32().optional().meta({ description: 'Earlier ones to this receiver that were dropped, because too many waited.' }),
  attempts: int32().optional().meta({ description: 'How often it was tried in vain.' }),
  nextAt: time().optional().meta({ description: 'When it is tried next.' }),
  failingSince: time().optional().meta({ description: 'When it was first tried in vain.' }),
  error: z.string().optional().meta({ description: 'Why the last attempt was in vain, cut to 256 characters.' }),
})
/** Something that a receiver is still to be told. */
export type Notification = Frozen<z.infer<typeof notificationSchema>>

const policyInUseSchema = z.object({
  name: z.string().meta({ description: 'ReleasePolicy that the Rollout names.' }),
  generation: int64().optional().meta({ description: 'Generation of it that is in use; absent while it cannot be used.' }),
  message: z.string().optional().meta({ description: 'Why it cannot be used, or not all of it.' }),
})
/** The policy of a Rollout, as it was seen last. */
export type PolicyInUse = Frozen<z.infer<typeof policyInUseSchema>>

const rolloutStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation of the Rollout that this status is about.' }),
  phase: known(rolloutPhases).optional().meta({ description: 'Where the Rollout stands.' }),
  message: z.string().optional().meta({ description: 'What the Rollout waits for, since when, and on which nodes.' }),
  currentStepIndex: int32().meta({ description: 'Step that the release is at, from 1.' }),
  currentStepState: known([...stepStates, '']).meta({ description: 'Where that step stands; empty before the first release.' }),
  conditions: z.array(conditionSchema).optional().meta({ description: 'What holds, and since when.' }),
  canaryStatus: canaryStatusSchema.optional().meta({ description: 'The release in detail; approvals and jumps are written here.' }),
  blueGreenStatus: blueGreenStatusSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  stableRevision: z.string().optional().meta({ description: 'Revision that the last completed release brought to every node.' }),
  stableDigest: z
    .string()
    .optional()
    .meta({ description: 'SHA-256 of its pod template, as it was when it became stable: no other template is put back for it.' }),
  stableMismatch: z.string().optional().meta({
    description: 'ControllerRevision of stableRevision that does not hold the template of stableDigest: it is never put back.',
  }),
  canaryDigest: z.string().optional().meta({
    description:
      'SHA-256 of the pod template of the revision under way, as the DaemonSet had it: stableDigest once that revision is stable.',
  }),
  waitingFor: waitingForSchema.optional().meta({
    description: 'What the step under way waits for, or the end of the release; absent while it pauses, and where it is stalled.',
  }),
  pausedSince: time().optional().meta({ description: 'When spec.strategy.paused stopped the release; absent while it does not.' }),
  settlingUntil: time()
    .optional()
    .meta({ description: 'When the release becomes Healthy if nothing crashes before; absent while nodes are left to update.' }),
  releaseGeneration: int64().optional().meta({ description: 'Generation of the DaemonSet with which the release began.' }),
  canaryNumber: int64().optional().meta({
    description:
      'revision of the ControllerRevision that is released: a higher one means that its template was replaced and applied again.',
  }),
  policy: policyInUseSchema.optional().meta({ description: 'The policy that conditions the release.' }),
  notifications: atomicList(notificationSchema).optional().meta({ description: 'What receivers are still to be told, oldest first.' }),
  remindedAt: time().optional().meta({ description: 'When receivers were last reminded that a person is waited for.' }),
  failure: failureSchema.optional().meta({ description: 'Why the new version is taken to be bad.' }),
  leaked: leakedSchema.optional().meta({ description: 'Nodes that came to the new version by other hands.' }),
  skippedNodes: skippedNodesSchema.optional(),
  heldRevisions: atomicList(heldRevisionSchema).optional().meta({
    description: 'Templates that were taken back and are not released again by applying them again; the action retry lifts this.',
  }),
  releases: atomicList(releaseRecordSchema).optional().meta({ description: 'The latest releases and how each ended, newest last.' }),
  lastAction: lastActionSchema.optional().meta({ description: 'The answer to the latest action.' }),
  acceptedActions: acceptedActionsSchema.optional().meta({ description: 'Accepted actions that count until the release ends.' }),
  acceptedWishes: acceptedActionsSchema
    .optional()
    .meta({ description: 'Deprecated: acceptedActions of the version before; read once, then moved to acceptedActions.' }),
  rollbackFrom: z.string().optional().meta({ description: 'Revision that the release under way, or the last one, takes back.' }),
  answeredActions: atomicList(z.string())
    .optional()
    .meta({ description: 'Ids of the latest answered actions, newest last; none of them is carried out again.' }),
  answeredBodies: atomicList(answeredBodySchema)
    .optional()
    .meta({ description: 'Content of the latest answered actions, newest last: a known id with other content is rejected.' }),
})
/** What is seen of a Rollout. */
export type RolloutStatus = Frozen<z.infer<typeof rolloutStatusSchema>>

/** A Rollout: how to release a workload's updates in steps. */
export const rolloutSchema = z.object({
  ...objectFields,
  spec: rolloutSpecSchema.meta({
    description: 'What to release, in which steps.',
    ...celRule(
      '!(self.workloadRef.kind == "DaemonSet" && has(self.strategy.blueGreen))',
      'a node runs one pod of a DaemonSet at a time: list steps under strategy.canary in the place of strategy.blueGreen',
    ),
  }),
  status: rolloutStatusSchema.meta({ description: 'Where it stands, as the controller sees it.' }).optional(),
})

/** @see rolloutSchema */
export interface Rollout extends KubeObject {
  readonly spec: RolloutSpec
  readonly status?: RolloutStatus | undefined
}
