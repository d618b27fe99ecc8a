import type { BatchRelease } from '@tranche/api-schema'

/**
 * Times in a status that the API server's clock stamped before it was set, each with the same moment by that clock as it runs now.
 * The status itself says so once it is written again.
 */
export type MovedTimes = ReadonlyMap<string, string>

/** What in a status lasts since a time by which deadlines and `failure.autoResume` run. */
export type LastingStatus = Pick<NonNullable<BatchRelease['status']>, 'stoppedTime' | 'failure'>

/**
 * Moves the times of a status by `ms`, by which the clock was set since `before`; 0: it was not. Times that the status no longer has are
 * forgotten, and a time that cannot be read stays as it is.
 */
export function movedTimes(before: MovedTimes, status: LastingStatus | undefined, ms: number): MovedTimes {
  const moved = new Map<string, string>()
  for (const stamped of [status?.stoppedTime?.since, status?.failure?.calmSince]) {
    if (stamped === undefined || Number.isNaN(Date.parse(stamped))) continue
    const known = before.get(stamped)
    if (ms !== 0) moved.set(stamped, new Date(Date.parse(known ?? stamped) + ms).toISOString())
    else if (known !== undefined) moved.set(stamped, known)
  }
  return moved
}

/** The status with its times by the clock as it runs now. */
export function withMovedTimes<Status extends LastingStatus>(status: Status, moved: MovedTimes): Status {
  const { stoppedTime, failure } = status
  const { since } = stoppedTime ?? {}
  const { calmSince } = failure ?? {}
  return {
    ...status,
    ...(since !== undefined && { stoppedTime: { ...stoppedTime, since: moved.get(since) ?? since } }),
    ...(calmSince !== undefined && { failure: { ...failure, calmSince: moved.get(calmSince) ?? calmSince } }),
  }
}
