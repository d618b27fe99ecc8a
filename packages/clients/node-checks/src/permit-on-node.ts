import type { Permit } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import { isSamePermit, type NodeAgent, type SeenPermit } from '@tranche/drain'
import { type NodeView, nodeInView } from '@tranche/fleet'
import { compareResourceVersions } from '@tranche/kube-types'
import { isInCharge } from '@tranche/planner'
import type { CheckTarget } from './check.ts'

/** Permits of the node in the record, the oldest first. */
export function permitsOn({ status }: CheckTarget['release'], node: string): readonly Permit[] {
  return (status?.flight?.permits ?? []).filter((one) => one.node === node)
}

/** The newest permit of the node, which is the one that is executable; null without one. */
export function permitOn({ release }: CheckTarget, node: string): SeenPermit | null {
  const { namespace = '', name, uid, resourceVersion } = release.metadata
  const permit = permitsOn(release, node).at(-1)
  return permit === undefined ? null : { release: { namespace, name, uid }, permit, seenAt: resourceVersion }
}

/**
 * Whether a permit is over, for which something was done on its node. Not before the watch of this process has reached the version of the
 * BatchRelease in which another process saw the permit.
 *
 * @param target the DaemonSet, if its release may still have the permit
 */
export function isPermitOver({ release, permit, seenAt }: SeenPermit, cluster: WatchedCluster, target?: CheckTarget): boolean {
  if (compareResourceVersions(cluster.batchReleases.positionOf(release.namespace), seenAt) < 0) return false
  const known = cluster.overlay.batchReleases.get(release)
  if (known?.metadata.uid !== release.uid) return true
  const listed = known.status?.flight?.permits.find((one) => isSamePermit(one, permit))
  if (listed === undefined) return true
  return target !== undefined && hasSettled(nodeInView(cluster.fleet.view(target.daemonSet), listed.node), listed.podUid)
}

/**
 * Whether the watch of pods of this process can show what became of the pod of a permit that is over. A pod that is seen as it was when it was
 * permitted may be deleted since. A permit ends unused only once its pod has changed, and deletes nothing then (F7).
 */
export function showsEndOf({ permit }: SeenPermit, { daemonSet, node }: NodeAgent, { pods, fleet, overlay }: WatchedCluster): boolean {
  const { podUid, podResourceVersion } = permit
  if (compareResourceVersions(pods.positionOf(daemonSet.namespace), podResourceVersion) < 0) return false
  const owner = overlay.daemonSets.get(daemonSet)
  const view = owner === undefined ? undefined : nodeInView(fleet.view(owner), node)
  return view?.pods.some(({ uid, resourceVersion }) => uid === podUid && resourceVersion === podResourceVersion) !== true
}

/** Whether the BatchRelease controls its DaemonSet, as far as the watches show. */
export function isControlling(release: SeenPermit['release'], { overlay }: WatchedCluster): boolean {
  const known = overlay.batchReleases.get(release)
  const daemonSet = overlay.daemonSets.get({ namespace: release.namespace, name: known?.spec.workloadRef?.name ?? '' })
  return known?.metadata.uid === release.uid && isInCharge({ release: known }, daemonSet)
}

/** As far as the watches show: the pod is gone and the node has a Ready one, or the node is not desired any more. */
function hasSettled(view: NodeView | undefined, podUid: string): boolean {
  if (view === undefined || !view.desired) return true
  return view.pods.some(({ ready }) => ready) && !view.pods.some(({ uid }) => uid === podUid)
}
