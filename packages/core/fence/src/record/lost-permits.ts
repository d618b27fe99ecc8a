import type { Permit } from '@tranche/api-schema'
import { availableFromMs, type FleetPod, type FleetView, isAvailable, nodeInView } from '@tranche/fleet'
import { isConfirmedBy } from './confirm.ts'
import type { Availability } from './permit-state.ts'

/** Data from which a lost record is restored. */
export interface LostRecord {
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** Hash of the revision being replaced; undefined where it is unknown. */
  readonly stable: string | undefined
  /** Revisions that were stable once, or ran before the first release. */
  readonly former: readonly string[]
  /** Names of the desired nodes, from a live list. */
  readonly nodes: readonly string[]
  /** Our view: since when pods have been Ready. */
  readonly fleet: FleetView
  /** Pods of the DaemonSet from a live list. */
  readonly pods: readonly FleetPod[]
  readonly availability: Availability
}

/**
 * Rule F11: permits for nodes that may be in flight under a lost record. These are the desired nodes without an available pod, except
 * those that still run a pod of the stable revision, or of a former one. Each permit stands for a pod that is gone, so it settles as soon
 * as its node has an available pod. See L21.
 */
export function lostPermits({ revision, stable, former, nodes, fleet, pods, availability }: LostRecord): readonly Permit[] {
  const live = Map.groupBy(
    pods.filter(({ terminating }) => !terminating),
    ({ node }) => node,
  )
  const before = stable === undefined ? former : [stable, ...former]
  const isFromBefore = (hash: string | undefined): boolean => hash !== undefined && hash !== revision && before.includes(hash)
  return nodes.flatMap((name) => {
    const standing = live.get(name) ?? []
    if (standing.some(({ hash }) => isFromBefore(hash))) return []
    const seen = nodeInView(fleet, name)?.pods ?? []
    const isUp = standing.some((pod) => seen.some((known) => isUpNow(known, pod, availability)))
    return isUp ? [] : [{ node: name, podUid: `${LOST_POD_PREFIX}${name}`, podResourceVersion: '0' }]
  })
}

/** Whether a pod of our view is available, and the live list confirms it (L10). */
function isUpNow(seen: FleetPod, live: FleetPod, { minReadyMs, monotonicMs }: Availability): boolean {
  if (!live.ready || seen.uid !== live.uid || !isAvailable(seen, minReadyMs, monotonicMs)) return false
  return minReadyMs === 0 || isConfirmedBy(seen, live, monotonicMs - (availableFromMs(seen, minReadyMs) ?? monotonicMs))
}

/** Whether a permit was restored: it does not say how its node was before. */
export function isOfLostPod({ podUid }: Permit): boolean {
  return podUid.startsWith(LOST_POD_PREFIX)
}

/** Prefix that no uid of the API server has. */
const LOST_POD_PREFIX = 'lost:'
