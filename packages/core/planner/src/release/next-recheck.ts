import { tallyNodes } from '@tranche/fence'
import { untilAcceptedFailedMs } from './accepted-wait.ts'
import { carryLeftMs } from './detach.ts'
import { untilExcludedMs } from './excluded-wait.ts'
import { groupRecheckMs } from './plan-group.ts'
import { untilNodesListedMs } from './progress/unseen-nodes.ts'
import { judgementOf, statusByTheClock } from './progress/judgement.ts'
import { settleLeftMs } from './progress/the-end.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import { untilUndeletedMs } from './undeleted.ts'
import type { BatchReleasePlan } from './view/batch-release-plan.ts'
import { isFinalized } from './view/is-finalized.ts'
import type { ReleaseView } from './view/release-view.ts'
import { nextStuckMs } from './view/stuck-pods.ts'

/** The plan of a release for which nothing is to be written. */
export function planWait(view: ReleaseView, wanted: Wanted): BatchReleasePlan & { kind: 'wait' } {
  return { kind: 'wait', for: wanted.kind === 'allow' ? wanted.progress.state : wanted.message, recheckAfterMs: nextRecheck(view, wanted) }
}

/** When (ms) the release is planned again without any event; null: an event ends every wait. */
export function nextRecheck(view: ReleaseView, wanted: Wanted): number | null {
  const nextMs = judgementOf(view)?.nextChangeMs ?? null
  const judgeMs = nextMs === null ? Number.POSITIVE_INFINITY : Math.max(0, nextMs - view.monotonicMs)
  const soonest = Math.min(judgeMs, groupRecheckMs(view, wanted), nextOfBatch(view, wanted) ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(soonest) ? soonest : null
}

/**
 * These end by the clock: minReadySeconds, the final settling time, and the time until a NotReady node is dead. So do the wait of a deleted
 * release, and the time until nodes are listed again. So does the time in which nodes may recover whose failures were accepted, or which the
 * policy excludes. All other waits but deadlines end with an event.
 */
function nextOfBatch(view: ReleaseView, wanted: Wanted): number | null {
  const left = [carryLeftMs(view), untilAvailableMs(view, wanted), ...(wanted.kind === 'allow' ? leftOfBatch(view, wanted) : [])]
  const soonest = Math.min(...left.filter((ms) => ms !== null).filter((ms) => ms > 0))
  return Number.isFinite(soonest) ? soonest : null
}

/** Old pods count, too: a Ready one that is not available yet uses the budget. A stop may end with the last node that is not available. */
function untilAvailableMs({ release, daemonSet, fleet, monotonicMs }: ReleaseView, wanted: Wanted): number | null {
  const minReadyMs = (daemonSet?.spec.minReadySeconds ?? 0) * 1000
  const revision = wanted.kind === 'allow' ? wanted.allowance.revision : (release.status?.flight?.revision ?? '')
  const { nextAvailableMs } = tallyNodes(fleet, { revision, minReadyMs, monotonicMs })
  return nextAvailableMs === null ? null : nextAvailableMs - monotonicMs
}

function leftOfBatch(view: ReleaseView, wanted: Wanted & { readonly kind: 'allow' }): readonly (number | null)[] {
  const { nextAtMs } = wanted.progress.exemption
  const stuckMs = nextStuckMs(view)
  const waiting = statusByTheClock(view)?.waiting
  return [
    settlingLeftMs(view, wanted),
    stuckMs === null ? null : stuckMs - view.nowMs,
    untilAcceptedFailedMs(waiting, view, wanted),
    untilExcludedMs(waiting, view, wanted),
    untilUndeletedMs(view),
    untilNodesListedMs(view, wanted),
    nextAtMs === null ? null : nextAtMs - view.monotonicMs,
  ]
}

function settlingLeftMs(view: ReleaseView, { progress }: Wanted & { readonly kind: 'allow' }): number | null {
  return view.release.spec.releasePlan.batchPartition === undefined && !isFinalized(view) ? settleLeftMs(view, progress) : null
}
