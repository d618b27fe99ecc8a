import { type CanaryStatus, LISTED_NODES_MAX } from '@tranche/api-schema'
import { batchScope, isInScope } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import type { DaemonSet } from '@tranche/kube-types'
import { firstNodes } from '../../release/progress/unwell-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { commandText } from '../view/command-text.ts'
import { currentText } from './current-text.ts'
import { isReturn } from '../release/release-spec.ts'
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
  const nodes = nodesToRunFirst(view, before)
  if (nodes.length > 0) return firstRunState(view, before, nodes)
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

/**
 * Whether a desired node runs the revision. Without one, a release that leaves nodes does not end, so the revision does not become stable. A
 * rollback returns to a revision that has run.
 */
function hasRun({ canary }: RolloutState): boolean {
  return isReturn(canary) || canary.canaryReplicas > 0
}

/**
 * Nodes that the DaemonSet is desired on although its BatchRelease completed without any: they joined in that moment. Empty once a pod of the
 * revision is Ready, because then it has run.
 */
function nodesToRunFirst({ release, fleet }: RolloutView, { canary }: RolloutState): readonly string[] {
  const hasReleased = (release?.status?.canaryStatus?.updatedReplicas ?? 0) > 0
  if (hasReleased || isReturn(canary) || (canary.canaryReadyReplicas ?? 0) > 0) return []
  const scope = batchScope(release?.spec.tranche?.nodes, null)
  const isWanted = (node: NodeView): boolean => node.desired || (node.desiredOnReturn === true && isInScope(scope, node))
  return fleet.nodes.filter(isWanted).map(({ name }) => name)
}

/** G3: Kubernetes creates the pods of these nodes. An abort returns to the former revision. */
function firstRunState(view: RolloutView, before: RolloutState, names: readonly string[]): RolloutState {
  const { canaryRevision, lastUpdateTime } = before.canary
  const nodes = names.slice(0, LISTED_NODES_MAX)
  const message = `no node has run revision ${canaryRevision} yet, so it becomes the stable one with its first Ready pod, on ${firstNodes(nodes)}; or run ${commandText(view.rollout, 'abort')}`
  const since = lastUpdateTime === undefined ? {} : { since: lastUpdateTime }
  return { ...before, message, waitingFor: { reason: 'NotAvailable', message, nodes, ...since } }
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
