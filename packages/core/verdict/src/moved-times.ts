import type { BatchRelease } from '@tranche/api-schema'
import { parseTime, timeText } from '@tranche/kube-types'
import { recoveredSinceOf } from './failure-status.ts'

/** Change of a clock, in milliseconds, from which it counts as set; smaller differences are normal drift. */
export const CLOCK_SET_MS = 10_000

/**
 * Maps each time in a status, from before the API server's clock was set, to the same moment by the present clock. The next write
 * of the status stores the new times.
 */
export type MovedTimes = ReadonlyMap<string, string>

/** Parts of a status with times that deadlines and `failure.autoResume` depend on. */
export type LastingStatus = Pick<NonNullable<BatchRelease['status']>, 'stoppedTime' | 'failure' | 'waiting'>

/**
 * Moves the times of a status by `ms`, the change of the clock since `before`; 0 means no change. Drops times that the status no
 * longer has, and keeps invalid times as they are.
 */
export function movedTimes(before: MovedTimes, status: LastingStatus | undefined, ms: number): MovedTimes {
  const moved = new Map<string, string>()
  for (const stamped of [status?.stoppedTime?.since, status?.failure && recoveredSinceOf(status.failure), status?.waiting?.since]) {
    const stampedMs = parseTime(stamped)
    if (stamped === undefined || stampedMs === null) continue
    const known = before.get(stamped)
    if (ms !== 0) moved.set(stamped, timeText((parseTime(known) ?? stampedMs) + ms))
    else if (known !== undefined) moved.set(stamped, known)
  }
  return moved
}

/** Copy of the status with its times by the present clock. */
export function withMovedTimes<Status extends LastingStatus>(status: Status, moved: MovedTimes): Status {
  const { stoppedTime, failure, waiting } = status
  const { since } = stoppedTime ?? {}
  const recoveredSince = failure && recoveredSinceOf(failure)
  return {
    ...status,
    ...(since !== undefined && { stoppedTime: { ...stoppedTime, since: moved.get(since) ?? since } }),
    ...(recoveredSince !== undefined && { failure: { ...failure, recoveredSince: moved.get(recoveredSince) ?? recoveredSince } }),
    ...(waiting !== undefined && { waiting: { ...waiting, since: moved.get(waiting.since) ?? waiting.since } }),
  }
}
