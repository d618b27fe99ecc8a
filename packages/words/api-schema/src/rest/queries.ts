import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { pageQuerySchema } from './paging.ts'
import { nodeStates, outcomes } from './report.ts'

/** By what Rollouts can be sorted; equals stand by namespace and name. */
export const rolloutSortKeys = ['name', 'namespace', 'phase', 'outcome', 'updated'] as const

/** Which Rollouts, in which order. */
export const rolloutsQuerySchema = pageQuerySchema.strict().extend({
  namespace: z.string().max(253).optional().meta({ description: 'Only of this namespace.' }),
  phase: z.string().max(63).optional().meta({ description: 'Only in this phase: Healthy, Progressing …' }),
  outcome: z.enum(outcomes).optional().meta({ description: 'Only those that come to this.' }),
  need: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only those that wait for a person; `false`: only those that do not.' }),
  q: z.string().max(253).optional().meta({ description: 'Only those with this text in namespace, name, DaemonSet or image.' }),
  sort: z.enum(rolloutSortKeys).default('namespace').meta({ description: 'By what; `updated` is the share of nodes on the new version.' }),
  order: z.enum(['asc', 'desc']).default('asc'),
})
/** @see rolloutsQuerySchema */
export type RolloutsQuery = Frozen<z.infer<typeof rolloutsQuerySchema>>

/** Which nodes, by name. */
export const nodesQuerySchema = pageQuerySchema.strict().extend({
  state: z.enum(nodeStates).optional().meta({ description: 'Only in this state.' }),
  zone: z.string().max(253).optional().meta({ description: 'Only of this zone; empty: of none.' }),
  batch: z.coerce.number().int().min(1).optional().meta({ description: 'Only those that this batch updated, from 1.' }),
})
/** @see nodesQuerySchema */
export type NodesQuery = Frozen<z.infer<typeof nodesQuerySchema>>

/** How long a request waits for the answer to its action. */
export const waitQuerySchema = z.strictObject({
  wait: z.coerce.number().int().min(0).max(60).default(0).meta({
    description: 'Seconds to wait until the controller has acted on the action: then 200, else 202. At most 60.',
  }),
})

/** A key by which an action that is sent twice is carried out once. */
export const idempotencyHeadersSchema = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'The same key by the same user is the same action: sent again, it gets the same answer and writes nothing.' }),
})
