import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { eventReportSchema, rolloutSummarySchema } from './report.ts'

/**
 * What a stream sends, one JSON object per `data:`. `reset`: forget what was sent before, everything that may be seen follows. `rollout`:
 * how a Rollout stands now. `gone`: it was deleted, or may no longer be seen. `event`: an event of the cluster about one.
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

/** What a stream is about; without anything: every Rollout that the caller may list. */
export const streamQuerySchema = z.strictObject({
  namespace: z.string().min(1).max(253).optional().meta({ description: 'Only of this namespace; the caller must be allowed to list it.' }),
  name: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .meta({ description: 'Only this Rollout of the namespace; the caller must be allowed to get it.' }),
  lastEventId: z.string().max(400).optional().meta({ description: 'As the header `Last-Event-ID`, for clients that cannot set it.' }),
})

/** Where a stream goes on. */
export const lastEventHeadersSchema = z.object({
  'last-event-id': z.string().max(400).optional().meta({ description: 'Id of the last event that was received.' }),
})
