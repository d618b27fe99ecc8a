import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** Actions of the REST API and the command line. Each is also the verb that the caller needs on `rollouts`. */
export const actionTypes = ['pause', 'resume', 'approve', 'promote', 'abort', 'retry', 'undo', 'jump', 'restart'] as const
/** @see actionTypes */
export type ActionType = (typeof actionTypes)[number]

/** Maximum length of a reason, in characters. */
export const REASON_MAX = 1_024
/** Maximum number of recorded actions per object. The oldest is dropped first. */
export const RECORDED_ACTIONS_MAX = 16

/** Body of an action. Unknown fields are rejected, because a misspelt `expectedStep` would not guard anything. */
export const actionBodySchema = z
  .strictObject({
    reason: z.string().max(REASON_MAX).optional().meta({ description: 'Reason; kept on record.' }),
    expectedStep: z.int().min(1).optional().meta({
      description: 'Step, from 1, that the action is meant for. At any other step the answer is 409. Required for `approve` and `jump`.',
    }),
    revision: z.string().min(1).max(253).optional().meta({
      description:
        'Canary revision that the action is meant for; for `undo`, the revision of the current template. For any other revision the answer is 409.',
    }),
    step: z.int().min(1).optional().meta({ description: 'Step to go to, from 1. Required for `jump`; not allowed for other actions.' }),
    full: z.boolean().optional().meta({ description: 'Whether soak and analysis are skipped too. Only for `promote`.' }),
    toRevision: z.string().min(1).max(253).optional().meta({
      description:
        'Number or controller-revision-hash to roll back to. Only for `undo`. Default: the newest previous revision that is not blocked.',
    }),
  })
  .meta({ id: 'Action' })
/** @see actionBodySchema */
export type ActionBody = Frozen<z.infer<typeof actionBodySchema>>

/** Answer to an action. `accepted`: written, but the controller has not answered yet (202). `acknowledged`: the controller acted on it (200). */
export const actionAnswerSchema = z
  .object({
    id: z.string().meta({ description: 'Id of the action, on record and in the answer of the controller.' }),
    type: z.enum(actionTypes),
    state: z.enum(['accepted', 'acknowledged']),
    message: z.string().meta({ description: 'Human-readable result, or what the action waits for.' }),
    repeated: z
      .boolean()
      .meta({ description: 'Whether the same `Idempotency-Key` was answered before. If so, nothing was written again.' }),
  })
  .meta({ id: 'ActionAnswer' })
/** @see actionAnswerSchema */
export type ActionAnswer = Frozen<z.infer<typeof actionAnswerSchema>>

/** Body of a rollback of a DaemonSet: the revision to roll back to. */
export const daemonSetRollbackSchema = z
  .strictObject({
    toRevision: actionBodySchema.shape.toRevision.meta({
      description: 'Number or controller-revision-hash to roll back to. Default: the newest previous revision that is not blocked.',
    }),
    revision: actionBodySchema.shape.revision.meta({
      description: 'Expected revision of the current template. If the DaemonSet has another one, the answer is 409.',
    }),
    reason: actionBodySchema.shape.reason.meta({ description: 'Reason; kept on record.' }),
    dryRun: z.boolean().optional().meta({ description: 'Whether to only report what would be done, without doing it.' }),
  })
  .meta({ id: 'DaemonSetRollback' })
