import type { Clock } from '@tranche/clock'

/** Least time between two passes that mere counting asks for, in milliseconds. */
const EVERY_MS = 100

/**
 * Spreads a flood of wakes: the first passes at once, those within {@link EVERY_MS} of it become one at its end. What
 * must not wait does not go through here.
 *
 * @param add makes a key ready in so many milliseconds (0: now); of several adds of one key the earliest decides
 */
export function createThrottle(clock: Clock, add: (key: string, delayMs: number) => void): (key: string) => void {
  const lastMs = new Map<string, number>()
  return (key) => {
    const now = clock.monotonicMs()
    const left = (lastMs.get(key) ?? Number.NEGATIVE_INFINITY) + EVERY_MS - now
    if (left > 0) return add(key, left)
    lastMs.set(key, now)
    add(key, 0)
  }
}
