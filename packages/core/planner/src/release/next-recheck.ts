import { tallyNodes } from '@tranche/fence'
import { untilAcceptedFailedMs } from './accepted-wait.ts'
import { carryLeftMs } from './detach.ts'
import { untilExcludedMs } from './excluded-wait.ts'
import { groupRecheckMs } from './plan-group.ts'
import { judgementOf, statusByTheClock } from './progress/judgement.ts'
import { settleLeftMs } from './progress/the-end.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import { untilUndeletedMs } from './undeleted.ts'
import { isFinalized } from './view/is-finalized.ts'
import type { ReleaseView } from './view/release-view.ts'
import { nextStuckMs } from './view/stuck-pods.ts'

/** When (ms) the release is planned again without any event; null: an event ends every wait. */
export function nextRecheck(view: ReleaseView, wanted: Wanted): number | null {
  const nextMs = judgementOf(view)?.nextChangeMs ?? null
  const judgeMs = nextMs === null ? Number.POSITIVE_INFINITY : Math.max(0, nextMs - view.monotonicMs)
  const soonest = Math.min(judgeMs, groupRecheckMs(view, wanted), nextOfBatch(view, wanted) ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(soonest) ? soonest : null
}

/**
 * These end by the clock: minReadySeconds, the final settling time, and the time until a NotReady node is dead. So do the wait of a deleted
 * release, and the time in which nodes may recover whose failures were accepted, or which the policy excludes. All other waits but deadlines end with an event.
 */
function nextOfBatch(view: ReleaseView, wanted: Wanted): number | null {
  if (wanted.kind !== 'allow') return carryLeftMs(view) || null
  if (view.release.spec.releasePlan.batchPartition === undefined && !isFinalized(view)) {
    const left = settleLeftMs(view, wanted.progress)
    if (Number.isFinite(left) && left > 0) return left
  }
  const minReadyMs = (view.daemonSet?.spec.minReadySeconds ?? 0) * 1000
  // Old pods too: a Ready one that is not available yet uses the budget.
  const { nextAvailableMs } = tallyNodes(view.fleet, { revision: wanted.allowance.revision, minReadyMs, monotonicMs: view.monotonicMs })
  const left = nextAvailableMs === null ? [] : [nextAvailableMs - view.monotonicMs]
  const stuckMs = nextStuckMs(view)
  if (stuckMs !== null) left.push(stuckMs - view.nowMs)
  const waiting = statusByTheClock(view)?.waiting
  const acceptedMs = untilAcceptedFailedMs(waiting, view, wanted)
  if (acceptedMs !== null) left.push(acceptedMs)
  const excludedMs = untilExcludedMs(waiting, view, wanted)
  if (excludedMs !== null) left.push(excludedMs)
  const undeletedMs = untilUndeletedMs(view)
  if (undeletedMs !== null) left.push(undeletedMs)
  const { nextAtMs } = wanted.progress.exemption
  if (nextAtMs !== null) left.push(nextAtMs - view.monotonicMs)
  const soonest = Math.min(...left.filter((ms) => ms > 0))
  return Number.isFinite(soonest) ? soonest : null
}
