import { isOld } from '../nodes/old-nodes.ts'
import { budgetIn } from './budget.ts'
import { type TrackedPermit, isTakeable, type FenceState } from './fence-state.ts'

/**
 * F4: the permits that may be executed now. One walk in record order: earlier permits reserve budget first (G2; see L4, L5).
 * Beyond the limit, the first standing permit may still be used on the node of the last permit in flight (L6). When the limit
 * falls, F10 withdraws every unused permit (L9). Spread rules: L20.
 */
export function executablePermits(fence: FenceState): readonly TrackedPermit[] {
  const budget = budgetIn(fence)
  return fence.permits.filter((tracked) => {
    const isExecutable = isReadyToGo(fence, tracked) && budget.fitsBudget(tracked)
    budget.reserve(tracked)
    return isExecutable
  })
}

/** Whether a permit is standing, not sent yet, and still wanted. */
export function isReadyToGo(fence: FenceState, tracked: TrackedPermit): boolean {
  if (tracked.state !== 'standing' || tracked.pod === undefined || tracked.isSent) return false
  return isOld(tracked.pod, fence.record.revision) && isTakeable(fence, tracked.permit.node)
}
