import { type FleetNode, type FleetPod, isDesiredNode } from '@tranche/fleet'
import type { PodPlacement } from '@tranche/kube-types'

/** What a live read says of a pod. */
export type LivePod = Pick<FleetPod, 'uid' | 'resourceVersion' | 'terminating' | 'ready' | 'readyStamp'>

/** Stamps of conditions are in whole seconds: a pod that breaks and is Ready again within one keeps its stamp. */
const STAMP_MS = 1_000

/**
 * Rule F6: whether a live read, sent when the clock had made `seen` available, shows that it was available in truth. Between our
 * sight of it and the read nothing has happened to a pod of the same version, however old our view is; nor has one broken
 * whose Ready condition has the same stamp.
 *
 * @param read what the API server answered; null where there is no such pod
 * @param overdueMs for how long `seen` had been available by the clock when the read was sent (≥ 0)
 */
export function isConfirmedBy(seen: FleetPod, read: LivePod | null, overdueMs: number): boolean {
  if (read?.uid !== seen.uid || read.terminating || !read.ready) return false
  if (read.resourceVersion === seen.resourceVersion) return true
  return seen.readyStamp !== undefined && read.readyStamp === seen.readyStamp && overdueMs >= STAMP_MS
}

/**
 * Rule F6: whether a live read shows that a node is gone, or no longer desired by the rules by which a view is made. A watch cannot:
 * one that is old does not have the nodes that have joined since, nor knows of a taint that was taken away.
 *
 * @param read what the API server answered; null where there is no such node
 * @param placement where pods of the DaemonSet belong, as it was seen when the question came up
 */
export function hasLeft(read: FleetNode | null, placement: PodPlacement): boolean {
  return read === null || !isDesiredNode(placement, { metadata: read, spec: read })
}
