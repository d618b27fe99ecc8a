import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { failureSchema } from '../status-fields.ts'
import { lastActionSchema, heldRevisionSchema } from '../rollout.ts'
import { releaseResults } from '../values.ts'
import { actionTypes } from './action.ts'

const moment = (): z.ZodString => z.string().meta({ format: 'date-time' })
const count = (description: string): z.ZodNumber => z.int().min(0).meta({ description })

/**
 * What a Rollout comes to, for somebody who waits for it. `Done`: every node that can be is on the version that was asked for.
 * `Failed`: the version is bad, and it or a new release of it is stopped. `RolledBack`: the version was rolled back, and every node that can
 * be is on the version before. `Blocked`: the Rollout cannot continue until someone fixes its spec, its policy or the cluster. `Waiting`: a
 * person has to decide. `Running`: it continues by itself. `tranche status` has an exit code for each.
 */
export const outcomes = ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'] as const
/** @see outcomes */
export type Outcome = (typeof outcomes)[number]

/**
 * What a node is to the release. `updated` and `old` are available on the canary revision, on another; `updating` has no pod, a
 * terminating one, or a new one that is not available yet; `down` has an old pod that is not available; `failing` counts as a failure of
 * the new version or has a container that does not run; `notReady` is a node whose own Ready condition is not True; `excluded` is kept
 * out by the policy.
 */
export const nodeStates = ['updated', 'updating', 'old', 'down', 'failing', 'notReady', 'excluded'] as const
/** @see nodeStates */
export type ReportedNodeState = (typeof nodeStates)[number]

/** What a revision is to the release. */
export const revisionRoles = ['stable', 'canary', 'superseded', 'none'] as const
/** @see revisionRoles */
export type RevisionRole = (typeof revisionRoles)[number]

const needSchema = z.object({
  reason: z.string().meta({ description: 'Why, in one word: StepPaused, Paused, ReleaseFailed, PolicyNotFound …' }),
  message: z.string().meta({ description: 'Why, for a person.' }),
  since: moment().optional().meta({ description: 'Since when.' }),
  actions: z.array(z.enum(actionTypes)).meta({ description: 'Actions that would help now.' }),
})
/** What a person has to decide. */
export type Need = Frozen<z.infer<typeof needSchema>>

const waitSchema = z.object({
  reason: z.string().meta({ description: 'What it waits for, in one word: NotAvailable, Upgrading, BudgetUsedUp, Soak …' }),
  message: z.string().meta({ description: 'What it waits for, for a person.' }),
  since: moment().optional().meta({ description: 'Since when.' }),
  nodes: z.array(z.string()).meta({ description: 'On which nodes, at most as many as a status lists.' }),
})

const nodeCountsSchema = z.object({
  desired: count('Nodes that the DaemonSet is wanted on.'),
  updated: count('Of those, nodes whose pod is on the canary revision.'),
  updatedAvailable: count('Of the updated ones, nodes whose pod is available.'),
  unavailable: count('Desired nodes without an available pod.'),
  failed: count('Nodes on which the new version failed.'),
  leaked: count('Nodes that came to the new version by other hands.'),
  skipped: count('Nodes that are passed over.'),
})

/** A Rollout in one line. */
export const rolloutSummarySchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    daemonSet: z.string().meta({ description: 'Name of the DaemonSet, in the same namespace.' }),
    phase: z.string().meta({ description: '`status.phase`; empty before the first status.' }),
    reason: z.string().meta({ description: 'Reason of `Stalled` where that holds, else of `Progressing`; may be empty.' }),
    outcome: z.enum(outcomes),
    message: z.string().meta({ description: 'What it waits for, since when, on which nodes.' }),
    waitingFor: waitSchema.optional().meta({
      description: 'What the step under way waits for, without the step; absent where `message` is about anything else.',
    }),
    need: needSchema.optional().meta({ description: 'What a person has to decide; absent where nobody is waited for.' }),
    paused: z.boolean().meta({ description: '`spec.strategy.paused`.' }),
    disabled: z.boolean().meta({ description: '`spec.disabled`.' }),
    step: z
      .object({
        index: z.int().min(1).meta({ description: 'From 1.' }),
        count: count('Steps of the Rollout.'),
        state: z.string().meta({ description: 'StepUpgrade, StepPaused …' }),
        since: moment().optional().meta({ description: 'When that state was entered.' }),
      })
      .optional()
      .meta({ description: 'Absent before the first release.' }),
    stableRevision: z.string().optional(),
    canaryRevision: z.string().optional(),
    rollbackFrom: z.string().optional().meta({
      description:
        'Revision that the release under way takes back: it goes to `canaryRevision`, which ran before. Absent of any other release.',
    }),
    images: z
      .array(z.string())
      .meta({ description: 'Images of `canaryRevision`, containers in order; of the template of the DaemonSet where that is unknown.' }),
    nodes: nodeCountsSchema,
    maxUnavailable: count('Nodes that may be down at a time, in nodes.').optional(),
    notBound: z.string().optional().meta({
      description:
        'Why nothing of the DaemonSet is shown (images, nodes, zones): it is not bound to this Rollout, and the caller is not known to have the right to get it.',
    }),
    resourceVersion: z.string().meta({ description: 'Of the Rollout: what this was read from.' }),
  })
  .meta({ id: 'RolloutSummary' })
/** @see rolloutSummarySchema */
export type RolloutSummary = Frozen<z.infer<typeof rolloutSummarySchema>>

const stepReportSchema = z.object({
  index: z.int().min(1),
  replicas: z.string().meta({ description: 'As written: `10%`, `3`, or the selector of its nodes.' }),
  nodes: count('Cumulative size in nodes, as things stand.'),
  pause: z.string().optional().meta({ description: '`person`, or the seconds to wait as `600s`; absent: no pause.' }),
  state: z.enum(['done', 'current', 'ahead']),
})

/** One recorded action of a person or program. */
export const recordedActionSchema = z.object({
  id: z.string(),
  type: z.enum(actionTypes),
  by: z.string().meta({ description: 'User as the API server knows them; `hook:NAME` for a hook.' }),
  reason: z.string().optional(),
  at: moment(),
  via: z.enum(['rest', 'cli', 'hook']),
  from: z.string().optional().meta({ description: 'Address that the request came from.' }),
  expectedStep: z.int().optional(),
  revision: z.string().optional(),
  step: z.int().optional(),
  full: z.boolean().optional(),
  toRevision: z.string().optional(),
  trace: z.string().optional().meta({ description: 'Trace of the request, where traces are told: a traceparent of W3C Trace Context.' }),
})
/** What became of an action, as far as the status remembers it. */
const actionResultSchema = z.object({
  result: z.enum(['Accepted', 'Refused', 'Written']).optional().meta({
    description: 'Written: the write itself did it, as with a pause or an undo. Absent where it was not answered, or that is forgotten.',
  }),
  refusal: z.string().optional().meta({ description: 'Why it was refused.' }),
})
/** What became of an action, as far as the status remembers it. */
export type ActionResult = Frozen<z.infer<typeof actionResultSchema>>

/** @see recordedActionSchema */
export type RecordedAction = Frozen<z.infer<typeof recordedActionSchema>>

/** What can be done to a release by writing to its objects past us. `template` is another pod template. */
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

/** Longest reason that is kept of what was written past us, in characters. */
export const OBSERVED_REASON_MAX = 256

/** A change that was written past Tranche, and so is not on the record of actions. */
export const observedChangeSchema = z
  .object({
    id: z.string(),
    type: z.enum(observedChangeTypes),
    manager: z.string().optional().meta({
      description: 'Program that wrote it, as the API server names it (`managedFields`): no user. Absent where it names none.',
    }),
    at: moment().meta({ description: 'When the controller saw it.' }),
    step: z.int().optional().meta({ description: 'Step that was approved, or jumped to.' }),
    reason: z
      .string()
      .optional()
      .meta({
        description: `Why, as the annotation \`tranche.dev/action\` says, cut after ${OBSERVED_REASON_MAX} characters: nobody has checked who says it.`,
      }),
  })
  .meta({ id: 'ObservedChange' })
/** @see observedChangeSchema */
export type ObservedChange = Frozen<z.infer<typeof observedChangeSchema>>

/** A Rollout in full. */
export const rolloutReportSchema = rolloutSummarySchema
  .extend({
    steps: z.array(stepReportSchema),
    failure: failureSchema.optional(),
    heldRevisions: z.array(heldRevisionSchema),
    lastAction: lastActionSchema.optional(),
    actions: z.array(z.enum(actionTypes)).meta({ description: 'Actions that would be accepted now.' }),
    policy: z.string().optional().meta({ description: 'ReleasePolicy that it names.' }),
    zones: z.array(z.object({ zone: z.string(), states: z.partialRecord(z.enum(nodeStates), z.int()) })),
    skippedNodes: z.array(z.string()),
    conditions: z.array(
      z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string(), since: moment().optional() }),
    ),
  })
  .meta({ id: 'Rollout' })
/** @see rolloutReportSchema */
export type RolloutReport = Frozen<z.infer<typeof rolloutReportSchema>>

/** One node, as the release sees it. */
export const nodeReportSchema = z
  .object({
    name: z.string(),
    zone: z.string().meta({ description: 'Empty where nodes have none.' }),
    state: z.enum(nodeStates),
    role: z.enum(revisionRoles).meta({ description: 'What the revision of its pod is to the release.' }),
    revision: z.string().optional().meta({ description: 'controller-revision-hash of its pod.' }),
    pod: z.string().optional(),
    since: moment().optional().meta({ description: 'Since when it has been so, as far as the cluster tells.' }),
    failsAt: moment().optional().meta({ description: 'When the new version counts as failed on it, unless a pod is available by then.' }),
    batch: z.int().optional().meta({ description: 'Batch that updated it, from 1.' }),
    why: z.string().optional().meta({ description: 'Why its pod is not available, or why it was not updated.' }),
    restarts: z.int().optional(),
  })
  .meta({ id: 'Node' })
/** @see nodeReportSchema */
export type NodeReport = Frozen<z.infer<typeof nodeReportSchema>>

/** Why a node or a release stands where it stands: one rule that holds it, and the facts behind it. */
export const explanationSchema = z
  .object({
    subject: z.string().meta({ description: 'Node or Rollout that it is about.' }),
    answer: z.string().meta({ description: 'One sentence: why it is not updated, or what it waits for.' }),
    rule: z.string().meta({
      description: 'What decides it, in one word: Partition, Order, Budget, NotReady, Excluded, Spread, Step, Paused, Held, Failed …',
    }),
    facts: z.array(z.object({ name: z.string(), value: z.string() })).meta({ description: 'What the answer rests on, in order.' }),
    next: z.string().optional().meta({ description: 'What would change it.' }),
  })
  .meta({ id: 'Explanation' })
/** @see explanationSchema */
export type Explanation = Frozen<z.infer<typeof explanationSchema>>

/** One revision of a DaemonSet. */
export const revisionReportSchema = z
  .object({
    revision: z.string().meta({ description: 'controller-revision-hash.' }),
    number: z.int().meta({ description: 'As `kubectl rollout history` counts.' }),
    createdAt: moment(),
    role: z.enum(revisionRoles),
    held: z.boolean().meta({ description: 'It was taken back and is not released again by applying it again.' }),
    nodes: count('Desired nodes that run it.'),
    images: z.array(z.string()),
    changeCause: z.string().optional(),
  })
  .meta({ id: 'Revision' })
/** @see revisionReportSchema */
export type RevisionReport = Frozen<z.infer<typeof revisionReportSchema>>

/** One revision, with the pod template that it holds. */
export const revisionTemplateSchema = revisionReportSchema
  .extend({ template: z.record(z.string(), z.unknown()).meta({ description: 'Pod template, as its ControllerRevision holds it.' }) })
  .meta({ id: 'RevisionTemplate' })
/** @see revisionTemplateSchema */
export type RevisionTemplate = Frozen<z.infer<typeof revisionTemplateSchema>>

/** One batch of the release. */
export const batchReportSchema = z
  .object({
    index: z.int().min(1),
    nodes: count('Cumulative size in nodes.'),
    updated: count('Nodes that carry the label of this batch and run the canary revision.'),
    available: count('Of those, nodes whose pod is available.'),
    state: z.enum(['done', 'current', 'ahead']),
    startedAt: moment().optional(),
    readyAt: moment().optional(),
  })
  .meta({ id: 'Batch' })
/** @see batchReportSchema */
export type BatchReport = Frozen<z.infer<typeof batchReportSchema>>

/** One event of the cluster that is about a Rollout, its BatchRelease or its DaemonSet. */
export const eventReportSchema = z
  .object({
    at: moment(),
    type: z.enum(['Normal', 'Warning']),
    reason: z.string(),
    object: z.string().meta({ description: '`Kind/name`.' }),
    message: z.string(),
    count: z.int().optional(),
  })
  .meta({ id: 'Event' })
/** @see eventReportSchema */
export type EventReport = Frozen<z.infer<typeof eventReportSchema>>

const releaseReportSchema = z.object({
  revision: z.string().meta({ description: 'controller-revision-hash.' }),
  number: z
    .int()
    .optional()
    .meta({ description: 'Of the revision, as `kubectl rollout history` counts; absent once it is no longer in the history.' }),
  images: z.array(z.string()).meta({ description: 'Images of the revision; none once it is no longer in the history.' }),
  startedAt: moment(),
  endedAt: moment().optional().meta({ description: 'Absent while it runs.' }),
  result: z.enum([...releaseResults, ...outcomes]).meta({ description: 'How it ended; while it runs, what the Rollout comes to.' }),
  failure: z.string().optional().meta({ description: 'Why the version was taken to be bad.' }),
})
/** One release, and how it ended. */
export type ReleaseReport = Frozen<z.infer<typeof releaseReportSchema>>

/** What happened to a Rollout: its revisions, its releases, what was rolled back, and who asked for what. */
export const historyReportSchema = z
  .object({
    revisions: z.array(revisionReportSchema).meta({ description: 'Newest first.' }),
    heldRevisions: z.array(heldRevisionSchema),
    releases: z.array(releaseReportSchema).optional().meta({ description: 'The latest releases, newest first, at most ten.' }),
    actions: z.array(recordedActionSchema.extend(actionResultSchema.shape)).meta({ description: 'Newest first, at most sixteen.' }),
    seenActions: z.array(observedChangeSchema).meta({ description: 'What was written past us; newest first, at most sixteen.' }),
    rolloutHidden: z.boolean().optional().meta({
      description: 'Of a DaemonSet: true where it names a Rollout that the caller may not get; what stands on that is left out.',
    }),
  })
  .meta({ id: 'History' })
/** @see historyReportSchema */
export type HistoryReport = Frozen<z.infer<typeof historyReportSchema>>
