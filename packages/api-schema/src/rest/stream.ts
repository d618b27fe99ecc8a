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
