import type { RolloutStatus } from '@tranche/api-schema'
import { isSameJson } from '@tranche/kube-types'
import { HOLDS_EVERY_MS, holdText } from '../../release/blocked-wait.ts'
import type { RolloutView } from './rollout-view.ts'

/** Minimum interval (ms) between writes that change only counts and messages during a step. */
const COUNTS_EVERY_MS = 5_000

/** Whether to write the status now: everything but counts and messages at once, those every few seconds, the text of a hold within one. */
export function mayWriteStatus(view: RolloutView, next: RolloutStatus): boolean {
  const before = view.rollout.status
  if (before === undefined) return true
  if (isSameJson(before, next)) return false
  if (!isSameJson(withoutCounts(before), withoutCounts(next))) return true
  return untilCountsMs(view, next) === null
}

/** Milliseconds until counts and messages may be written again; null when they may be now. */
export function untilCountsMs(view: RolloutView, next: RolloutStatus): number | null {
  if (view.statusWrittenMs === null) return null
  const isSameHold = holdText(view.rollout.status?.waitingFor) === holdText(next.waitingFor)
  const left = (isSameHold ? COUNTS_EVERY_MS : HOLDS_EVERY_MS) - (view.monotonicMs - view.statusWrittenMs)
  return left > 0 ? left : null
}

function withoutCounts(status: RolloutStatus): unknown {
  const { message: _message, waitingFor: _waiting, conditions, canaryStatus, skippedNodes: _skipped, failure, ...rest } = status
  const { message: _seen, nodes: _nodes, failedNodes: _failed, ...verdict } = failure ?? {}
  const { canaryReplicas: _canary, canaryReadyReplicas: _ready, message: _words, ...canary } = canaryStatus ?? {}
  return {
    ...rest,
    canary,
    verdict,
    // The reason for a stall is always written in full.
    conditions: conditions?.map(({ type, status: value, reason, message }) => [type, value, reason, type === 'Stalled' ? message : '']),
  }
}
