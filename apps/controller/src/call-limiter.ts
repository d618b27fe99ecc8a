import type { Clock } from '@tranche/clock'
import pLimit from 'p-limit'

/** Lets calls go out side by side, up to a number; the others wait for their turn, first come first served. */
export interface CallLimiter {
  /** @returns what `work` returns; null where its turn had not come within `patienceMs`, and it was not begun */
  take<Result>(work: () => Promise<Result>, patienceMs: number): Promise<Result | null>
}

/**
 * Turns for calls that a pass makes for many pods at once. Without them all of these stand in the queue for a connection, where their
 * deadlines run, and keep other calls waiting behind them.
 *
 * @param sideBySide ≥ 1
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
