import type { Permit } from '@tranche/api-schema'
import { type FleetPod, isAvailable, type NodeView } from '@tranche/fleet'
import { compareResourceVersions } from '@tranche/kube-types'

/**
 * State of a permit, by our watches and our clock. Where `minReadyMs` is more than 0, time alone makes it `settled`, even in
 * a stale view; callers that rely on it read the pod first ({@link isConfirmedBy}, L10).
 *
 * - `standing`: its pod is unchanged, so the permit may be executed (L1).
 * - `unseen`: our view of the pod is older than the permit, so its state is unknown (L2).
 * - `dead`: its pod exists in a newer version, so no delete by this permit can be accepted (F5, L15).
 * - `flying`: its pod is terminating or gone, and the node has no available pod yet.
 * - `settled`: its pod is gone and the node has an available one (F6, L3).
 * - `left`: its pod is gone and the node is no longer desired in our view. The permit counts as unsettled, and leaves the
 *   record only after a live read ({@link hasLeft}, F6, L11).
 */
export type PermitState = 'standing' | 'unseen' | 'dead' | 'flying' | 'settled' | 'left'

/** Clock and delay that decide whether a pod is available. */
export interface Availability {
  /** spec.minReadySeconds in milliseconds (≥ 0). */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/** Rules F5 and F6: the state of `permit` on its node; `node` is undefined where it is neither desired nor has a pod. */
export function permitState(permit: Permit, node: NodeView | undefined, availability: Availability): PermitState {
  const pod = node?.pods.find((candidate) => candidate.uid === permit.podUid)
  if (pod !== undefined) return stateOfStandingPod(permit, pod)
  if (node === undefined || !node.desired) return 'left'
  return node.pods.some((other) => isAvailable(other, availability.minReadyMs, availability.monotonicMs)) ? 'settled' : 'flying'
}

function stateOfStandingPod(permit: Permit, pod: FleetPod): PermitState {
  if (pod.terminating) return 'flying'
  const age = compareResourceVersions(pod.resourceVersion, permit.podResourceVersion)
  return age === 0 ? 'standing' : age > 0 ? 'dead' : 'unseen'
}
