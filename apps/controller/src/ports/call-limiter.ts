import type { Clock } from '@tranche/clock'
import { createSemaphore } from '@tranche/connections'

/** Limits concurrent calls; further calls wait. Namespaces take turns, and the calls of one namespace start in order. */
export interface CallLimiter {
  /** @returns the result of `work`; null if it did not start within `patienceMs` */
  take<Result>(namespace: string, work: () => Promise<Result>, patienceMs: number): Promise<Result | null>
}

/** Calls start in any case: those that have waited for too long do nothing. */
const never = new AbortController().signal

/**
 * Limits the calls that a pass makes for many pods at once. Without a limit, all of them would queue for a connection, where their
 * deadlines run, and would delay other calls.
 *
 * @param sideBySide maximum number of concurrent calls, ≥ 1
 */
export function createCallLimiter(clock: Clock, sideBySide: number): CallLimiter {
  const semaphore = createSemaphore(sideBySide)
  return {
    take(namespace, work, patienceMs) {
      const untilMs = clock.monotonicMs() + patienceMs
      return semaphore.run(never, namespace, async () => (clock.monotonicMs() < untilMs ? work() : null))
    },
  }
}
