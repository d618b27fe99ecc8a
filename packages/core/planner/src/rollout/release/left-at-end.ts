import { type BatchReleaseSpec, LEFT_NODES_MAX, type LeftAtEnd, type Rollout } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import type { RolloutView } from '../view/rollout-view.ts'

/** Whether the release, or the last one, rolls a version back. Nothing stops that: the nodes that it leaves run a worse version. */
export function isRollback({ status }: Rollout): boolean {
  return status?.rollbackFrom !== undefined
}

/**
 * Nodes left of a release of the stable revision that rolls nothing back: its Rollout was disabled meanwhile, or its BatchRelease deleted. A
 * node on which the revision is not Ready as this release starts is judged, too: the version may have failed there before.
 *
 * @param releaseName `spec.tranche.release` of the release
 */
export function leftSoFar(view: RolloutView, releaseName: string): LeftAtEnd {
  const { rollout, release, fleet } = view
  const canaryRevision = rollout.status?.canaryStatus?.canaryRevision
  if (release?.spec.tranche?.release === releaseName) return leftAtEnd(view, release.spec)
  const isUnwell = ({ pods }: NodeView): boolean => pods.some(({ hash, ready }) => hash === canaryRevision && !ready)
  const judged = fleet.nodes.filter((node) => isUnwell(node) || (node.desiredOnReturn === true && !hasRun(node, canaryRevision)))
  return leftAtEnd(view, { tranche: { canaryRevision, left: { nodes: judged.map(({ name }) => name) } } })
}

/**
 * Nodes that have not run the revision when its release ends, in the order of their names. A node with an old pod now had one then. It is added
 * where the list lacks it, because a watch was behind or another client changed the list.
 */
export function leftAtEnd({ fleet, release }: RolloutView, { tranche }: Pick<BatchReleaseSpec, 'tranche'>): LeftAtEnd {
  const { left, canaryRevision = '' } = tranche ?? {}
  if (left !== undefined && left.nodes === undefined) return left
  // A node that was lost in mid-update has an unsettled permit, and no pod that its kubelet has acknowledged.
  const taken = new Set(left === undefined ? release?.status?.flight?.permits.map(({ node }) => node) : [])
  // A node that is down without an old pod returns with a pod of the revision. Whether that one fails says something about the revision.
  const isAway = ({ name, desiredOnReturn }: NodeView): boolean => taken.has(name) || (left === undefined && desiredOnReturn === true)
  const due = fleet.nodes.filter((node) => hasOldPod(node, canaryRevision) || (isAway(node) && !hasRun(node, canaryRevision)))
  const nodes = [...new Set([...(left?.nodes ?? []), ...due.map(({ name }) => name)])]
  return nodes.length > LEFT_NODES_MAX ? {} : { nodes: nodes.toSorted() }
}

function hasRun({ pods }: NodeView, revision: string | undefined): boolean {
  return pods.some(({ hash, acknowledged }) => hash === revision && acknowledged)
}
