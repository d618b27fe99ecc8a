import { type Failure, presentReason, type Rollout, type RolloutAction } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { isAnswered, partsOfReleaseId } from '@tranche/planner'
import { actionDigest, parseAction } from '@tranche/validation'

/** State of a release, from the status of its Rollout. */
export interface Standing {
  /** Whether the Rollout is disabled: no release starts before it is enabled. */
  readonly isDisabled: boolean
  readonly isDeleted: boolean
  /** Whether the Rollout is being disabled or deleted. Its release may end first, and accepts no action. */
  readonly isEnding: boolean
  /** Whether a release runs and accepts actions. */
  readonly isReleasing: boolean
  readonly step: number
  readonly steps: number
  /** `currentStepState` of the status; users may set it to `StepReady`. */
  readonly stepState: string
  readonly canaryRevision: string
  /** Whether the release is a rollback. */
  readonly isReturn: boolean
  readonly isFinishing: boolean
  /** Reason of a true `Stalled` condition; else empty. */
  readonly stalled: string
  /** Whether a verdict exists, even if the stop is not confirmed yet; after a release, one of its revision. */
  readonly hasFailed: boolean
  /** Whether that verdict stops or rolls back the release; `Stalled` may not show it yet, or never. */
  readonly isBad: boolean
  readonly heldRevisions: readonly string[]
}

/** Reads the state of the release from a Rollout. */
export function standingOf({ metadata, spec, status }: Rollout): Standing {
  const canary = status?.canaryStatus
  const isReleasing = status?.phase === 'Progressing'
  const stalled = status?.conditions?.find((condition) => condition.type === 'Stalled' && condition.status === 'True')
  return {
    isDisabled: spec.disabled === true,
    isDeleted: metadata.deletionTimestamp !== undefined || status?.phase === 'Terminating',
    isEnding: (status?.phase === 'Disabling' && spec.disabled === true) || status?.phase === 'Terminating',
    isReleasing,
    step: canary?.currentStepIndex ?? 0,
    steps: spec.strategy.canary?.steps?.length ?? 0,
    stepState: canary?.currentStepState ?? '',
    canaryRevision: canary?.canaryRevision ?? '',
    isReturn: isReleasing && canary !== undefined && canary.canaryRevision === canary.stableRevision,
    isFinishing: isReleasing && canary?.finalisingStep === 'ResumeWorkload',
    stalled: presentReason(stalled?.reason ?? ''),
    hasFailed: status?.failure !== undefined && (isReleasing || !isOfOther(status.failure, canary?.canaryRevision)),
    isBad: status?.failure?.stops === true && isReleasing && canary?.canaryRevision !== canary?.stableRevision,
    heldRevisions: (status?.heldRevisions ?? []).flatMap(({ revision }) => (revision === undefined ? [] : [revision])),
  }
}

/** Whether the failure is of another revision than the present one: after a rollback the status keeps it. */
function isOfOther({ release }: Failure, revision: string | undefined): boolean {
  return release !== undefined && partsOfReleaseId(release).revision !== revision
}

/** One-line text of the state of the release. */
export function standingText({
  isDeleted,
  isDisabled,
  isEnding,
  isReleasing,
  isFinishing,
  step,
  steps,
  stepState,
  canaryRevision,
}: Standing): string {
  if (isEnding)
    return `the Rollout is being ${isDeleted ? 'deleted' : 'disabled'}, and only ${rolloutAnnotations.onDelete} decides about its release`
  if (!isReleasing) return isDisabled ? 'no release is running: the Rollout is disabled' : 'no release is running'
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
