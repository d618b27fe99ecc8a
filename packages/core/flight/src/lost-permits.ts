import type { Permit } from '@tranche/api-schema'
import { type FleetPod, type FleetView, isAvailable } from '@tranche/fleet'
import type { Availability } from './permit-state.ts'

/** What a lost record is restored from. */
export interface LostRecord {
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** Our view: which nodes are desired, and since when their pods have been Ready. */
  readonly fleet: FleetView
  /** Pods of the DaemonSet as a live list has just shown them. */
  readonly pods: readonly FleetPod[]
  readonly availability: Availability
}

/**
 * Rule F11: permits for the nodes that may be in flight by a record that is lost: desired nodes without a standing old pod and without
 * an available pod of the revision. Each stands for a pod that is gone, so it settles as soon as its node has an available pod.
 */
export function lostPermits({ revision, fleet, pods, availability: { minReadyMs, monotonicMs } }: LostRecord): readonly Permit[] {
  const live = Map.groupBy(
    pods.filter(({ terminating }) => !terminating),
    ({ node }) => node,
  )
  return fleet.nodes.flatMap(({ name, desired, pods: seen }) => {
    if (!desired) return []
    const standing = live.get(name) ?? []
    if (standing.some(({ hash }) => hash !== revision)) return []
    const isUp = standing.some(
      ({ uid, ready }) => ready && seen.some((pod) => pod.uid === uid && isAvailable(pod, minReadyMs, monotonicMs)),
    )
    return isUp ? [] : [{ node: name, podUid: `${LOST_POD_PREFIX}${name}`, podResourceVersion: '0' }]
  })
}

/** No uid of the API server begins so. */
const LOST_POD_PREFIX = 'lost:'
