import { isOld } from '../old-nodes.ts'
import { budgetIn } from './budget.ts'
import { type TrackedPermit, isTakeable, type FenceState } from './fence-state.ts'

/**
 * F4: the permits that may be executed now. One walk: whoever stands earlier in the record has the place.
 *
 * More nodes may be in flight, as the record has them, than the limit allows: it was lowered, or a node whose permit had
 * settled lost its pod again. The first permit that stands may be used all the same where the last one before it whose pod
 * is gone is of its own node `c`. Every permit that was ever executed stands at or before that one, and when that one was
 * judged, the nodes of all the others were fewer than the limit; since then nothing was executed that could add to them,
 * for a permit behind the first one that stands counts that one's node. So `c` joins fewer than `limit` others (G2), and
 * as `c` settles and leaves the record, the node before it is the last. A permit whose pod others have deleted was
 * never judged: its node adds itself, nothing more. When the limit falls, every unexecuted permit is withdrawn, so that
 * none in front of the last one may be executed after it by the old limit (F10).
 *
 * All of this holds for the nodes of one value of a spread rule as it does for all nodes: a permit of another value is none
 * of theirs, and a permit that waits for its value counts for the limit as any that stands.
 */
export function executablePermits(fence: FenceState): readonly TrackedPermit[] {
  const budget = budgetIn(fence)
  return fence.permits.filter((tracked) => {
    const isExecutable = isReadyToGo(fence, tracked) && budget.fitsBudget(tracked)
    budget.reserve(tracked)
    return isExecutable
  })
}

/** Standing, not sent yet, and still wanted. */
export function isReadyToGo(fence: FenceState, tracked: TrackedPermit): boolean {
  if (tracked.state !== 'standing' || tracked.pod === undefined || tracked.isSent) return false
  return isOld(tracked.pod, fence.record.revision) && isTakeable(fence, tracked.permit.node)
}
