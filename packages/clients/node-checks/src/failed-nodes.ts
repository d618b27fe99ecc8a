import type { Clock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { judgeRelease, recordedFacts } from '@tranche/verdict'
import type { CheckTarget } from './check.ts'

/**
 * Nodes on which the release of a target has failed, as this process judges it, whether a retry has accepted that or not. A status names only some
 * of them, none where an analysis stops the release, and others that only were NotReady when they were due.
 */
export function failedNodes({ daemonSet, release }: CheckTarget, { fleet }: WatchedCluster, clock: Clock): ReadonlySet<string> {
  const { failure: _failure, ...status } = release.status ?? {}
  const judgement = judgeRelease({
    release: { ...release, status },
    fleet: fleet.view(daemonSet),
    minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1000,
    nowMs: clock.nowMs(),
    monotonicMs: clock.monotonicMs(),
    ...recordedFacts(release),
  })
  return new Set(judgement?.verdict.failed.map(({ node }) => node))
}
