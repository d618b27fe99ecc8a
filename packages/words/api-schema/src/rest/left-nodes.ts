import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { count } from './fields.ts'
import { budgetUses, GROUPED_NODES_MAX, leftCauses } from './left-words.ts'

/** Nodes that a release leaves for now, for one common cause. */
export const leftNodesSchema = z.object({
  cause: z.enum(leftCauses),
  count: count('Number of these nodes.'),
  nodes: z.array(z.string()).meta({ description: `Their names, at most ${GROUPED_NODES_MAX}.` }),
  message: z.string().meta({ description: 'Their number, why they are left, and since when, with the first names.' }),
  next: z.string().meta({ description: 'Event that ends it.' }),
})
/** @see leftNodesSchema */
export type LeftNodes = Frozen<z.infer<typeof leftNodesSchema>>

/** Nodes that use the budget in one way. */
export const budgetUserSchema = z.object({
  use: z.enum(budgetUses),
  count: count('Number of these nodes.'),
  nodes: z.array(z.string()).meta({ description: `Their names, at most ${GROUPED_NODES_MAX}.` }),
})
/** @see budgetUserSchema */
export type BudgetUser = Frozen<z.infer<typeof budgetUserSchema>>
