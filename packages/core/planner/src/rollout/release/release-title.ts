import type { CanaryStatus, Rollout, RolloutStep } from '@tranche/api-schema'
import { isFinalising, stepsOf } from './release-spec.ts'

/** Prefix of a step's message: `step 2 of 4 (24%)`. */
export function stepTitle(
  rollout: Rollout,
  { canary, rollbackFrom }: { readonly canary: CanaryStatus; readonly rollbackFrom: string | undefined },
  step: RolloutStep,
): string {
  const back = rollbackFrom === undefined ? '' : `rolling back from revision ${rollbackFrom}, `
  return `${back}step ${canary.currentStepIndex} of ${stepsOf(rollout).length} (${step.replicas ?? (step.nodes === undefined ? '100%' : 'all of its nodes')})`
}

/** Prefix of the message of a rollback without pauses: its revisions. */
export function returnTitle({ canaryRevision }: CanaryStatus, rollbackFrom: string): string {
  return `rolling back from revision ${rollbackFrom} to ${canaryRevision}`
}

/** Prefix of the Rollout's message while `status.waitingFor` says what it waits for; empty where the wait is all there is. */
export function releaseTitle(rollout: Rollout): string {
  const { canaryStatus: canary, rollbackFrom, conditions } = rollout.status ?? {}
  if (canary === undefined) return ''
  const isCancelling = conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Cancelling') === true
  if (isFinalising(canary)) return isCancelling && rollbackFrom !== undefined ? returnTitle(canary, rollbackFrom) : ''
  const step = stepsOf(rollout)[canary.currentStepIndex - 1]
  return step === undefined ? '' : stepTitle(rollout, { canary, rollbackFrom }, step)
}
