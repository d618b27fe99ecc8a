import type { CanaryStatus, Rollout, RolloutStatus } from '@tranche/api-schema'
import { isFinalising, nextIndex, stepsOf } from './release-spec.ts'

/** The canary status with what people wrote into it, and what had to be put back. */
export interface Heeded {
  readonly canary: CanaryStatus
  /** Says what was put back and why; null when nothing was. */
  readonly warning: string | null
}

/**
 * Tells the wishes in a status from our own words: `canaryStatus.currentStepState` is written by people too (`StepReady`
 * approves a paused step), while the status's own `currentStepState` is only ever written by us; and another
 * `nextStepIndex` than the one that follows jumps. A word that is no wish now is put back, never kept for later (G10).
 */
export function heedWishes({ spec, status, metadata }: Rollout): Heeded | undefined {
  if (status?.canaryStatus === undefined) return undefined
  const state = heedState(status, status.canaryStatus)
  const next = heedNextStep({ spec, status, metadata }, state.canary)
  const warnings = [state.warning, next.warning].filter((warning) => warning !== null)
  return { canary: next.canary, warning: warnings.length === 0 ? null : warnings.join('; ') }
}

function heedState(status: RolloutStatus, canary: CanaryStatus): Heeded {
  const own = status.currentStepState
  const asked = canary.currentStepState
  if (asked === own || own === '') return { canary, warning: null }
  const isApproval = status.phase === 'Progressing' && own === 'StepPaused' && asked === 'StepReady'
  if (isApproval && !isHeld(status, canary)) return { canary, warning: null }
  const why = isApproval ? heldText(canary) : `while the step is ${own}; only StepReady on a paused step is a wish`
  return {
    canary: { ...canary, currentStepState: own },
    warning: `canaryStatus.currentStepState was set to ${asked} ${why}, so it was put back`,
  }
}

function heedNextStep(rollout: Rollout, canary: CanaryStatus): Heeded {
  const phase = rollout.status?.phase
  const steps = stepsOf(rollout).length
  const { currentStepIndex, nextStepIndex } = canary
  if (phase === 'Progressing' && !isFinalising(canary)) {
    const ownNext = nextIndex(currentStepIndex, steps)
    if (isHeld(rollout.status, canary))
      return nextStepIndex === ownNext ? { canary, warning: null } : putBack(canary, ownNext, heldText(canary))
    // The step after the present one, or none: our own word from before the steps of the spec became more or fewer.
    const isOwn = nextStepIndex === -1 || nextStepIndex === currentStepIndex + 1
    if (isOwn || (nextStepIndex >= 1 && nextStepIndex <= steps)) return { canary, warning: null }
    return putBack(canary, nextIndex(currentStepIndex, steps), `and the steps are 1 to ${steps}`)
  }
  if ((phase !== 'Healthy' && phase !== 'Progressing') || nextStepIndex === -1) return { canary, warning: null }
  return putBack(canary, -1, 'while there is no step to leave')
}

/** G12: nothing leads on while the revision is held; the wish is not kept until it no longer is. */
function isHeld(status: RolloutStatus | undefined, { canaryRevision }: CanaryStatus): boolean {
  return status?.heldRevisions?.some(({ revision }) => revision === canaryRevision) ?? false
}

function heldText({ canaryRevision }: CanaryStatus): string {
  return `while revision ${canaryRevision} is held; write the action retry first`
}

function putBack(canary: CanaryStatus, nextStepIndex: number, why: string): Heeded {
  const warning = `canaryStatus.nextStepIndex was set to ${canary.nextStepIndex} ${why}, so it was put back to ${nextStepIndex}`
  return { canary: { ...canary, nextStepIndex }, warning }
}
