import { OLDER_PODS_MAX, type Permit, type StoppedTime } from '@tranche/api-schema'
import { findSuspects, type SuspectQuestion } from './suspects.ts'
import type { FleetView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'

/**
 * Counts how long a release was stopped. Rounds up: each stop may delay deadlines by up to a second, and never advances them.
 *
 * @param before count so far, of any release; undefined before the first
 * @param release `spec.tranche.release`
 */
export function stoppedTimeAfter(before: StoppedTime | undefined, release: string, isStopped: boolean, nowMs: number): StoppedTime {
  const known = before?.release === release ? before : newStoppedTime(release, nowMs)
  const { since, ...rest } = known
  const sinceMs = parseTime(since)
  if (isStopped) return { ...rest, since: since === undefined || sinceMs === null ? new Date(nowMs).toISOString() : since }
  if (sinceMs === null) return rest
  return { ...rest, seconds: rest.seconds + Math.max(0, Math.ceil((nowMs - sinceMs) / 1000)) }
}

/**
 * Facts at the first observation of a release. Compares no timestamp of the API server with the local clock: they may be minutes
 * apart. If the revision was made for this release, all its pods belong to the release, even those created before this
 * observation. If the revision existed before, its pods that are unhealthy now are older than the release and do not count. Those that took the
 * place of a pod with a permit are not older: a release brought them.
 */
export function firstObservationOf(release: string, { fleet, wasThereBefore, permits, nowMs, ...question }: FirstObservation): StoppedTime {
  const started = newStoppedTime(release, nowMs)
  if (!wasThereBefore) return started
  const hasFollowed = (node: string, uid: string): boolean => permits.some((permit) => permit.node === node && permit.podUid !== uid)
  const suspects = findSuspects(fleet, { ...question, older: [] })
  const uids = suspects.flatMap(({ node, pod }) => (pod === undefined || hasFollowed(node, pod.uid) ? [] : [pod.uid]))
  return { ...started, ...(uids.length > 0 && { olderPods: uids.slice(0, OLDER_PODS_MAX) }) }
}

/** Input of a first observation. */
export interface FirstObservation extends Omit<SuspectQuestion, 'older'> {
  readonly fleet: FleetView
  /** Whether the revision is older than another one of the DaemonSet. */
  readonly wasThereBefore: boolean
  /** Permits in flight, also those of a release that ended on the same DaemonSet. */
  readonly permits: readonly Permit[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** @returns uids of the pods that are not judged; undefined before the first observation of the release */
export function olderPods(stopped: StoppedTime | undefined): readonly string[] | undefined {
  return stopped === undefined ? undefined : (stopped.olderPods ?? [])
}

/** Uses whole seconds, as the timestamps of pods do. */
function newStoppedTime(release: string, nowMs: number): StoppedTime {
  return { release, startedAt: new Date(Math.floor(nowMs / 1000) * 1000).toISOString(), seconds: 0 }
}
