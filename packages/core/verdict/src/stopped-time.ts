import { OLDER_PODS_MAX, type StoppedTime } from '@tranche/api-schema'
import { findSuspects, type SuspectQuestion } from './suspects.ts'
import type { FleetView } from '@tranche/fleet'

/**
 * Counts for how long a release was stopped. Rounds up: deadlines may come a second late for each stop, never early.
 *
 * @param before what was counted so far, of whatever release; undefined before the first
 * @param release `spec.tranche.release`
 */
export function stoppedTimeAfter(before: StoppedTime | undefined, release: string, isStopped: boolean, nowMs: number): StoppedTime {
  const known = before?.release === release ? before : newStoppedTime(release, nowMs)
  const { since, ...rest } = known
  if (isStopped) return { ...rest, since: since ?? new Date(nowMs).toISOString() }
  if (since === undefined) return rest
  return { ...rest, seconds: rest.seconds + Math.max(0, Math.ceil((nowMs - Date.parse(since)) / 1000) || 0) }
}

/**
 * What is known of a release at first sight. No stamp of the API server is compared with our clock: theirs may be minutes
 * apart. Where the revision was made for this release, all its pods are of it, also those that came up before anybody saw it.
 * Where it had been there before, its pods that are not well by now are older than the release, and say nothing of it.
 */
export function firstObservationOf(release: string, { fleet, wasThereBefore, nowMs, ...question }: FirstObservation): StoppedTime {
  const started = newStoppedTime(release, nowMs)
  if (!wasThereBefore) return started
  const uids = findSuspects(fleet, { ...question, older: [] }).flatMap(({ pod }) => (pod === undefined ? [] : [pod.uid]))
  return { ...started, ...(uids.length > 0 && { olderPods: uids.slice(0, OLDER_PODS_MAX) }) }
}

/** What a first sight rests on. */
export interface FirstObservation extends Omit<SuspectQuestion, 'older'> {
  readonly fleet: FleetView
  /** The revision is older than another one of the DaemonSet. */
  readonly wasThereBefore: boolean
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** @returns uids of the pods that are not judged; undefined before the release was seen */
export function olderPods(stopped: StoppedTime | undefined): readonly string[] | undefined {
  return stopped === undefined ? undefined : (stopped.olderPods ?? [])
}

/** Whole seconds, as in the stamps of pods. */
function newStoppedTime(release: string, nowMs: number): StoppedTime {
  return { release, startedAt: new Date(Math.floor(nowMs / 1000) * 1000).toISOString(), seconds: 0 }
}
