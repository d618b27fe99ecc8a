import type { Permit } from '@tranche/api-schema'
import { type FleetPod, isAvailable, type NodeView } from '@tranche/fleet'
import { compareResourceVersions } from '@tranche/kube-types'

/**
 * What has become of a permit, as our watches and our clock show it. Where `minReadyMs` is more than 0, time alone makes it
 * `settled`, also in a view that has stood still: who counts by it reads the pod first ({@link isConfirmedBy}).
 *
 * - `standing`: its pod is as recorded, so the permit may be executed.
 * - `unseen`: our view of the pod is older than the permit; nothing can be said yet.
 * - `dead`: its pod lives on with a newer version, so no delete by this permit can be accepted any more (F5).
 * - `flying`: its pod is terminating or gone, and the node has no available pod yet.
 * - `settled`: its pod is gone and the node has an available one (F6).
 * - `left`: its pod is gone and the node is no longer desired; in our view, which may be old: it counts as unsettled
 *   until the record says so, and leaves that only after a live read ({@link hasLeft}, F6).
 */
export type PermitState = 'standing' | 'unseen' | 'dead' | 'flying' | 'settled' | 'left'

/** How time bears on availability. */
export interface Availability {
  /** spec.minReadySeconds in milliseconds (≥ 0). */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/** Rules F5 and F6: what has become of `permit` on its node; `node` undefined where it is neither desired nor has a pod. */
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
