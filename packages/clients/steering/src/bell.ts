import type { Clock } from '@tranche/clock'

/** Wakes who waits for a change. */
export interface Bell {
  ring(): void
  /** Resolves when it is rung, or was since the last wait; after `ms` at the latest. */
  wait(ms: number): Promise<void>
}

/** @returns one that has not been rung */
export function createBell(clock: Clock): Bell {
  let rung = false
  let wake = (): void => {}
  return {
    ring() {
      rung = true
      wake()
    },
    async wait(ms) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = clock.setTimer(ms, resolve)
        wake = resolve
        await promise
        timer.cancel()
      }
      rung = false
    },
  }
}
