import { type BatchRelease, type ProgressingReason, waitText } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import type { FoundRevisions } from '../../release/view/discover-revisions.ts'
import { advanceStep, toFittingStep } from '../release/advance-step.ts'
import { stepOfReplacedPlan } from '../release/replaced-plan.ts'
import { isAppliedAgain, numberOf } from '../actions/applied-again.ts'
import { commandText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { failedState } from './failed-state.ts'
import { finalisingState } from './finalising-state.ts'
import { firstRunState } from './first-run.ts'
import { heldState } from './held-state.ts'
import { heldTemplate } from '../held/held-revisions.ts'
import { failureToSay, standingFailure } from '../release/release-failure.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { isFinalising, isInBatches, isReturn, isWithinSteps } from '../release/release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { refreshed, startState, toTheEnd, withCounts } from './start-state.ts'
import { actionsAfterPause } from '../actions/actions-after-pause.ts'

/** State of a release that runs. */
export function progressingState(view: RolloutView, daemonSet: DaemonSet, before: RolloutState, discovery: FoundRevisions): RolloutState {
  const isAnother = discovery.canary !== before.canary.canaryRevision || isAppliedAgain(view, before)
  if (isAnother) return startState(view, daemonSet, before, discovery)
  const counted = {
    ...before,
    canary: withCounts(view, refreshed(view, before.canary)),
    canaryNumber: numberOf(view.revisions, discovery.canary),
    failure: failureToSay(view, before),
    acceptedActions: actionsAfterPause(view, daemonSet, before),
  }
  const fitting = isAtWrongStep(view, counted) ? toFittingStep(view, counted) : null
  // Its plan says what was opened, and goes with it.
  if (view.release?.metadata.deletionTimestamp !== undefined) return { ...(fitting ?? counted), message: lastReleaseText(view.release) }
  const isPaused = view.rollout.spec.strategy.paused === true
  const standing = stoppedState(view, daemonSet, fitting ?? counted)
  if (standing !== null && !isPaused) return standing
  if (standing !== null)
    return { ...pausedState(view, { ...standing, reason: before.reason, message: before.message }), stalled: standing.stalled }
  if (fitting !== null) return fitting
  if (isPaused) return pausedState(view, counted)
  const isBackAtOnce = isReturn(counted.canary) && !walksBack(view, counted)
  if (isFinalising(counted.canary)) {
    const ending = { ...counted, reason: endReason(counted, isBackAtOnce) }
    return firstRunState(view, daemonSet, ending, discovery) ?? finalisingState(view, daemonSet, ending)
  }
  if (isBackAtOnce) return { ...toTheEnd(counted), reason: endReason(counted, isBackAtOnce) }
  if (before.reason === 'Initializing') return advanceStep(view, { ...counted, reason: 'InRolling' })
  if (before.reason !== 'InRolling') return { ...counted, reason: 'InRolling', message: goingOnText(before) }
  return advanceStep(view, counted)
}

/**
 * The step was removed from the spec: no BatchRelease can be written for it, even for a stopped one. Or steps were added
 * before it: a later one opens what was opened already.
 */
function isAtWrongStep(view: RolloutView, state: RolloutState): boolean {
  const { canary } = state
  if (isFinalising(canary)) return false
  return !isWithinSteps(view.rollout, canary) || stepOfReplacedPlan(view, state) !== null
}

/** The version is held, or failed, so it does not continue on its own; null where it may. */
function stoppedState(view: RolloutView, daemonSet: DaemonSet, state: RolloutState): RolloutState | null {
  const held = heldTemplate(state.heldRevisions, daemonSet)
  if (held !== undefined) return heldState(view, daemonSet, state, held)
  const failure = standingFailure(view, state)
  return failure === null ? null : failedState(view, daemonSet, state, failure)
}

/** Whether a rollback walks the steps with their pauses. */
function walksBack({ rollout }: RolloutView, { rollbackFrom }: RolloutState): boolean {
  return rollbackFrom !== undefined && isInBatches(rollout)
}

function endReason({ rollbackFrom }: RolloutState, isBackAtOnce: boolean): ProgressingReason {
  return isBackAtOnce && rollbackFrom !== undefined ? 'Cancelling' : 'Finalising'
}

/** A BatchRelease that is being deleted runs nothing; the next one takes its name once it is gone. */
function lastReleaseText({ status }: BatchRelease): string {
  const waiting = status?.waiting === undefined ? '' : `: ${waitText(status.waiting)}`
  return `waiting for the previous BatchRelease to be deleted${waiting}`
}

/** Message between two reasons: it no longer waits for a person. */
function goingOnText({ reason, message }: RolloutState): string {
  return reason === 'Paused' ? 'spec.strategy.paused was cleared: the release continues' : message
}

/** G9: reports the pause when nothing can be deleted any more, not when it was requested. */
function pausedState(view: RolloutView, before: RolloutState): RolloutState {
  const { paused, message } = summarizeBatchRelease(view)
  if (!paused)
    return {
      ...before,
      message: `pausing: waiting until no deletion can be accepted any more${message === undefined ? '' : `; ${message}`}`,
    }
  const pausedSince = before.pausedSince ?? stamp(view)
  return {
    ...before,
    reason: 'Paused',
    pausedSince,
    message: `paused by spec.strategy.paused since ${pausedSince}; ${afterPauseText(view, before)}`,
  }
}

function afterPauseText({ rollout }: RolloutView, { acceptedActions: { pause } }: RolloutState): string {
  if (pause === undefined) return `run ${commandText(rollout, 'resume')} to continue`
  return pause.lifts
    ? `run ${commandText(rollout, 'resume')} to accept the failure, as a retry does, and continue`
    : 'it was set before the release failed, so setting it to false does not lift the failure'
}

function stamp(view: RolloutView): string {
  return new Date(view.nowMs).toISOString()
}
