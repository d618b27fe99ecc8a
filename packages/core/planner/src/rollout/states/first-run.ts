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
 * G3: a release found no node, and nodes are desired since. A version that no node has run does not become the stable one. Old pods on these
 * nodes are replaced by a release, which begins again. Otherwise Kubernetes creates their pods, and the first Ready one ends the wait.
 *
 * @returns null where the release is not complete, or a node has run the version, or there still is none
 */
export function firstRunState(
  view: RolloutView,
  daemonSet: DaemonSet,
  before: RolloutState,
  discovery: FoundRevisions,
): RolloutState | null {
  if (!summarizeBatchRelease(view).completed) return null
  const { canaryRevision, lastUpdateTime } = before.canary
  const found = nodesToRunFirst(view, before)
  if (found.length === 0) return null
  if (found.some((node) => hasOldPod(node, canaryRevision))) return startState(view, daemonSet, before, discovery)
  const nodes = found.slice(0, LISTED_NODES_MAX).map(({ name }) => name)
  const message = `no node has run revision ${canaryRevision} yet, so it becomes the stable one with its first Ready pod, on ${firstNodes(nodes)}; to return to the former version, run ${commandText(view.rollout, 'abort')}`
  const since = lastUpdateTime === undefined ? {} : { since: lastUpdateTime }
  return { ...before, message, waitingFor: { reason: 'NotAvailable', message, nodes, ...since } }
}

/** Empty once a pod of the revision is Ready, because then it has run, and for a rollback. */
function nodesToRunFirst({ release, fleet }: RolloutView, { canary }: RolloutState): readonly NodeView[] {
  const hasReleased = (release?.status?.canaryStatus?.updatedReplicas ?? 0) > 0
  if (hasReleased || isReturn(canary) || (canary.canaryReadyReplicas ?? 0) > 0) return []
  const scope = batchScope(release?.spec.tranche?.nodes, null)
  return fleet.nodes.filter((node) => node.desired || (node.desiredOnReturn === true && isInScope(scope, node)))
}
