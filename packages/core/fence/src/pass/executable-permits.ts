import { isOld } from '../nodes/old-nodes.ts'
import { budgetIn } from './budget.ts'
import { type TrackedPermit, isTakeable, type FenceState } from './fence-state.ts'

/**
 * F4: the permits that may be executed now. One walk in record order: earlier permits reserve budget first.
 *
 * The record may have more nodes in flight than the limit allows: the limit was lowered, or a node whose permit had settled
 * lost its pod again. The first standing permit may still be used where the last permit before it whose pod is gone is of its
 * own node `c`. Every permit that was ever executed is at or before that one. When that one was judged, the nodes of all
 * others were fewer than the limit. Since then nothing was executed that could add to them, because a permit behind the first
 * standing one counts that one's node. So `c` joins fewer than `limit` others (G2). When `c` settles and leaves the record,
 * the node before it is the last. A permit whose pod another client deleted was never judged: its node adds itself, nothing
 * more. When the limit falls, every unexecuted permit is withdrawn, so none before the last one is executed by the old limit
 * (F10).
 *
 * The same holds for the nodes of one value of a spread rule. A permit of another value does not count there. A permit that
 * waits for its value counts towards the limit like any standing one.
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
