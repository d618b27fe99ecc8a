import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { eventReportSchema } from './report.ts'
import { rolloutSummarySchema } from './summary.ts'

/**
 * Message of a stream, one JSON object per `data:`. `reset`: the client discards its state; every visible Rollout follows. `rollout`: current
 * state of a Rollout. `gone`: the Rollout was deleted, or is no longer visible to the caller. `event`: a Kubernetes event about a Rollout.
 */
export const streamMessageSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('reset') }),
    z.object({ type: z.literal('rollout'), rollout: rolloutSummarySchema }),
    z.object({ type: z.literal('gone'), namespace: z.string(), name: z.string() }),
    z.object({ type: z.literal('event'), namespace: z.string(), event: eventReportSchema }),
  ])
  .meta({ id: 'StreamMessage' })
/** @see streamMessageSchema */
export type StreamMessage = Frozen<z.infer<typeof streamMessageSchema>>

/** Filter of a stream. Without one, the stream has every Rollout that the caller may list. */
export const streamQuerySchema = z.strictObject({
  namespace: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .meta({ description: 'Only Rollouts in this namespace. The caller must be allowed to list them.' }),
  name: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .meta({ description: 'Only this Rollout in the namespace. The caller must be allowed to get it.' }),
  lastEventId: z
    .string()
    .max(400)
    .optional()
    .meta({ description: 'Same as the header `Last-Event-ID`, for clients that cannot set headers.' }),
})

/** Header from which a stream resumes. */
export const lastEventHeadersSchema = z.object({
  'last-event-id': z.string().max(400).optional().meta({ description: 'Id of the last event that the client received.' }),
})
