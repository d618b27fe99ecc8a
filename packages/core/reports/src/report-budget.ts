import type { BudgetUser, RolloutReport } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { hasOldPod } from '@tranche/fence'
import { budgetUsers } from '@tranche/planner'
import { exemptionIn, isOutOfReach } from './node-budgets.ts'
import { isReleaseUnderWay, type Outline, permitsOf, progressOf } from './outline.ts'

/**
 * Which nodes use up the budget. Every desired node without an available pod counts in exactly one of `ours`, `others` and `unreachable`.
 * `dead` is a part of `unreachable`, and `exempt` is `dead` or 0.
 */
export function reportBudget(outline: Outline, limit: number): NonNullable<RolloutReport['budget']> {
  const { question, exemption } = exemptionIn(outline)
  const counts = { ours: 0, others: 0, unreachable: 0 }
  for (const node of question.unavailable) counts[userOf(node, outline)] += 1
  const { dead, names, most } = exemption
  return { limit, ...counts, dead: dead.length, exempt: names.size, exemptLimit: most, ...usersIn(outline) }
}

/** Only a release uses the budget. */
function usersIn(outline: Outline): Pick<NonNullable<RolloutReport['budget']>, 'users'> {
  return isReleaseUnderWay(outline.facts.rollout) ? { users: budgetUsersIn(outline, progressOf(outline).unavailable) } : {}
}

/** @param names nodes that count @returns how they use the budget */
export function budgetUsersIn(outline: Outline, names: readonly string[]): readonly BudgetUser[] {
  return budgetUsers(names, {
    fleet: outline.fleet,
    progress: progressOf(outline),
    revision: outline.canary,
    permits: permitsOf(outline),
  })
}

/** Without a release nothing is updated, whatever revision a pod has. */
function userOf(node: NodeView, { facts, canary }: Outline): 'ours' | 'others' | 'unreachable' {
  if (isOutOfReach(node)) return 'unreachable'
  return hasOldPod(node, canary) || !isReleaseUnderWay(facts.rollout) ? 'others' : 'ours'
}
