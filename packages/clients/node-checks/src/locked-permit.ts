import { cordonedNodes, type WatchedCluster } from '@tranche/cluster'
import { isSamePermit, type SeenPermit, type NodeLock } from '@tranche/drain'
import type { CheckTarget } from './check.ts'
import { isControlling, isPermitOver } from './permit-on-node.ts'

/** Whether the permit of a lock is over, as {@link isPermitOver} says; a lock without a permit has none that lasts. */
export function isPermitOfLockOver({ release, permit }: NodeLock, cluster: WatchedCluster, target?: CheckTarget): boolean {
  return release === null || permit === null || isPermitOver({ release, permit, seenAt: permit.seenAt }, cluster, target)
}

/** Whether the lock is held for this permit. */
export function isFor({ permit }: NodeLock, locked: SeenPermit): boolean {
  return permit !== null && isSamePermit(permit, locked.permit)
}

/** A lock of a release that controls no DaemonSet, of a namespace that is watched, on a node without a cordon of that release. */
export function isLeft({ node, release }: NodeLock, cluster: WatchedCluster, watched: readonly string[] | undefined): boolean {
  if (release === null || (watched !== undefined && !watched.includes(release.namespace))) return false
  return !isControlling(release, cluster) && !cordonedNodes(cluster, release).some((one) => one.node === node)
}
