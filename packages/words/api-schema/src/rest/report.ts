import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { failureSchema } from '../status-fields.ts'
import { lastActionSchema, heldRevisionSchema } from '../rollout.ts'
import { releaseResults } from '../values.ts'
import { actionTypes } from './action.ts'
import { analysisReportSchema } from './analysis.ts'
import { count, moment } from './fields.ts'
import { budgetUserSchema, leftNodesSchema } from './left-nodes.ts'
import { nodeStates, revisionRoles } from './node-report.ts'
import { policyStateSchema } from './policy.ts'
import { outcomes, rolloutSummarySchema } from './summary.ts'

const stepReportSchema = z.object({
  index: z.int().min(1),
  replicas: z.string().meta({ description: 'Size as written, such as `10%` or `3`, or the node selector of the step.' }),
  nodes: count('Cumulative size in nodes, for the current number of desired nodes.'),
  pause: z.string().optional().meta({ description: '`person`, or the seconds to wait, such as `600s`. Absent if there is no pause.' }),
  state: z.enum(['done', 'current', 'ahead']),
})

/** One recorded action of a user or program. */
export const recordedActionSchema = z.object({
  id: z.string(),
  type: z.enum(actionTypes),
  by: z.string().meta({ description: 'User name from the API server, or `hook:NAME` for a hook.' }),
  reason: z.string().optional(),
  at: moment(),
  via: z.enum(['rest', 'cli', 'hook']),
  from: z.string().optional().meta({ description: 'Source address of the request.' }),
  expectedStep: z.int().optional(),
  revision: z.string().optional(),
  step: z.int().optional(),
  full: z.boolean().optional(),
  toRevision: z.string().optional(),
  trace: z.string().optional().meta({ description: 'Trace of the request as a traceparent (W3C Trace Context), if tracing is on.' }),
})
/** Result of an action, as far as it is still in the status. */
const actionResultSchema = z.object({
  result: z.enum(['Accepted', 'Refused', 'Written']).optional().meta({
    description:
      'Written: the write itself was the action, as with pause and undo. Absent if there is no answer, or none in the status any more.',
  }),
  refusal: z.string().optional().meta({ description: 'Why the action was rejected.' }),
})
/** Result of an action, as far as it is still in the status. */
export type ActionResult = Frozen<z.infer<typeof actionResultSchema>>

/** @see recordedActionSchema */
export type RecordedAction = Frozen<z.infer<typeof recordedActionSchema>>

/** Kinds of direct changes to the objects of a release, made without Tranche's API. `template` is a changed pod template. */
export const observedChangeTypes = [
  'pause',
  'resume',
  'approve',
  'jump',
  'promote',
  'abort',
  'retry',
  'disable',
  'enable',
  'template',
] as const
/** @see observedChangeTypes */
export type ObservedChangeType = (typeof observedChangeTypes)[number]

/** Maximum length of the reason of an observed change, in characters. */
export const OBSERVED_REASON_MAX = 256

/** A change that was written directly to an object, not through Tranche, so it is not among the recorded actions. */
export const observedChangeSchema = z
  .object({
    id: z.string(),
    type: z.enum(observedChangeTypes),
    manager: z.string().optional().meta({
      description: 'Program that wrote the change, from `managedFields`; this is not a user name. Absent if unknown.',
    }),
    at: moment().meta({ description: 'Time when the controller observed the change.' }),
    step: z.int().optional().meta({ description: 'Step that was approved or jumped to.' }),
    reason: z
      .string()
      .optional()
      .meta({
        description: `Reason from the annotation \`tranche.dev/action\`, truncated to ${OBSERVED_REASON_MAX} characters. Its author is not verified.`,
      }),
  })
  .meta({ id: 'ObservedChange' })
/** @see observedChangeSchema */
export type ObservedChange = Frozen<z.infer<typeof observedChangeSchema>>

const budgetSchema = z.object({
  limit: count('Maximum number of nodes that may be unavailable at a time; the same as `maxUnavailable`.'),
  ours: count('Ready nodes that are being updated, or whose updated pod is not available.'),
  others: count('Ready nodes whose pod of another revision is not available; without a running release, every unavailable pod.'),
  unreachable: count('Nodes without an available pod that are NotReady or in maintenance.'),
  dead: count('Dead nodes: the part of `unreachable` that was lost before the release reached it.'),
  exempt: count('Dead nodes that do not count: all of them, or none if more are dead than `exemptLimit`.'),
  exemptLimit: count('Maximum number of dead nodes that do not count: `nodes.notReady.exempt` of the policy, in nodes.').optional(),
  users: z.array(budgetUserSchema).optional().meta({
    description: 'The nodes that count, by how they use the budget. Absent while no release runs.',
  }),
})

/** Maximum number of pinned objects in a report. */
export const PINNED_CONFIG_MAX = 50

const pinnedConfigSchema = z.object({
  kind: z.enum(['ConfigMap', 'Secret']),
  name: z.string().meta({ description: 'Name of the object as the template has it.' }),
  copy: z.string().meta({ description: 'Name of the immutable copy that pods read.' }),
})
/** A ConfigMap or Secret that is pinned by a copy. */
export type PinnedConfig = Frozen<z.infer<typeof pinnedConfigSchema>>

/** Full report of a Rollout. */
export const rolloutReportSchema = rolloutSummarySchema
  .extend({
    steps: z.array(stepReportSchema),
    failure: failureSchema.optional(),
    heldRevisions: z.array(heldRevisionSchema),
    failedStable: heldRevisionSchema.pick({ revision: true, at: true }).optional().meta({
      description: 'The revision that an abort returns to, if it is blocked because it failed.',
    }),
    lastAction: lastActionSchema.optional(),
    actions: z.array(z.enum(actionTypes)).meta({ description: 'Actions that would be accepted now.' }),
    policy: z.string().optional().meta({ description: 'Name of the ReleasePolicy that the Rollout refers to.' }),
    policyState: policyStateSchema.optional().meta({
      description: 'Whether that policy is valid and usable. Absent without one, and before the controller has observed it.',
    }),
    analyses: z.array(analysisReportSchema).optional().meta({
      description: 'Analyses of the running release: their runs, then those that have not started. Absent if it has none.',
    }),
    budget: budgetSchema.optional().meta({
      description:
        'Nodes that use up `maxUnavailable`. Each desired node without an available pod counts once. Absent if the DaemonSet does not exist, or is hidden.',
    }),
    blockedNodes: z
      .array(
        z.object({
          node: z.string(),
          reason: z.string().meta({ description: 'Reason in one word, such as NoRoom, Pulling or Draining.' }),
          message: z.string().meta({ description: 'Shortage or failure, or the awaited event, with its start and its latest end.' }),
        }),
      )
      .optional()
      .meta({
        description:
          'Nodes that keep their old pod while others proceed, at most 10, because of a check or because executors prepare them. Absent without any, and if `message` is about them.',
      }),
    pinnedConfig: z
      .array(pinnedConfigSchema)
      .optional()
      .meta({
        description: `ConfigMaps and Secrets of which pods of the present template read copies, because of \`config: Pin\`, at most ${PINNED_CONFIG_MAX}. Absent without any, and if the DaemonSet does not exist, or is hidden.`,
      }),
    leftNodes: z.array(leftNodesSchema).optional().meta({
      description:
        'Nodes that the release leaves for now, by cause: those that it skips while it runs, and those that it left behind once it is over. Absent without any.',
    }),
    zones: z.array(z.object({ zone: z.string(), states: z.partialRecord(z.enum(nodeStates), z.int()) })),
    skippedNodes: z.array(z.string()),
    conditions: z.array(
      z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string(), since: moment().optional() }),
    ),
  })
  .meta({ id: 'Rollout' })
/** @see rolloutReportSchema */
export type RolloutReport = Frozen<z.infer<typeof rolloutReportSchema>>

/** Why a node or a release is in its state: the deciding rule and the facts behind it. */
export const explanationSchema = z
  .object({
    subject: z.string().meta({ description: 'Node or Rollout that is explained.' }),
    answer: z.string().meta({ description: 'One sentence: why the node is not updated, or what the Rollout waits for.' }),
    rule: z.string().meta({
      description: 'Deciding rule, such as Partition, Order, Budget, NotReady, Excluded, Spread, Step, Paused, Held or Failed.',
    }),
    facts: z.array(z.object({ name: z.string(), value: z.string() })).meta({ description: 'Facts behind the answer, in order.' }),
    next: z.string().optional().meta({ description: 'Change that would lead to another answer.' }),
  })
  .meta({ id: 'Explanation' })
/** @see explanationSchema */
export type Explanation = Frozen<z.infer<typeof explanationSchema>>

/** One revision of a DaemonSet. */
export const revisionReportSchema = z
  .object({
    revision: z.string().meta({ description: 'controller-revision-hash.' }),
    number: z.int().meta({ description: 'Revision number, as in `kubectl rollout history`.' }),
    createdAt: moment(),
    role: z.enum(revisionRoles),
    held: z
      .boolean()
      .meta({ description: 'Whether the revision is blocked: it was rolled back, and applying it again does not release it.' }),
    nodes: count('Desired nodes that run the revision.'),
    images: z.array(z.string()),
    changeCause: z.string().optional(),
    changedConfig: z.array(z.string()).optional().meta({
      description:
        'Pinned ConfigMaps and Secrets, such as `ConfigMap agent`, whose content differs from that of the revision created before, or of the one that the running release replaces. Absent without any, and if that revision is no longer in the history.',
    }),
  })
  .meta({ id: 'Revision' })
/** @see revisionReportSchema */
export type RevisionReport = Frozen<z.infer<typeof revisionReportSchema>>

/** One revision with its pod template. */
export const revisionTemplateSchema = revisionReportSchema
  .extend({ template: z.record(z.string(), z.unknown()).meta({ description: 'Pod template from the ControllerRevision.' }) })
  .meta({ id: 'RevisionTemplate' })
/** @see revisionTemplateSchema */
export type RevisionTemplate = Frozen<z.infer<typeof revisionTemplateSchema>>

/** One batch of the release. */
export const batchReportSchema = z
  .object({
    index: z.int().min(1),
    nodes: count('Cumulative size in nodes.'),
    updated: count('Nodes that carry the label of this batch and run the canary revision.'),
    available: count('Updated nodes whose pod is available.'),
    state: z.enum(['done', 'current', 'ahead']),
    startedAt: moment().optional(),
    readyAt: moment().optional(),
  })
  .meta({ id: 'Batch' })
/** @see batchReportSchema */
export type BatchReport = Frozen<z.infer<typeof batchReportSchema>>

const releaseReportSchema = z.object({
  revision: z.string().meta({ description: 'controller-revision-hash.' }),
  number: z
    .int()
    .optional()
    .meta({ description: 'Revision number, as in `kubectl rollout history`. Absent if the revision is no longer in the history.' }),
  images: z.array(z.string()).meta({ description: 'Images of the revision. Empty if the revision is no longer in the history.' }),
  changedConfig: z.array(z.string()).optional().meta({ description: 'Pinned config that the revision changes, as in `revisions`.' }),
  startedAt: moment(),
  endedAt: moment().optional().meta({ description: 'End time. Absent while the release runs.' }),
  result: z
    .enum([...releaseResults, ...outcomes])
    .meta({ description: 'Result of the release; while it runs, the outcome of the Rollout.' }),
  failure: z.string().optional().meta({ description: 'Why the version was considered bad.' }),
})
/** One release and its result. */
export type ReleaseReport = Frozen<z.infer<typeof releaseReportSchema>>

/** History of a Rollout: revisions, releases, blocked revisions, actions and observed changes. */
export const historyReportSchema = z
  .object({
    revisions: z.array(revisionReportSchema).meta({ description: 'Revisions, newest first.' }),
    heldRevisions: z.array(heldRevisionSchema),
    releases: z.array(releaseReportSchema).optional().meta({ description: 'Latest releases, newest first, at most ten.' }),
    actions: z
      .array(recordedActionSchema.extend(actionResultSchema.shape))
      .meta({ description: 'Recorded actions, newest first, at most 16.' }),
    observedChanges: z
      .array(observedChangeSchema)
      .meta({ description: 'Changes written directly to the objects, not through Tranche; newest first, at most 16.' }),
    rolloutHidden: z.boolean().optional().meta({
      description: 'For a DaemonSet: true if it is bound to a Rollout that the caller may not get. Data of that Rollout is left out.',
    }),
  })
  .meta({ id: 'History' })
/** @see historyReportSchema */
export type HistoryReport = Frozen<z.infer<typeof historyReportSchema>>
