import type { Permit } from '@tranche/api-schema'
import { type FleetPod, type FleetView, isAvailable } from '@tranche/fleet'
import type { Availability } from './permit-state.ts'

/** Data from which a lost record is restored. */
export interface LostRecord {
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** Our view: the desired nodes, and since when their pods have been Ready. */
  readonly fleet: FleetView
  /** Pods of the DaemonSet from a live list. */
  readonly pods: readonly FleetPod[]
  readonly availability: Availability
}

/**
 * Rule F11: permits for nodes that may be in flight under a lost record: desired nodes without a standing old pod and without
 * an available pod of the revision. Each permit is for a pod that does not exist. See L21, also for what it misses.
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

/** Prefix that no uid of the API server has. */
const LOST_POD_PREFIX = 'lost:'
