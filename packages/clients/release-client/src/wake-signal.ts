import type { Clock } from '@tranche/clock'

/** Wakes a waiting loop on a change. */
export interface WakeSignal {
  raise(): void
  /** Resolves on a signal, or at once if one came since the last wait; after `ms` at the latest. */
  wait(ms: number): Promise<void>
}

/** @returns a signal that has not fired */
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
