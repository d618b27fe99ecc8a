import type { NodeView } from '@tranche/fleet'
import { changePermits, permitId } from '../record/flight-record.ts'
import { executablePermits } from './executable-permits.ts'
import { nodesThatWouldFit } from './nodes-behind-head.ts'
import { nodesDueAgain, nodesToTakeAgain } from './nodes-to-take-again.ts'
import { permitChange } from './permit-change.ts'
import { budgetIn } from './budget.ts'
import { type FenceState, permittedNodes, standingPermits, toFenceState, type TrackedPermit } from './fence-state.ts'

/**
 * F7: standing permits that wait for nodes of their own value, where nothing may be executed and others could use their
 * slots. Those in front of a permit that does not wait, else all of them; all standing permits, where only that helps. See L20.
 */
export function permitsHeldBySpread(fence: FenceState): readonly TrackedPermit[] {
  const { held, inFront } = heldBySpread(fence)
  if (inFront.length > 0 && wouldGoOn(fence, inFront)) return inFront
  if (held.length === 0) return []
  if (wouldGoOn(fence, held)) return held
  const standing = standingPermits(fence)
  return standing.length > held.length && wouldGoOn(fence, standing) ? standing : []
}

/**
 * Nodes without a permit whose pods could be deleted now in place of standing permits that wait for nodes of their own value. Whether they are
 * prepared, or a check keeps them from a permit, does not matter. See L20.
 */
export function nodesBehindSpread(fence: FenceState): readonly NodeView[] {
  if (heldBySpread(fence).held.length === 0) return []
  const permitted = permittedNodes(fence.permits)
  return nodesThatWouldFit(
    fence,
    fence.tally.old.filter(({ name }) => !permitted.has(name)),
  )
}

/** Standing permits that wait for nodes of their own value. `inFront`: those of them in front of one that does not wait. */
function heldBySpread(fence: FenceState): Readonly<Record<'held' | 'inFront', readonly TrackedPermit[]>> {
  const held: TrackedPermit[] = []
  let inFront: readonly TrackedPermit[] = []
  if (fence.scope.rules.spread.length === 0) return { held, inFront }
  const budget = budgetIn(fence)
  for (const tracked of fence.permits) {
    const waits = tracked.state === 'standing' && !tracked.isSent && !budget.fitsSpread(tracked)
    if (waits) held.push(tracked)
    else if (tracked.state === 'standing') inFront = [...held]
    budget.reserve(tracked)
  }
  return { held, inFront }
}

/**
 * Whether something could be executed without these permits, now or after the next append, that cannot be executed with them. A permit whose
 * node is still being checked is executable with them: it is no reason to withdraw others. True where no spread rule applies.
 */
export function wouldGoOn(fence: FenceState, without: readonly TrackedPermit[]): boolean {
  if (fence.scope.rules.spread.length === 0) return true
  const before = new Set(executablePermits(fence).map(({ permit }) => permitId(permit)))
  const goesOn = (after: FenceState): boolean => executablePermits(after).some(({ permit }) => !before.has(permitId(permit)))
  const rest = changed(fence, { remove: without.map(({ permit }) => permit), append: [], restsOn: [] })
  if (goesOn(rest)) return true
  const change = permitChange(rest, nodesToTakeAgain(rest, nodesDueAgain(rest)))
  return change !== null && change.append.length > 0 && goesOn(changed(rest, change))
}

function changed({ view, record }: FenceState, change: Parameters<typeof changePermits>[1]): FenceState {
  return toFenceState(view, changePermits(record, change))
}
