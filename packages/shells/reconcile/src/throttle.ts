import type { Clock } from '@tranche/clock'

/** Settings of {@link createThrottle}. */
export interface ThrottleOptions {
  readonly clock: Clock
  /** Least time between two wakes of one key, in milliseconds; asked anew for each wake. 0 or less: every wake passes. */
  readonly everyMs: () => number
  readonly wake: (key: string) => void
}

/**
 * Spreads a flood of wakes: the first passes at once, and those that follow too soon become one at the end of the time.
 * None is lost. What must not wait does not go through here.
 */
export function createThrottle({ clock, everyMs, wake }: ThrottleOptions): (key: string) => void {
  /** Key → whether it was woken again, while its time runs. */
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
