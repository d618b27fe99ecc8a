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
  revisionHash,
  textUpTo,
  time,
  workloadRefSchema,
} from './fields.ts'
import {
  conditionSchema,
  failureSchema,
  leakedSchema,
  formerRevisionsSchema,
  skippedNodesSchema,
  waitingForSchema,
} from './status-fields.ts'
import { requestHeaderModifierSchema, routeMatchSchema, trafficRoutingSchema } from './traffic-fields.ts'
import { nodeSelectorSchema } from './selector.ts'
import { sizeLimits } from './size-limits.ts'
import { finalisingSteps, heldReasons, notifyEvents, releaseResults, rolloutPhases, stepStates, UNUSABLE_REASONS_MAX } from './values.ts'

const pauseSchema = z.object({
  duration: int32().optional().meta({ description: 'Seconds to wait. If absent, the step waits for approval.' }),
})

/** One step. Traffic fields are for other workload kinds; the schema has them so that the API server does not prune them. */
const stepSchema = z.object({
  replicas: intOrString()
    .optional()
    .meta({ description: 'Cumulative number of nodes after the step: a whole number from 1, or a percentage, rounded up.' }),
  pause: pauseSchema.optional().meta({ description: 'Pause after the step. An empty pause waits for approval.' }),
  nodes: nodeSelectorSchema.optional().meta({
    description: 'Limits the step to these nodes and those of earlier steps. Without replicas, the step updates all of them.',
  }),
  traffic: z.string().optional().meta({ description: 'Share of traffic; not for DaemonSets.' }),
  requestHeaderModifier: requestHeaderModifierSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  matches: z.array(routeMatchSchema).max(16).optional().meta({ description: 'Not for DaemonSets.' }),
})
/** @see stepSchema */
export type RolloutStep = Frozen<z.infer<typeof stepSchema>>

const strategyFields = {
  steps: z.array(stepSchema).max(sizeLimits.steps).optional().meta({ description: 'Steps in order. Sizes must not decrease.' }),
  trafficRoutings: z.array(trafficRoutingSchema).optional().meta({ description: 'Not for DaemonSets.' }),
  failureThreshold: intOrString()
    .optional()
    .meta({ description: 'Number or percentage of updated nodes that may be unavailable in a ready step.' }),
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
  workloadRef: workloadRefSchema.meta({ description: 'Workload whose updates are released in steps.' }),
  strategy: z
    .object({
      paused: z.boolean().optional().meta({ description: 'Stops the release, including the batch in flight.' }),
      canary: canaryStrategySchema.optional().meta({ description: 'Releases in steps.' }),
      blueGreen: z.object(strategyFields).optional().meta({ description: 'Not for DaemonSets.' }),
    })
    .meta({
      description: 'Release strategy: exactly one of canary and blueGreen.',
      ...celRule('has(self.canary) != has(self.blueGreen)', 'exactly one of canary and blueGreen says how to release'),
    }),
  disabled: z.boolean().optional().meta({ default: false, description: 'Whether Tranche stops controlling the workload.' }),
})
/** Workload to release, and its steps. */
export type RolloutSpec = Frozen<z.infer<typeof rolloutSpecSchema>>

const commonStatusFields = {
  observedWorkloadGeneration: int64().optional().meta({ description: 'Generation of the workload that this status describes.' }),
  observedRolloutID: z.string().optional().meta({ description: 'Name that the owner of the workload gave the release.' }),
  rolloutHash: z
    .string()
    .optional()
    .meta({ description: 'Hash of the steps that this status describes, as in the annotation rollouts.kruise.io/hash.' }),
  stableRevision: revisionHash().optional().meta({ description: 'Revision being replaced.' }),
  podTemplateHash: z.string().meta({ description: 'Hash that identifies pods of the new revision.' }),
  currentStepIndex: int32().meta({ format: 'int32', description: 'Current step, from 1.' }),
  nextStepIndex: int32().meta({
    format: 'int32',
    description: 'Next step, from 1; -1 after the last step. Write another number to jump to that step.',
  }),
  finalisingStep: known(finalisingSteps).meta({ description: 'Current cleanup task at the end of the release.' }),
  currentStepState: known(stepStates).meta({
    description: 'State of the current step. Write StepReady while the state is StepPaused to approve the step.',
  }),
  message: z.string().optional().meta({ description: 'What the step waits for.' }),
  lastUpdateTime: time().optional().meta({ description: 'Time of the last change of the step state.' }),
}

const canaryStatusSchema = z.object({
  ...commonStatusFields,
  canaryRevision: revisionHash().meta({ description: 'Revision being released.' }),
  canaryReplicas: int32().meta({ description: 'Number of nodes on the new revision.' }),
  canaryReadyReplicas: int32().meta({ description: 'Number of nodes on the new revision whose pod is Ready.' }),
})
/** State of a release. All required fields are present from the first status write. */
export type CanaryStatus = Frozen<z.infer<typeof canaryStatusSchema>>

const blueGreenStatusSchema = z.object({
  ...commonStatusFields,
  updatedRevision: z.string().meta({ description: 'Revision being released.' }),
  updatedReplicas: int32().meta({ description: 'Replicas of the new revision.' }),
  updatedReadyReplicas: int32().meta({ description: 'Ready replicas of the new revision.' }),
})

/** Answer to the latest action. */
export const lastActionSchema = z.object({
  id: z.string().meta({ description: 'Id of the action.' }),
  type: z.string().meta({ description: 'Type of the action.' }),
  result: z.string().meta({ description: 'Result of the action: Accepted or Refused.' }),
  by: z.string().optional().meta({ description: 'User who requested the action.' }),
  reason: z.string().optional().meta({ description: "The user's reason, or why the action was rejected." }),
  at: time().meta({ description: 'Time of the answer.' }),
})
/** The answer to the latest action. */
export type LastAction = Frozen<z.infer<typeof lastActionSchema>>

const answeredBodySchema = z.object({
  id: z.string().meta({ description: 'Id of the action.' }),
  digest: z.string().meta({ description: 'First 16 hexadecimal digits of the SHA-256 of its other fields.' }),
  result: z.string().optional().meta({ description: 'Result of the action: Accepted or Refused.' }),
  reason: z.string().optional().meta({ description: 'Why the action was rejected.' }),
})
/** Digest of an answered action, for detecting an id that is reused with other content. */
export type AnsweredBody = Frozen<z.infer<typeof answeredBodySchema>>

/** One release of a pod template, until it completes or is replaced. */
const releaseRecordSchema = z.object({
  revision: z.string().meta({ description: 'controller-revision-hash of the released revision.' }),
  startedAt: time().meta({ description: 'Start time of the release.' }),
  endedAt: time().optional().meta({ description: 'End time of the release. Absent while it runs.' }),
  result: known(releaseResults).optional().meta({
    description: 'Completed, RolledBack, Failed, Superseded (by another template) or Stopped. Absent while the release runs.',
  }),
  failure: z.string().optional().meta({ description: 'Why the version was considered bad, truncated to 256 characters.' }),
})
/** A release and its result. */
export type ReleaseRecord = Frozen<z.infer<typeof releaseRecordSchema>>

/** One blocked pod template. */
export const heldRevisionSchema = z.object({
  digest: z.string().meta({ description: 'Digest of the template. It stays the same when the ControllerRevision is recreated.' }),
  revision: z.string().optional().meta({ description: 'controller-revision-hash when the template was blocked.' }),
  digestWithRestoredConfig: z.string().optional().meta({
    description:
      'Digest of the template with the copies of config that the rollback restored, as re-applying its manifest brings it. Absent if it restored no others.',
  }),
  reason: known(heldReasons).optional().meta({ description: 'Why the template is blocked: Aborted or Failed.' }),
  at: time().optional().meta({ description: 'Time when the template was blocked.' }),
  reverted: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the stable template was restored (done once), or another template was applied since.' }),
  reverts: int32().optional().meta({ description: 'How often the stable template was restored after the blocked one was applied again.' }),
  revertAt: time().optional().meta({ description: 'Time of the next restore.' }),
})
/** A failed or aborted template. Applying it again does not release it (G12). */
export type HeldRevision = Frozen<z.infer<typeof heldRevisionSchema>>

const acceptedActionsSchema = z.object({
  promote: z
    .object({
      id: z.string().meta({ description: 'Id of the action.' }),
      full: z.boolean().meta({ description: 'Whether soak and analysis are skipped too. The budget always applies.' }),
    })
    .optional()
    .meta({ description: 'Accepted promote: the remaining pauses are skipped.' }),
  retry: textUpTo(sizeLimits.identity).optional().meta({ description: 'Id of the last retry, which lifts stops that wait for a person.' }),
  pause: z
    .object({
      failure: z.string().meta({ description: 'Time when the failure was found.' }),
      lifts: z
        .boolean()
        .meta({ description: 'The pause was set after the failure was reported. Removing the pause lifts the failure, as a retry does.' }),
    })
    .optional()
    .meta({ description: 'Pause that was set while a failure stops the release.' }),
})
/** Accepted actions that stay in effect until the release ends. */
export type AcceptedActions = Frozen<z.infer<typeof acceptedActionsSchema>>

const notificationSchema = z.object({
  id: z.string().meta({ description: 'Idempotency key, the same for every attempt to this receiver.' }),
  receiver: z.string().meta({ description: 'Name of the receiver in the policy.' }),
  event: known(notifyEvents).meta({ description: 'Event that is sent.' }),
  message: z.string().meta({ description: 'Human-readable text of the event.' }),
  at: time().meta({ description: 'Time of the event.' }),
  revision: z.string().optional().meta({ description: 'Revision that was being released.' }),
  step: int32().optional().meta({ description: 'Step, from 1, that the release was at.' }),
  nodes: atomicList(z.string()).optional().meta({ description: 'Nodes concerned, at most ten.' }),
  dropped: int32()
    .optional()
    .meta({ description: 'Number of earlier notifications to this receiver that were dropped because the queue was full.' }),
  attempts: int32().optional().meta({ description: 'Number of failed attempts.' }),
  nextAt: time().optional().meta({ description: 'Time of the next attempt.' }),
  failingSince: time().optional().meta({ description: 'Time of the first failed attempt.' }),
  error: z.string().optional().meta({ description: 'Error of the last attempt, truncated to 256 characters.' }),
})
/** A notification that is not delivered yet. */
export type Notification = Frozen<z.infer<typeof notificationSchema>>

const policyInUseSchema = z.object({
  name: z.string().meta({ description: 'Name of the ReleasePolicy that the Rollout refers to.' }),
  generation: int64().optional().meta({ description: 'Generation of the policy that is in use. Absent while the policy cannot be used.' }),
  message: z.string().optional().meta({ description: 'Why the policy, or a part of it, cannot be used.' }),
  unusable: atomicList(z.string())
    .max(UNUSABLE_REASONS_MAX)
    .optional()
    .meta({ description: 'Reasons in status.unusable of the policy. Absent without any.' }),
})
/** The policy of a Rollout as last observed. */
export type PolicyInUse = Frozen<z.infer<typeof policyInUseSchema>>

const rolloutStatusSchema = z.object({
  observedGeneration: int64().optional().meta({ description: 'Generation of the Rollout that this status describes.' }),
  phase: known(rolloutPhases).optional().meta({ description: 'Phase of the Rollout.' }),
  message: z.string().optional().meta({ description: 'What the Rollout waits for, since when, and on which nodes.' }),
  currentStepIndex: int32().meta({ description: 'Current step, from 1.' }),
  currentStepState: known([...stepStates, '']).meta({ description: 'State of the current step; empty before the first release.' }),
  conditions: z.array(conditionSchema).optional().meta({ description: 'Conditions of the Rollout.' }),
  canaryStatus: canaryStatusSchema.optional().meta({ description: 'Details of the release. Approvals and jumps are written here.' }),
  blueGreenStatus: blueGreenStatusSchema.optional().meta({ description: 'Not for DaemonSets.' }),
  stableRevision: revisionHash().optional().meta({ description: 'Revision of the last completed release.' }),
  stableDigest: z
    .string()
    .optional()
    .meta({ description: 'SHA-256 of the pod template of stableRevision when it became stable. A rollback restores only this template.' }),
  stableMismatch: z.string().optional().meta({
    description: 'ControllerRevision of stableRevision whose template does not match stableDigest. It is never restored.',
  }),
  canaryDigest: z.string().optional().meta({
    description:
      'SHA-256 of the pod template being released, as the DaemonSet had it. It becomes stableDigest when the revision becomes stable.',
  }),
  stepNodes: z.string().optional().meta({
    description: 'SHA-256 of the nodes of the steps that the status describes. Absent where no step has nodes of its own.',
  }),
  formerRevisions: formerRevisionsSchema.optional(),
  waitingFor: waitingForSchema.optional().meta({
    description: 'What the current step or the end of the release waits for. Absent during a pause and while the Rollout is stalled.',
  }),
  pausedSince: time().optional().meta({ description: 'Time when spec.strategy.paused stopped the release. Absent while it does not.' }),
  settlingUntil: time().optional().meta({
    description: 'Time when the release becomes Healthy unless a pod crashes before. Absent while nodes still have to be updated.',
  }),
  releaseGeneration: int64().optional().meta({ description: 'Generation of the DaemonSet at the start of the release.' }),
  canaryNumber: int64().optional().meta({
    description:
      'Revision number of the ControllerRevision being released. A higher number means that the template was replaced and applied again.',
  }),
  policy: policyInUseSchema.optional().meta({ description: 'ReleasePolicy in use.' }),
  notifications: atomicList(notificationSchema).optional().meta({ description: 'Notifications that are not delivered yet, oldest first.' }),
  remindedAt: time().optional().meta({ description: 'Time of the last reminder that the release waits for a person.' }),
  failure: failureSchema.optional().meta({ description: 'Why the new version is considered bad.' }),
  leaked: leakedSchema.optional().meta({ description: 'Nodes that got the new version outside the release.' }),
  skippedNodes: skippedNodesSchema.optional(),
  heldRevisions: atomicList(heldRevisionSchema).optional().meta({
    description: 'Blocked revisions: templates that were rolled back. Applying them again does not release them until the action retry.',
  }),
  releases: atomicList(releaseRecordSchema)
    .optional()
    .meta({ description: 'Latest releases with their results, newest last; at most ten.' }),
  lastAction: lastActionSchema.optional().meta({ description: 'Answer to the latest action.' }),
  acceptedActions: acceptedActionsSchema.optional().meta({ description: 'Accepted actions that stay in effect until the release ends.' }),
  acceptedWishes: acceptedActionsSchema
    .optional()
    .meta({ description: 'Deprecated: name of acceptedActions in the previous version. Read once, then moved to acceptedActions.' }),
  rollbackFrom: z.string().optional().meta({ description: 'Revision that the current or last release rolls back.' }),
  answeredActions: atomicList(z.string())
    .optional()
    .meta({ description: 'Ids of the latest answered actions, newest last. None of them is carried out again.' }),
  answeredBodies: atomicList(answeredBodySchema)
    .optional()
    .meta({ description: 'Digests of the latest answered actions, newest last. A known id with other content is rejected.' }),
})
/** Observed state of a Rollout. */
export type RolloutStatus = Frozen<z.infer<typeof rolloutStatusSchema>>

/** A Rollout: how to release a workload's updates in steps. */
export const rolloutSchema = z.object({
  ...objectFields,
  spec: rolloutSpecSchema.meta({
    description: 'Workload to release, and its steps.',
    ...celRule(
      '!(self.workloadRef.kind == "DaemonSet" && has(self.strategy.blueGreen))',
      'a node runs one pod of a DaemonSet at a time: list steps under strategy.canary in the place of strategy.blueGreen',
    ),
  }),
  status: rolloutStatusSchema.meta({ description: 'Observed state of the Rollout.' }).optional(),
})

/** @see rolloutSchema */
export interface Rollout extends KubeObject {
  readonly spec: RolloutSpec
  readonly status?: RolloutStatus | undefined
}
