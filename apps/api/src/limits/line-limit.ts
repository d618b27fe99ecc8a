import type { Clock } from '@tranche/clock'

/** Maximum number of lines per subject and window. */
export const LINES_OF_ONE = 5
/** Maximum number of lines per window. */
export const LINES_IN_ALL = 60
/** Length of the window, in milliseconds. */
export const WINDOW_MS = 60_000

/** Bounds the log lines that unauthenticated clients can cause. */
export interface LineLimit {
  /**
   * @param about subject of the line, without the values of the request
   * @returns number of lines dropped since the last written one; null if this line must be dropped
   */
  take(about: string): number | null
}

/** Allows five lines per subject and minute, and 60 lines per minute in total. Keeps at most 60 subjects in memory. */
export function createLineLimit(clock: Pick<Clock, 'monotonicMs'>): LineLimit {
  const written = new Map<string, number>()
  let sinceMs = Number.NEGATIVE_INFINITY
  let total = 0
  let leftOut = 0

  return {
    take(about) {
      const nowMs = clock.monotonicMs()
      if (nowMs >= sinceMs + WINDOW_MS) {
        written.clear()
        sinceMs = nowMs
        total = 0
      }
      const count = written.get(about) ?? 0
      if (count >= LINES_OF_ONE || total >= LINES_IN_ALL) {
        leftOut++
        return null
      }
      written.set(about, count + 1)
      total++
      const before = leftOut
      leftOut = 0
      return before
    },
  }
}
