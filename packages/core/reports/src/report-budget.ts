import type { RolloutReport } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { exemptNodes, hasOldPod, nodesInFlight, tallyNodes } from '@tranche/fence'
import { stateQuestion } from './node-state.ts'
import { isReleaseUnderWay, type Outline, permitsOf } from './outline.ts'

/**
 * Which nodes use up the budget. Every desired node without an available pod counts in exactly one of `ours`, `others` and `unreachable`.
 * `dead` is a part of `unreachable`, and `exempt` is `dead` or 0.
 */
export function reportBudget(outline: Outline, limit: number): NonNullable<RolloutReport['budget']> {
  const { facts, fleet, canary, minReadyMs, replaced: stable, former } = outline
  const { unavailable } = tallyNodes(fleet, { revision: canary, minReadyMs, monotonicMs: facts.monotonicMs })
  const counts = { ours: 0, others: 0, unreachable: 0 }
  for (const node of unavailable) counts[userOf(node, outline)] += 1
  const { rules } = stateQuestion(outline).scope
  const { desired } = fleet
  const inFlight = nodesInFlight(permitsOf(outline), fleet)
  const { names, dead } = exemptNodes({
    unavailable,
    revisions: { canary, stable, former },
    inFlight,
    rules,
    desired,
    monotonicMs: facts.monotonicMs,
  })
  return { limit, ...counts, dead: dead.length, exempt: names.size }
}

/** Without a release nothing is updated, whatever revision a pod has. */
function userOf(node: NodeView, { facts, canary }: Outline): 'ours' | 'others' | 'unreachable' {
  if (!node.ready || node.maintenance !== undefined) return 'unreachable'
  return hasOldPod(node, canary) || !isReleaseUnderWay(facts.rollout) ? 'others' : 'ours'
}
