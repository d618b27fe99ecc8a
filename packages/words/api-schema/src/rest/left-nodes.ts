import { z } from 'zod'
import type { Frozen } from '../fields.ts'
import { count } from './fields.ts'

/**
 * Why a release leaves a node for now, in the order of display. `Dead`: lost before its update. `Maintenance`: a condition takes it out of
 * service. `NotReady`: not Ready, and not dead, or not yet. `Held`: a check keeps its old pod. `Due`: it is back, and next. `Failed`: the new
 * version failed there, which is tolerated. `Lost`: it went away during its update or after it. `Starting`: its new pod is not available.
 * `Excluded`: by the policy, whatever else applies.
 */
export const leftCauses = ['Dead', 'Maintenance', 'NotReady', 'Held', 'Due', 'Failed', 'Lost', 'Starting', 'Excluded'] as const
/** @see leftCauses */
export type LeftCause = (typeof leftCauses)[number]

/** Maximum number of names in a group of nodes. */
export const GROUPED_NODES_MAX = 10

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

/**
 * How a node uses the budget. `InFlight`: its pod is being replaced. `Updated`: its new pod is not available. `Old`: its old pod is not
 * available. `Away`: it is NotReady or in maintenance, and not dead. `Dead`: more nodes are dead than the policy exempts.
 */
export const budgetUses = ['InFlight', 'Updated', 'Old', 'Away', 'Dead'] as const
/** @see budgetUses */
export type BudgetUse = (typeof budgetUses)[number]

/** Nodes that use the budget in one way. */
export const budgetUserSchema = z.object({
  use: z.enum(budgetUses),
  count: count('Number of these nodes.'),
  nodes: z.array(z.string()).meta({ description: `Their names, at most ${GROUPED_NODES_MAX}.` }),
})
/** @see budgetUserSchema */
export type BudgetUser = Frozen<z.infer<typeof budgetUserSchema>>
