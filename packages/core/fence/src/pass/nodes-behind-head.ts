import type { NodeView } from '@tranche/fleet'
import { sizeWithout } from './budget.ts'
import { type FenceState, isTakeable, isUnsettled, permittedNodes, standingPermits } from './fence-state.ts'

/**
 * Nodes with a broken old pod that may be taken and has no permit before the first standing one, which waits because of them. Where D alone
 * uses up the limit, only nodes of D count. Whether they are prepared, or a check keeps them from a permit, does not matter. See L18.
 */
export function nodesBehindHead(fence: FenceState): readonly NodeView[] {
  const head = standingPermits(fence)[0]
  if (head?.pod?.ready !== true) return []
  const inFront = fence.permits.slice(0, fence.permits.indexOf(head))
  const taken = new Set(inFront.filter(isUnsettled).map(({ permit }) => permit.node))
  const isFull = sizeWithout(taken, head.permit.node) >= fence.record.limit
  const placed = permittedNodes([head, ...inFront, ...fence.permits.filter(({ isSent }) => isSent)])
  return fence.tally.broken.filter(({ name }) => isTakeable(fence, name) && !placed.has(name) && (!isFull || taken.has(name)))
}
