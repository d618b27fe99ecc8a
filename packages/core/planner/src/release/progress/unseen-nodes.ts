import type { BatchReleasePlan } from '../view/batch-release-plan.ts'
import type { ReleaseView } from '../view/release-view.ts'
import { firstNodes } from './unwell-text.ts'
import type { Wanted } from './wanted-allowance.ts'

/** What {@link mayMissNodes} reads. */
type Counted = Pick<ReleaseView, 'daemonSet' | 'fleet' | 'nodeList'>

/** How many desired nodes more than our view the DaemonSet controller counts, for the generation that we see; at least 0. */
export function moreNodesCounted({ daemonSet, fleet }: Pick<ReleaseView, 'daemonSet' | 'fleet'>): number {
  const { observedGeneration, desiredNumberScheduled = 0 } = daemonSet?.status ?? {}
  return observedGeneration === daemonSet?.metadata.generation ? Math.max(0, desiredNumberScheduled - fleet.desired) : 0
}

/**
 * G3: whether nodes may be missing from our view, so that a batch may seem complete without them. The count of the DaemonSet controller only
 * raises the question: it still has nodes that were deleted. A live list of nodes answers it.
 */
export function mayMissNodes(view: Counted): boolean {
  return moreNodesCounted(view) > 0 && view.nodeList?.unseen?.length !== 0
}

/** Milliseconds until nodes are to be listed for a batch that waits for nodes of {@link mayMissNodes}; null where none does. */
export function untilNodesListedMs(
  { nodeList, monotonicMs }: Pick<ReleaseView, 'nodeList' | 'monotonicMs'>,
  wanted: Wanted,
): number | null {
  if (wanted.kind !== 'allow' || wanted.progress.behind !== 'nodes') return null
  return nodeList === undefined ? 0 : Math.max(0, nodeList.againMs - monotonicMs)
}

/** Lists nodes where a batch is complete but for nodes that may be missing from our view. */
export function planNodeList(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  return untilNodesListedMs(view, wanted) === 0 ? { kind: 'listNodes' } : null
}

/** Names the listed nodes that our view lacks. Where no list says which, says how many more nodes the DaemonSet controller counts. */
export function unseenText(view: Counted): string {
  const names = view.nodeList?.unseen ?? []
  if (names.length > 0) return `waiting until the watch of nodes shows ${firstNodes(names)}`
  const count = moreNodesCounted(view)
  const more = count === 1 ? '1 node' : `${count} nodes`
  return `waiting for a list of nodes: the DaemonSet controller counts ${more} more than the watch of nodes shows`
}
