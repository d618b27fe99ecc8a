import type { CanaryStatus, Rollout, RolloutStep } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { isFinalising, stepsOf } from './release-spec.ts'
import { stepSelectorText } from './step-selector-text.ts'

/** Prefix of a step's message: `step 2 of 4 (24%)`. */
export function stepTitle(
  rollout: Rollout,
  { canary, rollbackFrom }: { readonly canary: CanaryStatus; readonly rollbackFrom: string | undefined },
  step: RolloutStep,
): string {
  const back = rollbackFrom === undefined ? '' : `${returnInSteps(rollout, canary, rollbackFrom)}, `
  return `${back}step ${canary.currentStepIndex} of ${stepsOf(rollout).length} (${sizeText(step)})`
}

/** Longest selector in a title, in characters: a message with it must fit into a status. */
const LONGEST_SELECTOR = 80

/** A step without a size takes all nodes of its selector. */
function sizeText({ replicas, nodes }: RolloutStep): string {
  if (replicas !== undefined) return String(replicas)
  const selector = nodes === undefined ? '' : stepSelectorText(nodes)
  if (selector === '') return '100%'
  return clipText(selector, LONGEST_SELECTOR)
}

/**
 * Whether a blocked revision was applied again and nothing else was released since: no record of a release is open for it. Only nodes that
 * leaked run it.
 */
export function isUnreleased({ status }: Rollout, revision: string): boolean {
  const latest = status?.releases?.at(-1)
  const isOver = latest?.result === 'Completed' || (latest?.revision === revision && latest.result !== undefined)
  return isOver && status?.heldRevisions?.some((held) => held.revision === revision) === true
}

/** The step title that follows says which revision it goes to. */
function returnInSteps(rollout: Rollout, canary: CanaryStatus, rollbackFrom: string): string {
  return isUnreleased(rollout, rollbackFrom) ? unreleasedTitle(canary, rollbackFrom) : `rolling back from revision ${rollbackFrom}`
}

function unreleasedTitle({ canaryRevision }: Pick<CanaryStatus, 'canaryRevision'>, rollbackFrom: string): string {
  return `returning to revision ${canaryRevision}; revision ${rollbackFrom} is blocked and was not released`
}

/** Prefix of the message of a rollback without pauses: its revisions. */
export function returnTitle(rollout: Rollout, { canaryRevision }: CanaryStatus, rollbackFrom: string): string {
  if (isUnreleased(rollout, rollbackFrom)) return unreleasedTitle({ canaryRevision }, rollbackFrom)
  return `rolling back from revision ${rollbackFrom} to ${canaryRevision}`
}

/** Prefix of the Rollout's message while `status.waitingFor` says what it waits for; empty where the wait is all there is. */
export function releaseTitle(rollout: Rollout): string {
  const { canaryStatus: canary, rollbackFrom, conditions } = rollout.status ?? {}
  if (canary === undefined) return ''
  const isCancelling = conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Cancelling') === true
  if (isFinalising(canary)) return isCancelling && rollbackFrom !== undefined ? returnTitle(rollout, canary, rollbackFrom) : ''
  const step = stepsOf(rollout)[canary.currentStepIndex - 1]
  return step === undefined ? '' : stepTitle(rollout, { canary, rollbackFrom }, step)
}
