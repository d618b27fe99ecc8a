import { cordonedNodes, type WatchedCluster } from '@tranche/cluster'
import { isSamePermit, type LockedPermit, type NodeLock } from '@tranche/drain'
import { type NodeView, nodeInView } from '@tranche/fleet'
import { compareResourceVersions } from '@tranche/kube-types'
import { isInCharge } from '@tranche/planner'
import type { CheckTarget } from './check.ts'

/**
 * Whether the permit of a lock is over. Not before the watch of this process has reached the version of the BatchRelease in
 * which the holder saw the permit.
 */
export function hasPermitEnded({ release, permit }: NodeLock, cluster: WatchedCluster, target?: CheckTarget): boolean {
  if (release === null || permit === null) return true
  if (compareResourceVersions(cluster.batchReleases.positionOf(release.namespace), permit.seenAt) < 0) return false
  const known = cluster.overlay.batchReleases.get(release)
  if (known?.metadata.uid !== release.uid) return true
  const listed = known.status?.flight?.permits.find((one) => isSamePermit(one, permit))
  if (listed === undefined) return true
  return target !== undefined && hasSettled(nodeInView(cluster.fleet.view(target.daemonSet), listed.node), listed.podUid)
}

/** As far as the watches show: the pod is gone and the node has a Ready one, or the node is not desired any more. */
function hasSettled(view: NodeView | undefined, podUid: string): boolean {
  if (view === undefined || !view.desired) return true
  return view.pods.some(({ ready }) => ready) && !view.pods.some(({ uid }) => uid === podUid)
}

/** The newest permit of the node, which is the one that is executable; null without one. */
export function permitOn({ release }: CheckTarget, node: string): LockedPermit | null {
  const { namespace = '', name, uid, resourceVersion } = release.metadata
  const { permits = [] } = release.status?.flight ?? {}
  const permit = permits.filter((one) => one.node === node).at(-1)
  return permit === undefined ? null : { release: { namespace, name, uid }, permit, seenAt: resourceVersion }
}

/** Whether the lock is held for this permit. */
export function isFor({ permit }: NodeLock, locked: LockedPermit): boolean {
  return permit !== null && isSamePermit(permit, locked.permit)
}

/** A lock of a release that controls no DaemonSet, of a namespace that is watched, on a node without a cordon of that release. */
export function isLeft({ node, release }: NodeLock, cluster: WatchedCluster, watched: readonly string[] | undefined): boolean {
  if (release === null || (watched !== undefined && !watched.includes(release.namespace))) return false
  const { daemonSets, batchReleases } = cluster.overlay
  const held = batchReleases.get(release)
  const daemonSet = daemonSets.get({ namespace: release.namespace, name: held?.spec.workloadRef?.name ?? '' })
  const isActive = held?.metadata.uid === release.uid && isInCharge({ release: held }, daemonSet)
  return !isActive && !cordonedNodes(cluster, release).some((one) => one.node === node)
}
