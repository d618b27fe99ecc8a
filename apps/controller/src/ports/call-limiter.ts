import type { Clock } from '@tranche/clock'
import pLimit from 'p-limit'

/** Limits concurrent calls; further calls wait in FIFO order. */
export interface CallLimiter {
  /** @returns the result of `work`; null if it did not start within `patienceMs` */
  take<Result>(work: () => Promise<Result>, patienceMs: number): Promise<Result | null>
}

/**
 * Limits the calls that a pass makes for many pods at once. Without a limit, all of them would queue for a connection, where their
 * deadlines run, and would delay other calls.
 *
 * @param sideBySide maximum number of concurrent calls, ≥ 1
 */
export function createCallLimiter(clock: Clock, sideBySide: number): CallLimiter {
  const limit = pLimit(sideBySide)
  return {
    take(work, patienceMs) {
      const untilMs = clock.monotonicMs() + patienceMs
      return limit(() => (clock.monotonicMs() < untilMs ? work() : Promise.resolve(null)))
    },
  }
}
