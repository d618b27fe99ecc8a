/**
 * Why a release leaves a node for now, in the order of display. `Dead`: lost before its update. `Maintenance`: a condition takes it out of
 * service. `NotReady`: not Ready, and not dead, or not yet. `Blocked`: a check keeps its old pod. `Due`: it is back, and next. `Failed`: the new
 * version failed there, which is tolerated or was accepted by a retry. `Lost`: it went away during its update or after it. `Starting`: its
 * new pod is not available. `Excluded`: by the policy, whatever else applies.
 */
export const leftCauses = ['Dead', 'Maintenance', 'NotReady', 'Blocked', 'Due', 'Failed', 'Lost', 'Starting', 'Excluded'] as const
/** @see leftCauses */
export type LeftCause = (typeof leftCauses)[number]

/** Maximum number of names in a group of nodes. */
export const GROUPED_NODES_MAX = 10

/**
 * How a node uses the budget. `InFlight`: its pod is being replaced. `Updated`: its new pod is not available. `Old`: its old pod is not
 * available. `Excluded`: the same, and the policy excludes it. `Away`: it is NotReady or in maintenance, and not dead. `Dead`: more nodes are
 * dead than the policy exempts.
 */
export const budgetUses = ['InFlight', 'Updated', 'Old', 'Excluded', 'Away', 'Dead'] as const
/** @see budgetUses */
export type BudgetUse = (typeof budgetUses)[number]
