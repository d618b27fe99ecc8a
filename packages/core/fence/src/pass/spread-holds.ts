import { changePermits } from '../record/flight-record.ts'
import { executablePermits } from './executable-permits.ts'
import { nodesDueAgain, nodesToTakeAgain } from './nodes-to-take-again.ts'
import { permitChange } from './permit-change.ts'
import { budgetIn } from './budget.ts'
import { type TrackedPermit, toFenceState, type FenceState } from './fence-state.ts'

/**
 * F7: standing permits that wait for nodes of their own value, where nothing may be executed and others could use their
 * slots. Those in front of a permit that does not wait, else all of them. See L20.
 */
export function permitsHeldBySpread(fence: FenceState): readonly TrackedPermit[] {
  if (fence.scope.rules.spread.length === 0) return []
  const budget = budgetIn(fence)
  const held: TrackedPermit[] = []
  let inFront: readonly TrackedPermit[] = []
  for (const tracked of fence.permits) {
    const waits = tracked.state === 'standing' && !tracked.isSent && !budget.fitsSpread(tracked)
    if (waits) held.push(tracked)
    else if (tracked.state === 'standing') inFront = [...held]
    budget.reserve(tracked)
  }
  if (inFront.length > 0 && wouldGoOn(fence, inFront)) return inFront
  return held.length > 0 && wouldGoOn(fence, held) ? held : []
}

/** Whether something could be executed without these permits, now or after the next append. True where no spread rule applies. */
export function wouldGoOn(fence: FenceState, without: readonly TrackedPermit[]): boolean {
  if (fence.scope.rules.spread.length === 0) return true
  const rest = changed(fence, { remove: without.map(({ permit }) => permit), append: [], restsOn: [] })
  if (executablePermits(rest).length > 0) return true
  const change = permitChange(rest, nodesToTakeAgain(rest, nodesDueAgain(rest)))
  return change !== null && change.append.length > 0 && executablePermits(changed(rest, change)).length > 0
}

function changed({ view, record }: FenceState, change: Parameters<typeof changePermits>[1]): FenceState {
  return toFenceState(view, changePermits(record, change))
}
