import type { NodeView } from '@tranche/fleet'
import { changePermits, permitId } from '../record/flight-record.ts'
import { executablePermits, isReadyToGo } from './executable-permits.ts'
import { nodesThatWouldFit } from './nodes-behind-head.ts'
import { nodesDueAgain, nodesToTakeAgain } from './nodes-to-take-again.ts'
import { permitChange } from './permit-change.ts'
import { budgetIn } from './budget.ts'
import { type FenceState, isGone, toFenceState, type TrackedPermit } from './fence-state.ts'

/**
 * Nodes whose pods could be deleted now in place of standing permits that wait for nodes of their own value. Whether they have a permit as
 * well, are prepared, or are kept from a permit by a check, does not matter. See L20.
 */
export function nodesBehindSpread(fence: FenceState): readonly NodeView[] {
  if (heldBySpread(fence).held.length === 0) return []
  const names = new Set([...nodesThatWouldFit(fence, fence.tally.old).map(({ name }) => name), ...permittedThatWouldFit(fence)])
  return fence.tally.old.filter(({ name }) => names.has(name))
}

/** Nodes of standing permits that would fit the budget at their place in the record, if only those in flight before them reserved any. */
function permittedThatWouldFit(fence: FenceState): readonly string[] {
  const budget = budgetIn(fence)
  return fence.permits.flatMap((tracked) => {
    if (isReadyToGo(fence, tracked)) return budget.fitsBudget(tracked) ? [tracked.permit.node] : []
    if (isGone(tracked) || tracked.isSent) budget.reserve(tracked)
    return []
  })
}

/** Standing permits that wait for nodes of their own value. `inFront`: those of them in front of one that does not wait. */
export function heldBySpread(fence: FenceState): Readonly<Record<'held' | 'inFront', readonly TrackedPermit[]>> {
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
 * Nodes of permits that could be executed without these, now or after the next append, and cannot be with them. A permit whose node is still being
 * checked is executable with them: it is no reason to withdraw others.
 */
export function nodesThatWouldGo(fence: FenceState, without: readonly TrackedPermit[]): readonly string[] {
  const before = new Set(executablePermits(fence).map(({ permit }) => permitId(permit)))
  const nodesGoing = (after: FenceState): readonly string[] =>
    executablePermits(after).flatMap(({ permit }) => (before.has(permitId(permit)) ? [] : [permit.node]))
  const rest = changed(fence, { remove: without.map(({ permit }) => permit), append: [], restsOn: [] })
  const going = nodesGoing(rest)
  if (going.length > 0) return going
  const change = permitChange(rest, nodesToTakeAgain(rest, nodesDueAgain(rest)))
  return change === null || change.append.length === 0 ? [] : nodesGoing(changed(rest, change))
}

function changed({ view, record }: FenceState, change: Parameters<typeof changePermits>[1]): FenceState {
  return toFenceState(view, changePermits(record, change))
}
