import type { NodeView } from '@tranche/fleet'
import { isOld } from '../nodes/old-nodes.ts'
import { budgetIn } from './budget.ts'
import { toTrackedPermit } from './choose-candidates.ts'
import { type FenceState, isTakeable, permittedNodes, standingPermits } from './fence-state.ts'

/**
 * Nodes with a broken old pod that has no permit before the first standing one, which waits because of them. They could be deleted if the
 * standing permits gave way. Whether they are prepared, or a check keeps them from a permit, does not matter. See L18.
 */
export function nodesBehindHead(fence: FenceState): readonly NodeView[] {
  const head = standingPermits(fence)[0]
  if (head?.pod?.ready !== true || fence.tally.broken.length === 0) return []
  const inFront = fence.permits.slice(0, fence.permits.indexOf(head))
  const placed = permittedNodes([head, ...inFront, ...fence.permits.filter(({ isSent }) => isSent)])
  return nodesThatWouldFit(
    fence,
    fence.tally.broken.filter(({ name }) => !placed.has(name)),
  )
}

/** Those of `nodes` whose old pod may be taken, and fits the budget where no standing permit reserves any. */
export function nodesThatWouldFit(fence: FenceState, nodes: readonly NodeView[]): readonly NodeView[] {
  const budget = budgetIn(fence)
  for (const tracked of fence.permits) if (tracked.state !== 'standing' || tracked.isSent) budget.reserve(tracked)
  return nodes.filter((node) => {
    const pod = node.pods.find((one) => isOld(one, fence.record.revision))
    return pod !== undefined && isTakeable(fence, node.name) && budget.fitsBudget(toTrackedPermit({ node, pod }))
  })
}
