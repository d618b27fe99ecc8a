import {
  type BatchReleaseStatus,
  batchReleasePhaseTransitions,
  batchStateTransitions,
  flightTransitions,
  isListed,
  type ProgressingReason,
  progressingTransitions,
  rolloutPhaseTransitions,
  type RolloutStatus,
  stepTransitions,
  type Transition,
} from '@tranche/api-schema'

/** @returns the changes of a Rollout's status that no state machine lists, as text */
export function unlistedOfRollout(before: RolloutStatus | undefined, next: RolloutStatus): readonly string[] {
  return [
    unlisted('phase', rolloutPhaseTransitions, before?.phase, next.phase),
    unlisted('reason', progressingTransitions, reasonOf(before), reasonOf(next)),
    unlisted('step', stepTransitions, before?.canaryStatus?.currentStepState, next.canaryStatus?.currentStepState),
  ].flat()
}

/** @returns the changes of a BatchRelease's status that no state machine lists, as text */
export function unlistedOfRelease(before: BatchReleaseStatus | undefined, next: BatchReleaseStatus): readonly string[] {
  return [
    unlisted('phase', batchReleasePhaseTransitions, before?.phase, next.phase),
    unlisted('batch', batchStateTransitions, before?.canaryStatus?.batchState, next.canaryStatus?.batchState),
    unlisted('record', flightTransitions, before?.flight?.state, next.flight?.state),
  ].flat()
}

function unlisted(
  name: string,
  listed: readonly Transition<string>[],
  from: string | undefined,
  to: string | undefined,
): readonly string[] {
  return isListed(listed, from === '' ? undefined : from, to === '' ? undefined : to) ? [] : [`${name}: ${from ?? 'none'} to ${to}`]
}

function reasonOf(status: RolloutStatus | undefined): ProgressingReason | undefined {
  return status?.conditions?.find(({ type }) => type === 'Progressing')?.reason as ProgressingReason | undefined
}
