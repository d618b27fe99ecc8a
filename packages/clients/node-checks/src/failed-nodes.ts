import type { Clock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { judgeRelease, recordedFacts } from '@tranche/verdict'
import type { CheckTarget } from './check.ts'

/**
 * Nodes on which the release of a target has failed, as this process judges it, with those that a retry accepted. A status names only some of them,
 * and none where an analysis stops the release.
 */
export function failedNodes({ daemonSet, release }: CheckTarget, { fleet }: WatchedCluster, clock: Clock): ReadonlySet<string> {
  const judgement = judgeRelease({
    release,
    fleet: fleet.view(daemonSet),
    minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1000,
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
    ...recordedFacts(release),
  })
  const { nodes = [], accepted = [] } = release.status?.failure ?? {}
  const judged = judgement?.verdict.failed.map(({ node }) => node) ?? []
  return new Set([...nodes, ...accepted, ...(judgement?.failure?.accepted ?? []), ...judged])
}
