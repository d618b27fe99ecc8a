import type { Clock } from '@tranche/clock'

/** Wakes who waits for a change. */
export interface WakeSignal {
  raise(): void
  /** Resolves when it is rung, or was since the last wait; after `ms` at the latest. */
  wait(ms: number): Promise<void>
}

/** @returns one that has not been rung */
export function createWakeSignal(clock: Clock): WakeSignal {
  let raised = false
  let wake = (): void => {}
  return {
    raise() {
      raised = true
      wake()
    },
    async wait(ms) {
      if (!raised) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = clock.setTimer(ms, resolve)
        wake = resolve
        await promise
        timer.cancel()
      }
      raised = false
    },
  }
}
