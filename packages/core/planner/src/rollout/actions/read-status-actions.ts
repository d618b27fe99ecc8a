import type { CanaryStatus, Rollout, RolloutStatus } from '@tranche/api-schema'
import { acceptedActionsOf } from '../view/accepted-actions.ts'
import { commandText } from '../view/command-text.ts'
import { standingFailure } from '../release/release-failure.ts'
import { isFinalising, nextIndex, stepsOf } from '../release/release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Canary status with users' actions, and what was put back. */
export interface StatusActions {
  readonly canary: CanaryStatus
  /** Text about the values that were put back, and why; null without any. */
  readonly warning: string | null
}

/**
 * Separates the actions in a status from our own values. Users write `canaryStatus.currentStepState`, too (`StepReady`
 * approves a paused step), while only Tranche writes the status's own `currentStepState`. A `nextStepIndex` other than the
 * next step jumps. A value that is no valid action now is put back, never kept for later (G10).
 */
export function readStatusActions(view: RolloutView): StatusActions | undefined {
  const { rollout } = view
  const { status } = rollout
  if (status?.canaryStatus === undefined) return undefined
  const stop = stopText(view, status, status.canaryStatus)
  const state = readState(status, status.canaryStatus, stop)
  const next = readNextStep(rollout, state.canary, stop)
  const warnings = [state.warning, next.warning].filter((warning) => warning !== null)
  return { canary: next.canary, warning: warnings.length === 0 ? null : warnings.join('; ') }
}

function readState(status: RolloutStatus, canary: CanaryStatus, stop: string | null): StatusActions {
  const own = status.currentStepState
  const asked = canary.currentStepState
  if (asked === own || own === '') return { canary, warning: null }
  const isApproval = status.phase === 'Progressing' && own === 'StepPaused' && asked === 'StepReady'
  if (isApproval && stop === null) return { canary, warning: null }
  const why = isApproval ? stop : `while the step is ${own}; only StepReady on a paused step is an action`
  return {
    canary: { ...canary, currentStepState: own },
    warning: `canaryStatus.currentStepState was set to ${asked} ${why}, so it was put back`,
  }
}

function readNextStep(rollout: Rollout, canary: CanaryStatus, stop: string | null): StatusActions {
  const phase = rollout.status?.phase
  const steps = stepsOf(rollout).length
  const { currentStepIndex, nextStepIndex } = canary
  if (phase === 'Progressing' && !isFinalising(canary)) {
    const ownNext = nextIndex(currentStepIndex, steps)
    if (stop !== null) return nextStepIndex === ownNext ? { canary, warning: null } : putBack(canary, ownNext, stop)
    // Our own value from before the number of steps changed: the step after the present one, or none.
    const isOwn = nextStepIndex === -1 || nextStepIndex === currentStepIndex + 1
    if (isOwn || (nextStepIndex >= 1 && nextStepIndex <= steps)) return { canary, warning: null }
    return putBack(canary, nextIndex(currentStepIndex, steps), `but the steps are 1 to ${steps}`)
  }
  if ((phase !== 'Healthy' && phase !== 'Progressing') || nextStepIndex === -1) return { canary, warning: null }
  return putBack(canary, -1, 'while there is no step to leave')
}

/** G12: no action continues a held or failed revision, and none is kept for later. */
function stopText(view: RolloutView, status: RolloutStatus, canary: CanaryStatus): string | null {
  const { heldRevisions = [] } = status
  const { canaryRevision } = canary
  const isHeld = heldRevisions.some(({ revision }) => revision === canaryRevision)
  if (isHeld) return `while revision ${canaryRevision} is blocked; run ${commandText(view.rollout, 'retry')} first`
  const hasFailed = standingFailure(view, { canary, acceptedActions: acceptedActionsOf(status) }) !== null
  return hasFailed ? `while revision ${canaryRevision} is stopped by a failure; run ${commandText(view.rollout, 'retry')} first` : null
}

function putBack(canary: CanaryStatus, nextStepIndex: number, why: string): StatusActions {
  const warning = `canaryStatus.nextStepIndex was set to ${canary.nextStepIndex} ${why}, so it was put back to ${nextStepIndex}`
  return { canary: { ...canary, nextStepIndex }, warning }
}
