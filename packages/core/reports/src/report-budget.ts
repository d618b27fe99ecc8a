import type { RolloutReport } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { hasOldPod } from '@tranche/fence'
import { exemptionIn, isOutOfReach } from './node-budgets.ts'
import { isReleaseUnderWay, type Outline } from './outline.ts'

/**
 * Which nodes use up the budget. Every desired node without an available pod counts in exactly one of `ours`, `others` and `unreachable`.
 * `dead` is a part of `unreachable`, and `exempt` is `dead` or 0.
 */
export function reportBudget(outline: Outline, limit: number): NonNullable<RolloutReport['budget']> {
  const { question, exemption } = exemptionIn(outline)
  const counts = { ours: 0, others: 0, unreachable: 0 }
  for (const node of question.unavailable) counts[userOf(node, outline)] += 1
  return { limit, ...counts, dead: exemption.dead.length, exempt: exemption.names.size }
}

/** Without a release nothing is updated, whatever revision a pod has. */
function userOf(node: NodeView, { facts, canary }: Outline): 'ours' | 'others' | 'unreachable' {
  if (isOutOfReach(node)) return 'unreachable'
  return hasOldPod(node, canary) || !isReleaseUnderWay(facts.rollout) ? 'others' : 'ours'
}
