import type { Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import { isReleaseOf, keyOf, type ObjectKey } from '@tranche/kube-types'
import type { ReleaseFacts } from '@tranche/reports'
import { workloadKey } from './read-action-facts.ts'

/**
 * Facts of one Rollout from a watched cluster; the cost is proportional to the nodes that changed since the last call.
 *
 * @param cluster created with `forReports`
 * @returns undefined if there is no such Rollout
 */
export function watchedFacts(cluster: WatchedCluster, clock: Clock, key: ObjectKey): ReleaseFacts | undefined {
  const rollout = cluster.rollouts.store.get(key)
  return rollout === undefined ? undefined : factsOf(cluster, clock, rollout)
}

/** The same for every Rollout, in no meaningful order. */
export function allWatchedFacts(cluster: WatchedCluster, clock: Clock): readonly ReleaseFacts[] {
  return cluster.rollouts.store.list().map((rollout) => factsOf(cluster, clock, rollout))
}

function factsOf({ fleet, daemonSets, batchReleases, revisions }: WatchedCluster, clock: Clock, rollout: Rollout): ReleaseFacts {
  const daemonSet = daemonSets.store.get(workloadKey(rollout))
  const release = batchReleases.store.get(keyOf(rollout))
  return {
    rollout,
    release: release !== undefined && isReleaseOf(release, rollout) ? release : undefined,
    daemonSet,
    revisions: daemonSet === undefined ? [] : ownedRevisions({ revisions }, daemonSet),
    fleet: daemonSet === undefined ? undefined : fleet.view(daemonSet),
    nowMs: clock.nowMs(),
    // The fleet carries the API server's own timestamps.
    monotonicMs: clock.nowMs(),
  }
}
