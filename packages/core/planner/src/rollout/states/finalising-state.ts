import type { CanaryStatus } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import type { RolloutState } from '../view/rollout-state.ts'
import { currentText } from './current-text.ts'
import { hasRun } from './first-run.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { returnTitle } from '../release/release-title.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { rolledBackText } from './rolled-back-text.ts'

/** The steps are done: the release is over once the DaemonSet was given back, or stays under control for nodes left behind. */
export function finalisingState(view: RolloutView, daemonSet: DaemonSet, before: RolloutState): RolloutState {
  const { completed, nodesLeft, message, stalled, waiting } = summarizeBatchRelease(view)
  const isOverButForNodesLeft = nodesLeft !== null && hasRun(before)
  if (!completed && !isOverButForNodesLeft)
    return { ...before, message: `${endingText(view, before, message)}${unpinnedText(view)}`, waitingFor: waiting, stalled }
  const canary: CanaryStatus = {
    ...before.canary,
    finalisingStep: 'END',
    currentStepState: 'Completed',
    nextStepIndex: -1,
    lastUpdateTime: new Date(view.nowMs).toISOString(),
  }
  return {
    ...before,
    phase: 'Healthy',
    reason: 'Completed',
    canary,
    stableRevision: canary.canaryRevision,
    succeeded: before.rollbackFrom === undefined,
    acceptedActions: {},
    failure: before.rollbackFrom === undefined ? undefined : before.failure,
    message: `${nodesLeft ?? currentText(view, daemonSet, canary.canaryRevision).text}${rolledBackText(view, before)}`,
  }
}

/** Config that cannot be pinned does not hold a rollback. */
function unpinnedText({ configHold }: RolloutView): string {
  return configHold === undefined ? '' : `; ${configHold.message}`
}

/** A rollback is named in every message: counts alone would read as progress of the version that is rolled back. */
function endingText({ rollout }: RolloutView, { reason, rollbackFrom, canary }: RolloutState, message: string | undefined): string {
  if (reason !== 'Cancelling' || rollbackFrom === undefined) return message ?? 'finishing the release'
  return `${returnTitle(rollout, canary, rollbackFrom)}${message === undefined ? '' : `: ${message}`}`
}
