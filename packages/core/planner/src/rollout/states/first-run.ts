import { LISTED_NODES_MAX } from '@tranche/api-schema'
import { batchScope, hasOldPod, isInScope } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import type { DaemonSet } from '@tranche/kube-types'
import { firstNodes } from '../../release/progress/unwell-text.ts'
import type { FoundRevisions } from '../../release/view/discover-revisions.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { isReturn } from '../release/release-spec.ts'
import { commandText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { startState } from './start-state.ts'

/**
 * G3: a release found no node, or only nodes that it left behind, and others are desired since. A version that no node has run does not become
 * the stable one. Old pods on these nodes are replaced by a release, which begins again. Otherwise Kubernetes creates their pods, and the
 * first Ready one ends the wait.
 *
 * @returns null where the release is not complete, or a node has run the version, or there still is none
 */
export function firstRunState(
  view: RolloutView,
  daemonSet: DaemonSet,
  before: RolloutState,
  discovery: FoundRevisions,
): RolloutState | null {
  const { completed, nodesLeft } = summarizeBatchRelease(view)
  if (!completed) return nodesLeft === null ? null : besideNodesLeft(view, before, nodesLeft)
  const found = nodesToRunFirst(view, before)
  if (found.length === 0) return null
  const { canaryRevision } = before.canary
  if (found.some((node) => hasOldPod(node, canaryRevision))) return startState(view, daemonSet, before, discovery)
  return untilReady(view, before, found, `no node has run revision ${canaryRevision} yet`)
}

/** The BatchRelease stays for the nodes that it left behind, and updates those that return: no other release is necessary. */
function besideNodesLeft(view: RolloutView, before: RolloutState, nodesLeft: string): RolloutState | null {
  const { canary } = before
  const found = hasRun(before) ? [] : view.fleet.nodes.filter(({ desired }) => desired)
  const why = `${nodesLeft}; no node runs a Ready pod of revision ${canary.canaryRevision}`
  return found.length > 0 ? untilReady(view, before, found, why) : null
}

function untilReady(view: RolloutView, before: RolloutState, found: readonly NodeView[], why: string): RolloutState {
  const { lastUpdateTime } = before.canary
  const nodes = found.slice(0, LISTED_NODES_MAX).map(({ name }) => name)
  const message = `${why}, so it becomes the stable one with its first Ready pod, on ${firstNodes(nodes)}; to return to the former version, run ${commandText(view.rollout, 'abort')}`
  const since = lastUpdateTime === undefined ? {} : { since: lastUpdateTime }
  return { ...before, message, waitingFor: { reason: 'NotAvailable', message, nodes, ...since } }
}

/** Empty once a pod of the revision is Ready, or was when the release ended, because then it has run, and for a rollback. */
export function nodesToRunFirst({ release, fleet }: RolloutView, state: RolloutState): readonly NodeView[] {
  const hasReleased = (release?.status?.canaryStatus?.updatedReadyReplicas ?? 0) > 0
  if (hasReleased || hasRun(state)) return []
  const scope = batchScope(release?.spec.tranche?.nodes, null)
  return fleet.nodes.filter((node) => node.desired || (node.desiredOnReturn === true && isInScope(scope, node)))
}

/**
 * G3: whether a desired node runs a Ready pod of the revision. Without one, a release that leaves nodes does not end, so the revision does not
 * become stable. A rollback returns to a revision that has run.
 */
export function hasRun({ canary }: RolloutState): boolean {
  return isReturn(canary) || (canary.canaryReadyReplicas ?? 0) > 0
}
