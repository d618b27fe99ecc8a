import type { HeldRevision } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { countUpdated } from '@tranche/fence'
import { configReturnText } from '../view/config-between.ts'
import { commandText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { isReverted, revertOver, replaceHeld } from '../held/held-revisions.ts'
import { waitsForResume } from '../held/on-delete.ts'
import { isRevertAgain, reapplyAction, untilRevertMs, withNextRevert } from '../held/reapply.ts'
import { whyNoRollback } from '../release/release-failure.ts'
import { isReturn } from '../release/release-spec.ts'
import { revisionText } from '../held/revision-text.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * G12: the DaemonSet's template is held, so nothing is released. First the stable template is restored where that was
 * requested and is still due; later again where the policy says `Revert`. Otherwise a user must decide how to continue.
 */
export function heldState(view: RolloutView, daemonSet: DaemonSet, state: RolloutState, held: HeldRevision): RolloutState {
  const whyNot = isReturn(state.canary) ? NOTHING_ELSE : whyNoRollback(view, state)
  const now = heldNow(view, daemonSet, held, whyNot)
  const reason = state.reason === null || state.reason === 'Paused' ? 'InRolling' : state.reason
  const standing = { ...state, heldRevisions: replaceHeld(state.heldRevisions, now), reason }
  if (now.reverted !== false || whyNot !== null) return waitingState(view, standing, heldText(view, now, whyNot))
  const isPaused = waitsForResume(view.rollout)
  if (!isRevertAgain(now)) {
    if (isPaused && now.reason === 'Failed') return waitingState(view, standing, `${pastText(view, now)}; ${afterPause(view)}`)
    return { ...standing, message: rollingBackText(view, state, now) }
  }
  const leftMs = untilRevertMs(now, view.nowMs)
  const notYet = isPaused ? `; ${afterPause(view)}` : ''
  return { ...waitingState(view, standing, `${revertText(view, state, now)}${notYet}`), recheckAfterMs: leftMs > 0 ? leftMs : null }
}

/** A failure on nodes left has held the stable revision itself. */
const NOTHING_ELSE = 'no other revision is stable'

/** @returns the text for a rollback that a policy asks for while the Rollout is paused */
export function afterPause({ rollout }: RolloutView): string {
  return `it is rolled back once the Rollout is resumed (${commandText(rollout, 'resume')})`
}

/** The hold to record: that the template was reverted, or when it is reverted next. */
function heldNow(view: RolloutView, daemonSet: DaemonSet, held: HeldRevision, whyNot: string | null): HeldRevision {
  const isOff = held.reverted === false && isRevertAgain(held) && reapplyAction(view) !== 'Revert'
  const seen = held.reverted === false && (isReverted(daemonSet, held) || isOff) ? revertOver(held, daemonSet) : held
  const isAgain = seen.reverted !== false && whyNot === null && reapplyAction(view) === 'Revert'
  return isAgain ? withNextRevert(seen, view.nowMs) : seen
}

/** A user must decide how to continue, or the clock does. */
function waitingState({ fleet }: RolloutView, state: RolloutState, message: string): RolloutState {
  const { updated } = countUpdated(fleet, state.canary.canaryRevision)
  return { ...state, message: `${message}; ${updated} of ${fleet.desired} nodes run it`, stalled: { reason: 'RevisionHeld', message } }
}

function rollingBackText({ revisions }: RolloutView, { canary, failure }: RolloutState, { reason }: HeldRevision): string {
  const seen = reason === 'Failed' && failure !== undefined ? `revision ${canary.canaryRevision} failed: ${failure.message}; ` : ''
  const cause = reason === 'Failed' ? 'failure.action is Rollback: ' : ''
  const from = revisionText(revisions, canary.canaryRevision)
  const to = revisionText(revisions, canary.stableRevision ?? '')
  return `${seen}${cause}rolling back revision ${from}: the template of revision ${to} is put back${configReturnText(revisions, canary.canaryRevision, canary.stableRevision ?? '')}`
}

/** Says why nothing is released, and what lifts the hold. */
function heldText(view: RolloutView, held: HeldRevision, whyNot: string | null): string {
  const why = held.reverted === false && whyNot !== null ? whyNot : 'its template was applied again'
  return `${pastText(view, held)}, and ${why}: nothing is deleted for it; to release it after all run ${commandText(view.rollout, 'retry')}, else apply another template`
}

/** Says when the stable template is restored again. */
function revertText(view: RolloutView, { canary }: RolloutState, held: HeldRevision): string {
  const { rollout, revisions } = view
  const times = held.reverts === undefined ? '' : ` (${held.reverts} times so far)`
  return (
    `${pastText(view, held)}, and its template was applied again: nothing is deleted for it, and at ${held.revertAt} the template of revision ` +
    `${revisionText(revisions, canary.stableRevision ?? '')} is put back${times}, because failure.onReapply is Revert; to release it after all run ${commandText(rollout, 'retry')}`
  )
}

function pastText({ revisions }: RolloutView, { revision, reason, at }: HeldRevision): string {
  return `revision ${revisionText(revisions, revision ?? '')} ${reason === 'Failed' ? 'failed' : 'was rolled back'} at ${at}`
}
