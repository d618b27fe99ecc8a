import type { Clock } from '@tranche/clock'

/** Lines of one limit about one thing within a window. */
export const LINES_OF_ONE = 5
/** Lines of one limit within a window. */
export const LINES_IN_ALL = 60
/** Length of the window, in milliseconds. */
export const WINDOW_MS = 60_000

/** Bounds the log lines that clients without an account can cause. */
export interface LineLimit {
  /**
   * @param about what the line says, without what differs in each request
   * @returns number of lines left out since the last one that was written; null where this one is left out too
   */
  take(about: string): number | null
}

/** Lets five lines about one thing pass in a minute, and 60 in all. Keeps at most 60 texts. */
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
