import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** What can be asked of a release, over REST and from the command line. Each is also the verb that a caller needs on `rollouts`. */
export const actionTypes = ['pause', 'resume', 'approve', 'promote', 'abort', 'retry', 'undo', 'jump', 'restart'] as const
/** @see actionTypes */
export type ActionType = (typeof actionTypes)[number]

/** The most characters of a reason. */
export const REASON_MAX = 1_024
/** The most recorded actions that an object carries: the oldest goes first. */
export const RECORDED_ACTIONS_MAX = 16

/** Body of an action. Strict: a misspelt `expectedStep` would be no guard. */
export const actionBodySchema = z
  .strictObject({
    reason: z.string().max(REASON_MAX).optional().meta({ description: 'Why; stands on the record.' }),
    expectedStep: z.int().min(1).optional().meta({
      description: 'Step, from 1, for which the action is meant; at another it is a 409. `approve` and `jump` need it.',
    }),
    revision: z.string().min(1).max(253).optional().meta({
      description:
        'Canary revision for which the action is meant; of an `undo` that of the present template, with a release or without. For another it is a 409.',
    }),
    step: z.int().min(1).optional().meta({ description: 'Step to go to; only for `jump`, which needs it.' }),
    full: z.boolean().optional().meta({ description: 'Skips soak and analysis too; only for `promote`.' }),
    toRevision: z.string().min(1).max(253).optional().meta({
      description:
        'Number or controller-revision-hash to go back to; only for `undo`. Else the newest before the present one that is not held.',
    }),
  })
  .meta({ id: 'Action' })
/** @see actionBodySchema */
export type ActionBody = Frozen<z.infer<typeof actionBodySchema>>

/** Answer to an action. `accepted`: it is written, without an answer of the controller yet (202). `acknowledged`: the controller has acted on it (200). */
export const actionAnswerSchema = z
  .object({
    id: z.string().meta({ description: 'Under which it is recorded and answered.' }),
    type: z.enum(actionTypes),
    state: z.enum(['accepted', 'acknowledged']),
    message: z.string().meta({ description: 'What was done, or what is waited for.' }),
    repeated: z.boolean().meta({ description: 'The same `Idempotency-Key` was answered before; nothing was written again.' }),
  })
  .meta({ id: 'ActionAnswer' })
/** @see actionAnswerSchema */
export type ActionAnswer = Frozen<z.infer<typeof actionAnswerSchema>>

/** Which revision a DaemonSet goes back to. */
export const daemonSetRollbackSchema = z
  .strictObject({
    toRevision: actionBodySchema.shape.toRevision.meta({
      description: 'Number or controller-revision-hash to go back to; without it the newest before the present one that is not held.',
    }),
    revision: actionBodySchema.shape.revision.meta({ description: 'Revision of the template that it has; with another it is a 409.' }),
    reason: actionBodySchema.shape.reason.meta({ description: 'Why; stands on the record.' }),
    dryRun: z.boolean().optional().meta({ description: 'Says what would be done, and does nothing.' }),
  })
  .meta({ id: 'DaemonSetRollback' })
