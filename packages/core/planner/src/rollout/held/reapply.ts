import type { HeldRevision, ReapplyAction } from '@tranche/api-schema'
import { parseTime, timeText } from '@tranche/kube-types'
import { isDeletedOrDisabled } from './on-delete.ts'
import { policyTerms } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Minimum time (ms) between two reverts to the stable template; doubles each time. */
const BACK_OFF_MS = 10_000
const BACK_OFF_MAX_MS = 600_000

/** What the policy says about re-applying a rolled-back template; a Rollout that is being deleted or disabled never reverts. */
export function reapplyAction(view: RolloutView): ReapplyAction {
  return policyTerms(view).failure?.onReapply === 'Revert' && !isDeletedOrDisabled(view.rollout) ? 'Revert' : 'Hold'
}

/**
 * Plans another revert to the stable template: at once, but not before the back-off since the last one has passed. Two
 * programs that undo each other must not do so every second.
 */
export function withNextRevert(held: HeldRevision, nowMs: number): HeldRevision {
  const lastMs = parseTime(held.revertAt ?? held.at)
  const backOffMs = Math.min(BACK_OFF_MS * 2 ** (held.reverts ?? 0), BACK_OFF_MAX_MS)
  const dueMs = lastMs === null ? nowMs : Math.max(nowMs, lastMs + backOffMs)
  return { ...held, reverted: false, revertAt: timeText(dueMs) }
}

/** Milliseconds until the stable template may be restored; 0: now. */
export function untilRevertMs({ revertAt }: HeldRevision, nowMs: number): number {
  return Math.max(0, (parseTime(revertAt) ?? nowMs) - nowMs)
}

/** Whether the revert is a repeated one, because the rolled-back template was applied again. */
export function isRevertAgain({ revertAt }: HeldRevision): boolean {
  return revertAt !== undefined
}
