import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { actionTypes } from './action.ts'
import { count, moment } from './fields.ts'

/**
 * Outcome of a Rollout. `Done`: every node that can be updated is on the requested version. `Failed`: the version is bad, and its release,
 * or a new release of it, is stopped. `RolledBack`: the version was rolled back, and every node that can be is on the previous version.
 * `Blocked`: the Rollout cannot continue until a user fixes its spec, its policy or the cluster. `Waiting`: a person has to decide.
 * `Running`: it continues by itself. `tranche status` has an exit code for each.
 */
export const outcomes = ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'] as const
/** @see outcomes */
export type Outcome = (typeof outcomes)[number]

const needSchema = z.object({
  reason: z.string().meta({ description: 'Reason in one word, such as StepPaused, Paused, ReleaseFailed or PolicyNotFound.' }),
  message: z.string().meta({ description: 'Human-readable explanation.' }),
  since: moment().optional().meta({ description: 'Time when the wait began.' }),
  actions: z.array(z.enum(actionTypes)).meta({ description: 'Actions that would resolve it now.' }),
})
/** Decision that a release waits for. */
export type Need = Frozen<z.infer<typeof needSchema>>

const waitSchema = z.object({
  reason: z.string().meta({ description: 'Reason in one word, such as NotAvailable, Upgrading, BudgetUsedUp or Soak.' }),
  message: z.string().meta({ description: 'Human-readable description of what the release waits for.' }),
  since: moment().optional().meta({ description: 'Time when the wait began.' }),
  nodes: z.array(z.string()).meta({ description: 'Nodes that it waits for, at most 50.' }),
})

const nodeCountsSchema = z.object({
  desired: count('Nodes that should run the DaemonSet.'),
  updated: count('Desired nodes whose pod is on the canary revision.'),
  updatedAvailable: count('Updated nodes whose pod is available.'),
  unavailable: count('Desired nodes without an available pod.'),
  failed: count('Nodes on which the new version failed.'),
  leaked: count('Nodes that got the new version outside the release.'),
  skipped: count('Skipped nodes: NotReady, in maintenance, or excluded by the policy.'),
  dead: count('Dead nodes: lost before their update, and updated on return. Absent in answers of older versions.').optional(),
  exempt: count('Dead nodes that do not count for `maxUnavailable`: all of them, or none. Absent in answers of older versions.').optional(),
})

const remainingSchema = z.object({
  of: z.enum(['pause', 'soak', 'settling', 'batch']).meta({
    description:
      'pause: a timed pause. soak: the soak time of a step. settling: the final soak time of the release. batch: the current batch; ' +
      'its end is an estimate from its speed so far.',
  }),
  until: moment().meta({
    description: 'End time. In the past if the controller has not acted on it yet, or if the estimate was too short.',
  }),
})

/** Summary of a Rollout. */
export const rolloutSummarySchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    daemonSet: z.string().meta({ description: 'Name of the DaemonSet, in the same namespace.' }),
    phase: z.string().meta({ description: '`status.phase`; empty before the first status.' }),
    reason: z.string().meta({ description: 'Reason of the condition `Stalled` if it is True, else of `Progressing`; may be empty.' }),
    outcome: z.enum(outcomes),
    message: z.string().meta({ description: 'What the Rollout waits for, since when, and on which nodes.' }),
    waitingFor: waitSchema.optional().meta({
      description: 'What the current step waits for, without the step itself. Absent if `message` is about something else.',
    }),
    need: needSchema.optional().meta({ description: 'Decision that the release waits for. Absent if it does not wait for a person.' }),
    paused: z.boolean().meta({ description: '`spec.strategy.paused`.' }),
    disabled: z.boolean().meta({ description: '`spec.disabled`.' }),
    step: z
      .object({
        index: z.int().min(1).meta({ description: 'Current step, from 1.' }),
        count: count('Number of steps of the Rollout.'),
        state: z.string().meta({ description: 'State of the step, such as StepUpgrade or StepPaused.' }),
        since: moment().optional().meta({ description: 'Time when the step entered this state.' }),
      })
      .optional()
      .meta({ description: 'Current step. Absent before the first release.' }),
    stableRevision: z.string().optional(),
    canaryRevision: z.string().optional(),
    rollbackFrom: z.string().optional().meta({
      description:
        'Revision that the current release rolls back; it rolls back to `canaryRevision`. Absent if the release is not a rollback.',
    }),
    images: z
      .array(z.string())
      .meta({ description: 'Images of `canaryRevision` in container order. If that revision is unknown, images of the current template.' }),
    stableImages: z
      .array(z.string())
      .optional()
      .meta({ description: 'Images of `stableRevision` in container order. Absent if that revision is no longer in the history.' }),
    nodes: nodeCountsSchema,
    maxUnavailable: count('Maximum number of nodes that may be unavailable at a time.').optional(),
    notBound: z.string().optional().meta({
      description:
        'Why the images, nodes and zones of the DaemonSet are hidden: it is not bound to this Rollout, and the caller may not have the right to get it.',
    }),
    createdAt: moment().meta({ description: 'Creation time of the Rollout.' }),
    releaseStartedAt: moment().optional().meta({
      description: 'Start time of the running release; of a rollback, start of the release that it rolls back. Absent if none runs.',
    }),
    remaining: remainingSchema.optional().meta({
      description: 'Wait that ends by itself, and its end. Absent if a person has to decide, or if the end is unknown.',
    }),
    resourceVersion: z.string().meta({ description: 'resourceVersion of the Rollout that this summary was read from.' }),
  })
  .meta({ id: 'RolloutSummary' })
/** @see rolloutSummarySchema */
export type RolloutSummary = Frozen<z.infer<typeof rolloutSummarySchema>>
