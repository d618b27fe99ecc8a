import type { CanaryStatus, Rollout, RolloutStep } from '@tranche/api-schema'
import { isFinalising, stepsOf } from './release-spec.ts'

/** What the message of a step begins with: `step 2 of 4 (24%)`. */
export function stepTitle(
  rollout: Rollout,
  { canary, rollbackFrom }: { readonly canary: CanaryStatus; readonly rollbackFrom: string | undefined },
  step: RolloutStep,
): string {
  const back = rollbackFrom === undefined ? '' : `going back from revision ${rollbackFrom}, `
  return `${back}step ${canary.currentStepIndex} of ${stepsOf(rollout).length} (${step.replicas ?? (step.nodes === undefined ? '100%' : 'all of its nodes')})`
}

/** What the message of a rollback without pauses begins with: the revisions. */
export function returnTitle({ canaryRevision }: CanaryStatus, rollbackFrom: string): string {
  return `going back from revision ${rollbackFrom} to ${canaryRevision}`
}

/** What the message of the Rollout begins with while `status.waitingFor` says what it waits for; empty where it is that alone. */
export function releaseTitle(rollout: Rollout): string {
  const { canaryStatus: canary, rollbackFrom, conditions } = rollout.status ?? {}
  if (canary === undefined) return ''
  const isCancelling = conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Cancelling') === true
  if (isFinalising(canary)) return isCancelling && rollbackFrom !== undefined ? returnTitle(canary, rollbackFrom) : ''
  const step = stepsOf(rollout)[canary.currentStepIndex - 1]
  return step === undefined ? '' : stepTitle(rollout, { canary, rollbackFrom }, step)
}
