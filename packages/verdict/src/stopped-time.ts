import type { StoppedTime } from '@tranche/api-schema'

/**
 * Counts for how long a release was stopped. Rounds up: deadlines may come a second late for each stop, never early.
 *
 * @param before what was counted so far, of whatever release; undefined before the first
 * @param release `spec.tranche.release`
 */
export function stoppedTimeAfter(before: StoppedTime | undefined, release: string, isStopped: boolean, nowMs: number): StoppedTime {
  const known = before?.release === release ? before : firstSight(release, nowMs)
  const { since, ...rest } = known
  if (isStopped) return { ...rest, since: since ?? new Date(nowMs).toISOString() }
  if (since === undefined) return rest
  return { ...rest, seconds: rest.seconds + Math.max(0, Math.ceil((nowMs - Date.parse(since)) / 1000) || 0) }
}

/** Pods say in whole seconds when they were created. */
function firstSight(release: string, nowMs: number): StoppedTime {
  return { release, startedAt: new Date(Math.floor(nowMs / 1000) * 1000).toISOString(), seconds: 0 }
}
