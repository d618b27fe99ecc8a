import { type FleetNode, type FleetPod, isDesiredNode } from '@tranche/fleet'
import type { PodPlacement } from '@tranche/kube-types'

/** Fields of a pod from a live read. */
export type LivePod = Pick<FleetPod, 'uid' | 'resourceVersion' | 'terminating' | 'ready' | 'readyStamp'>

/** Timestamps of conditions have whole seconds: a pod that breaks and is Ready again within one second keeps its stamp (L10). */
const STAMP_MS = 1_000

/**
 * Rule F6: whether a live read confirms that a pod was available. The read was sent when `seen` was available by the clock. The
 * pod must have the same version, or a second later the same Ready stamp. See L10.
 *
 * @param read the API server's answer; null where the pod does not exist
 * @param overdueMs how long (ms, ≥ 0) `seen` had been available by the clock when the read was sent
 */
export function isConfirmedBy(seen: FleetPod, read: LivePod | null, overdueMs: number): boolean {
  if (read?.uid !== seen.uid || read.terminating || !read.ready) return false
  if (read.resourceVersion === seen.resourceVersion) return true
  return seen.readyStamp !== undefined && read.readyStamp === seen.readyStamp && overdueMs >= STAMP_MS
}

/**
 * Rule F6: whether a live read confirms that a node is gone, or no longer desired. A watch cannot confirm it. See L11.
 *
 * @param read the API server's answer; null where the node does not exist
 * @param placement placement rules of the DaemonSet, as seen when the question arose
 */
export function hasLeft(read: FleetNode | null, placement: PodPlacement): boolean {
  return read === null || !isDesiredNode(placement, { metadata: read, spec: read })
}
