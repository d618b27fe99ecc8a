import type { Rollout, RolloutAction } from '@tranche/api-schema'
import { isAnswered } from '@tranche/planner'
import { actionDigest, parseAction } from '@tranche/validation'

/** Where a release stands, by the status of its Rollout. */
export interface Standing {
  /** The Rollout is disabled: nothing of it is released before it is enabled. */
  readonly isDisabled: boolean
  /** A release runs, and accepts actions. */
  readonly isReleasing: boolean
  readonly step: number
  readonly steps: number
  /** Word of the status; people write `StepReady` into it too. */
  readonly stepState: string
  readonly canaryRevision: string
  /** The release goes back to what ran before. */
  readonly isReturn: boolean
  readonly isFinishing: boolean
  /** Reason of `Stalled` where that holds; else empty. */
  readonly stalled: string
  /** A verdict is known, whether the stop is confirmed or not. */
  readonly hasFailed: boolean
  /** It is a verdict that stops the release, or takes it back: `Stalled` may not say so yet, or not at all. */
  readonly isBad: boolean
  readonly heldRevisions: readonly string[]
}

/** Reads where the release of a Rollout stands. */
export function standingOf({ spec, status }: Rollout): Standing {
  const canary = status?.canaryStatus
  const isReleasing = status?.phase === 'Progressing'
  const stalled = status?.conditions?.find((condition) => condition.type === 'Stalled' && condition.status === 'True')
  return {
    isDisabled: spec.disabled === true,
    isReleasing,
    step: canary?.currentStepIndex ?? 0,
    steps: spec.strategy.canary?.steps?.length ?? 0,
    stepState: canary?.currentStepState ?? '',
    canaryRevision: canary?.canaryRevision ?? '',
    isReturn: isReleasing && canary !== undefined && canary.canaryRevision === canary.stableRevision,
    isFinishing: isReleasing && canary?.finalisingStep === 'ResumeWorkload',
    stalled: stalled?.reason ?? '',
    hasFailed: status?.failure !== undefined,
    isBad: status?.failure?.stops === true && isReleasing && canary?.canaryRevision !== canary?.stableRevision,
    heldRevisions: (status?.heldRevisions ?? []).flatMap(({ revision }) => (revision === undefined ? [] : [revision])),
  }
}

/** Says in a few words where the release stands now. */
export function standingText({ isDisabled, isReleasing, isFinishing, step, steps, stepState, canaryRevision }: Standing): string {
  if (!isReleasing) return isDisabled ? 'no release is under way: the Rollout is disabled' : 'no release is under way'
  if (isFinishing) return `the steps are done, and the release of revision ${canaryRevision} is being finished`
  return `the release of revision ${canaryRevision} is at step ${step} of ${steps} (${stepState})`
}

/** The action in `tranche.dev/action` that the controller has not answered yet; undefined without one. */
export function unansweredAction(rollout: Rollout): RolloutAction | undefined {
  const said = parseAction(rollout)
  if (said.kind !== 'action') return undefined
  const { action } = said
  return isAnswered(rollout, { id: action.id, digest: actionDigest(action) }, action.type) ? undefined : action
}
