import type { Clock } from '@tranche/clock'

/** Settings of {@link createThrottle}. */
export interface ThrottleOptions {
  readonly clock: Clock
  /** Minimum time between two wakes of one key, in milliseconds; evaluated for each wake. 0 or less: every wake passes. */
  readonly everyMs: () => number
  readonly wake: (key: string) => void
}

/**
 * Limits the rate of wakes: the first passes at once, and those that follow too soon become one at the end of the interval. None is lost.
 * Do not use it for urgent wakes.
 */
export function createThrottle({ clock, everyMs, wake }: ThrottleOptions): (key: string) => void {
  /** Maps each throttled key to whether it was woken again during its interval. */
  const resting = new Map<string, boolean>()
  return function wakeOrWait(key) {
    if (resting.has(key)) return void resting.set(key, true)
    wake(key)
    const restMs = everyMs()
    if (restMs <= 0) return
    resting.set(key, false)
    clock.setTimer(restMs, () => {
      const isWoken = resting.get(key) === true
      resting.delete(key)
      if (isWoken) wakeOrWait(key)
    })
  }
}
