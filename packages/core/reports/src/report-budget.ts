import type { RolloutReport } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { exemptNodes, hasOldPod, tallyNodes } from '@tranche/fence'
import { stateQuestion } from './node-state.ts'
import { isReleaseUnderWay, type Outline, nodesWithPermit } from './outline.ts'

/**
 * Which nodes use up the budget. Every desired node without an available pod counts in exactly one of `ours`, `others` and `unreachable`.
 * `exempt` is the part of `unreachable` that the policy does not count.
 */
export function reportBudget(outline: Outline, limit: number): NonNullable<RolloutReport['budget']> {
  const { facts, fleet, canary, minReadyMs, replaced: stable, left } = outline
  const { unavailable } = tallyNodes(fleet, { revision: canary, minReadyMs, monotonicMs: facts.monotonicMs })
  const counts = { ours: 0, others: 0, unreachable: 0 }
  for (const node of unavailable) counts[userOf(node, outline)] += 1
  const { rules } = stateQuestion(outline).scope
  const { desired } = fleet
  const permitted = new Set(nodesWithPermit(outline))
  const { names } = exemptNodes({
    unavailable,
    revisions: { canary, stable, left },
    permitted,
    rules,
    desired,
    monotonicMs: facts.monotonicMs,
  })
  return { limit, ...counts, exempt: names.size }
}

/** Without a release nothing is updated, whatever revision a pod has. */
function userOf(node: NodeView, { facts, canary }: Outline): 'ours' | 'others' | 'unreachable' {
  if (!node.ready || node.maintenance !== undefined) return 'unreachable'
  return hasOldPod(node, canary) || !isReleaseUnderWay(facts.rollout) ? 'others' : 'ours'
}
