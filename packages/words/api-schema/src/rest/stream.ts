import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { eventReportSchema } from './event-report.ts'
import { nodeReportSchema } from './node-report.ts'
import { rolloutSummarySchema } from './summary.ts'

/**
 * Message of a stream, one JSON object per `data:`. `reset`: the client discards its state; every visible Rollout follows. `rollout`: current
 * state of a Rollout. `gone`: the Rollout was deleted, or is no longer visible to the caller. `event`: a Kubernetes event about a Rollout.
 * `nodes`: nodes of the Rollout in the query `nodes`.
 */
export const streamMessageSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('reset') }),
    z.object({ type: z.literal('rollout'), rollout: rolloutSummarySchema }),
    z.object({ type: z.literal('gone'), namespace: z.string(), name: z.string() }),
    z.object({ type: z.literal('event'), namespace: z.string(), event: eventReportSchema }),
    z.object({
      type: z.literal('nodes'),
      namespace: z.string().meta({ description: 'Namespace of the Rollout.' }),
      name: z.string().meta({ description: 'Name of the Rollout.' }),
      reset: z.boolean().meta({ description: 'Whether the client discards the nodes that it has.' }),
      nodes: z.array(nodeReportSchema).meta({ description: 'Nodes that are new or have changed, by name.' }),
      gone: z.array(z.string()).meta({ description: 'Names of nodes that are no longer desired.' }),
      more: z.boolean().optional().meta({
        description: 'True if the state is incomplete, and the next message of this type follows at once. Sent with large states.',
      }),
    }),
  ])
  .meta({ id: 'StreamMessage' })
/** @see streamMessageSchema */
export type StreamMessage = Frozen<z.infer<typeof streamMessageSchema>>

/** Namespace and name of a Rollout, with a slash between. */
const NODES_PATTERN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

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
  nodes: z.string().max(507).regex(NODES_PATTERN, 'it is the namespace and name of a Rollout, such as demo/agent').optional().meta({
    description:
      'Also the nodes of this Rollout, as `NAMESPACE/NAME`, whatever the other filters are. The caller must be allowed to get it.',
  }),
  lastEventId: z
    .string()
    .max(400)
    .optional()
    .meta({ description: 'Same as the header `Last-Event-ID`, for clients that cannot set headers.' }),
})

/** @see streamQuerySchema */
export type StreamQuery = Frozen<z.infer<typeof streamQuerySchema>>

/** Header from which a stream resumes. */
export const lastEventHeadersSchema = z.object({
  'last-event-id': z.string().max(400).optional().meta({ description: 'Id of the last event that the client received.' }),
})
