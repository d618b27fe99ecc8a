import type { RolloutAction, StalledReason } from '@tranche/api-schema'
import { discoverRevisions } from '../../release/view/discover-revisions.ts'
import { jumpTarget } from '../release/advance-step.ts'
import { stepOfReplacedPlan } from '../release/replaced-plan.ts'
import { isAppliedAgain } from './applied-again.ts'
import { commandText, retryHeldText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { heldTemplate, isReverted, heldHashes } from '../held/held-revisions.ts'
import { isDeletedOrDisabled } from '../held/on-delete.ts'
import { isRevertDue, whyNoTemplate } from '../held/plan-revert.ts'
import { standingFailure } from '../release/release-failure.ts'
import { isFinalising, isReturn, isWithinSteps, stepsOf } from '../release/release-spec.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** The stored state, and the next state without the action. */
export interface ActionContext {
  readonly before: RolloutState
  readonly decided: RolloutState
}

/** Reasons, besides a blocked revision, that wait for a user and that the action retry lifts. */
const liftedByRetry: readonly StalledReason[] = ['StrategyConflict']

/** Why an action cannot be carried out in the present state (G10); null where it can. */
export function actionRefusal(view: RolloutView, standing: ActionContext, action: RolloutAction): string | null {
  const { before, decided } = standing
  if (action.type === 'retry' && isHeld(before, action.revision)) return null
  const accepts = action.type === 'retry' && standingFailure(view, before) !== null && !isForStepOfEnded(before, action)
  if (!accepts && (before.phase !== 'Progressing' || decided.phase !== 'Progressing')) return noReleaseText(view, before, action)
  if (decided.obstacle !== null) {
    if (action.type !== 'abort' || decided.obstacle.takesAborts !== true) return `the Rollout is stalled: ${decided.message}`
    const changed = changedRefusal(view, before)
    if (changed !== null) return changed
  }
  return momentRefusal(standing, action) ?? refusals[action.type](view, before, action)
}

/** Whether it names a step, and the release has ended: its author saw another failure. */
function isForStepOfEnded({ phase }: RolloutState, { expectedStep }: RolloutAction): boolean {
  return phase === 'Healthy' && expectedStep !== undefined
}

function isHeld({ heldRevisions }: RolloutState, revision: string | undefined): boolean {
  return revision !== undefined && heldRevisions.some((held) => held.revision === revision)
}

function noReleaseText(view: RolloutView, before: RolloutState, { type }: RolloutAction): string {
  const { rollout } = view
  const { heldRevisions, canary } = before
  if (standingFailure(view, before) !== null)
    return `the release of revision ${canary.canaryRevision} has ended, so there is nothing to ${type}: run ${commandText(rollout, 'undo')} to release the earlier revision, or ${commandText(rollout, 'retry')} to update the nodes left all the same`
  if (type !== 'retry' || heldRevisions.length === 0) return 'no release is under way'
  return `no release is under way; to release a blocked revision anyway, run ${retryHeldText(rollout, heldHashes(heldRevisions))}`
}

/** While the Rollout is stalled no release of another template starts, so the status still names the former one. */
function changedRefusal({ daemonSet, revisions, fleet }: RolloutView, { canary, stableRevision }: RolloutState): string | null {
  if (daemonSet === undefined) return null
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: stableRevision })
  if (found.kind !== 'pending' && found.canary === canary.canaryRevision) return null
  const now = found.kind === 'pending' ? 'another revision' : `revision ${found.canary}`
  return `the template has changed: the DaemonSet has ${now} now, no longer ${canary.canaryRevision}`
}

/** Whether the action is meant for the present release and step. */
function momentRefusal({ before, decided }: ActionContext, { revision, expectedStep }: RolloutAction): string | null {
  const { canaryRevision, currentStepIndex } = before.canary
  if (decided.canary.canaryRevision !== canaryRevision) {
    return `the template has changed: revision ${decided.canary.canaryRevision} is released now, no longer ${canaryRevision}`
  }
  if (revision !== undefined && revision !== canaryRevision) {
    return `it is meant for revision ${revision}, and ${canaryRevision} is being released`
  }
  if (expectedStep === undefined || expectedStep === currentStepIndex) return null
  return `it is meant for step ${expectedStep}, and the release is at step ${currentStepIndex}`
}

type Refusal = (view: RolloutView, before: RolloutState, action: RolloutAction) => string | null

const refusals: { readonly [Type in RolloutAction['type']]: Refusal } = {
  approve: (view, before, action) => stopRefusal(view, before) ?? stepRefusal(view, before, action) ?? approveRefusal(view, before),
  jump: (view, before, action) => stopRefusal(view, before) ?? stepRefusal(view, before, action) ?? jumpRefusal(view, action),
  promote: (view, before, action) =>
    (isWayOut(view, before, action) ? null : stopRefusal(view, before)) ??
    doneRefusal(view, before) ??
    (action.expectedStep === undefined && !isAppliedAgain(view, before) ? null : replacedRefusal(view, before)),
  abort: abortRefusal,
  retry: retryRefusal,
}

function stopRefusal(view: RolloutView, before: RolloutState): string | null {
  const held = heldRefusal(view, before)
  if (held !== null || standingFailure(view, before) === null) return held
  return `revision ${before.canary.canaryRevision} is stopped by a failure; run ${commandText(view.rollout, 'retry')} first`
}

/** A release whose analysis is inconclusive may continue without analysis. */
function isWayOut(view: RolloutView, before: RolloutState, { full }: RolloutAction): boolean {
  return full === true && heldRefusal(view, before) === null && standingFailure(view, before)?.reason === 'AnalysisInconclusive'
}

function heldRefusal({ daemonSet, rollout }: RolloutView, { heldRevisions }: RolloutState): string | null {
  const held = daemonSet === undefined ? undefined : heldTemplate(heldRevisions, daemonSet)
  return held === undefined ? null : `revision ${held.revision} is blocked; run ${commandText(rollout, 'retry')} first`
}

/** An approval or a jump names its step, so that two users never leave two steps. */
function stepRefusal(view: RolloutView, before: RolloutState, { expectedStep }: RolloutAction): string | null {
  const done = doneRefusal(view, before) ?? replacedRefusal(view, before)
  if (done !== null || expectedStep !== undefined) return done
  return `it does not say expectedStep; the release is at step ${before.canary.currentStepIndex}`
}

/** The named step belongs to the former plan, or to the former release. */
function replacedRefusal(view: RolloutView, before: RolloutState): string | null {
  if (isAppliedAgain(view, before))
    return `the template was applied again: revision ${before.canary.canaryRevision} is released from its first step`
  const step = stepOfReplacedPlan(view, before)
  return step === null ? null : `the steps have changed, and the release continues at step ${step} of ${stepsOf(view.rollout).length}`
}

function doneRefusal({ rollout }: RolloutView, { canary }: RolloutState): string | null {
  if (isFinalising(canary)) return 'the steps are done, and the release is being finished'
  return isWithinSteps(rollout, canary) ? null : `the spec has no step ${canary.currentStepIndex} any more`
}

function approveRefusal({ rollout }: RolloutView, { canary }: RolloutState): string | null {
  const { currentStepIndex, currentStepState } = canary
  if (currentStepState !== 'StepPaused')
    return `step ${currentStepIndex} is in state ${currentStepState}, and only a StepPaused one can be approved`
  const jump = jumpTarget(canary, stepsOf(rollout).length)
  return jump === null ? null : `nextStepIndex asks for a jump to step ${jump}, which leaves step ${currentStepIndex} already`
}

function jumpRefusal({ rollout }: RolloutView, { step = 0 }: RolloutAction): string | null {
  const steps = stepsOf(rollout).length
  return step >= 1 && step <= steps ? null : `there is no step ${step}: the steps are 1 to ${steps}`
}

/** Possible while the release is finishing, too: until the DaemonSet was given back there is something to roll back. */
function abortRefusal(view: RolloutView, { canary, heldRevisions }: RolloutState): string | null {
  const { daemonSet } = view
  const { canaryRevision, stableRevision } = canary
  if (daemonSet === undefined) return 'the DaemonSet does not exist'
  if (isReturn(canary)) return `the release goes to revision ${canaryRevision}, which ran before: there is nothing to roll back`
  const held = heldTemplate(heldRevisions, daemonSet)
  if (held !== undefined && !isReverted(daemonSet, held) && isRevertDue(view, held))
    return `revision ${canaryRevision} is already being rolled back`
  const why = whyNoTemplate(view, stableRevision ?? '')
  return why === null ? null : `${why}: apply the template of the last good version`
}

function retryRefusal(view: RolloutView, before: RolloutState): string | null {
  if (isForReplacedFailure(view, before))
    return `the template was applied again after revision ${before.canary.canaryRevision} had failed: look at the release, and retry again`
  if (stopRefusal(view, before) !== null) return null
  const { stalled } = summarizeBatchRelease(view)
  if (liftedByRetry.some((reason) => reason === stalled?.reason)) return null
  return 'there is nothing for a retry to lift'
}

/**
 * G10, G12: another template has replaced the version whose failure the author of the retry saw. The pass that refuses the retry blocks the
 * version, or starts its release again. It does neither while the Rollout is deleted or disabled: the failure still stops the release then, and
 * only a retry lets it continue.
 */
function isForReplacedFailure(view: RolloutView, before: RolloutState): boolean {
  if (isDeletedOrDisabled(view.rollout) || heldRefusal(view, before) !== null) return false
  return standingFailure(view, before) !== null && isAppliedAgain(view, before)
}
