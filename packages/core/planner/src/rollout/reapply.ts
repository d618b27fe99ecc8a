import type { HeldRevision, ReapplyAction } from '@tranche/api-schema'
import { isGoing } from './on-delete.ts'
import { policyTerms } from './release-policy.ts'
import type { RolloutView } from './rollout-view.ts'

/** How long at least between putting the stable template back and doing it again: doubles each time. */
const BACK_OFF_MS = 10_000
const BACK_OFF_MAX_MS = 600_000

/** What the policy says of a template that was taken back and is applied again; a Rollout that goes fights nobody. */
export function reapplyAction(view: RolloutView): ReapplyAction {
  return policyTerms(view).failure?.onReapply === 'Revert' && !isGoing(view.rollout) ? 'Revert' : 'Hold'
}

/**
 * The stable template is to be put back once more: at once, but no sooner after the last time than the back-off allows, so
 * that two programs that undo one another do not do so every second.
 */
export function withNextRevert(held: HeldRevision, nowMs: number): HeldRevision {
  const lastMs = Date.parse(held.revertAt ?? held.at ?? '')
  const backOffMs = Math.min(BACK_OFF_MS * 2 ** (held.reverts ?? 0), BACK_OFF_MAX_MS)
  const dueMs = Number.isNaN(lastMs) ? nowMs : Math.max(nowMs, lastMs + backOffMs)
  return { ...held, reverted: false, revertAt: new Date(dueMs).toISOString() }
}

/** Milliseconds until the stable template may be put back; 0 where that is now. */
export function untilRevertMs({ revertAt }: HeldRevision, nowMs: number): number {
  return revertAt === undefined ? 0 : Math.max(0, Date.parse(revertAt) - nowMs)
}

/** It is to be put back because the template that was taken back was applied again, not for the first time. */
export function isRevertAgain({ revertAt }: HeldRevision): boolean {
  return revertAt !== undefined
}
