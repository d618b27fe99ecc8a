import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { pageQuerySchema } from './paging.ts'
import { nodeStates } from './node-report.ts'
import { outcomes } from './summary.ts'

/** Sort keys of Rollouts. Equal Rollouts are sorted by namespace and name. */
export const rolloutSortKeys = ['name', 'namespace', 'phase', 'outcome', 'updated'] as const

/** Filter and order of a list of Rollouts. */
export const rolloutsQuerySchema = pageQuerySchema.strict().extend({
  namespace: z.string().max(253).optional().meta({ description: 'Only Rollouts in this namespace.' }),
  phase: z.string().max(63).optional().meta({ description: 'Only Rollouts in this phase, such as Healthy or Progressing.' }),
  outcome: z.enum(outcomes).optional().meta({ description: 'Only Rollouts with this outcome.' }),
  need: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only Rollouts that wait for a person; `false`: only Rollouts that do not.' }),
  q: z.string().max(253).optional().meta({ description: 'Only Rollouts with this text in their namespace, name, DaemonSet or image.' }),
  sort: z
    .enum(rolloutSortKeys)
    .default('namespace')
    .meta({ description: 'Sort key; `updated` is the fraction of nodes on the new version.' }),
  order: z.enum(['asc', 'desc']).default('asc'),
})
/** @see rolloutsQuerySchema */
export type RolloutsQuery = Frozen<z.infer<typeof rolloutsQuerySchema>>

/** Filter of a list of nodes, which is sorted by name. */
export const nodesQuerySchema = pageQuerySchema.strict().extend({
  state: z.enum(nodeStates).optional().meta({ description: 'Only nodes in this state.' }),
  zone: z.string().max(253).optional().meta({ description: 'Only nodes in this zone; empty: only nodes without a zone.' }),
  batch: z.coerce.number().int().min(1).optional().meta({ description: 'Only nodes that this batch updated, from 1.' }),
})
/** @see nodesQuerySchema */
export type NodesQuery = Frozen<z.infer<typeof nodesQuerySchema>>

/** How long a request waits for the answer to its action. */
export const waitQuerySchema = z.strictObject({
  wait: z.coerce.number().int().min(0).max(60).default(0).meta({
    description: 'Seconds to wait for the controller to act on the action, at most 60. The answer is 200 if it did, else 202.',
  }),
})

/** Idempotency key: an action that is sent twice is carried out once. */
export const idempotencyHeadersSchema = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'Identifies an action of a user. A repeated key gets the same answer and writes nothing.' }),
})
