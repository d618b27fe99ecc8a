import type { VirtualClock } from '@tranche/clock'

/** Ends of faults. */
export interface Delays {
  /** Calls `undo` after `ms`, or in {@link Delays.heal}; Infinity: only there. */
  later(ms: number, undo: () => Promise<void> | void): void
  /** Calls all delayed functions now. */
  heal(): Promise<void>
  /** Whether all faults have ended, or end now. */
  isHealing(): boolean
}

/** Starts without any. @param note reports a function that fails */
export function createDelays(clock: VirtualClock, note: (text: string) => void): Delays {
  const reported = (error: unknown): void => note(`the operation failed: ${String(error)}`)
  const waiting = new Set<() => Promise<void> | void>()
  let isHealing = false
  return {
    isHealing: () => isHealing,
    later(ms, undo) {
      waiting.add(undo)
      if (ms === Number.POSITIVE_INFINITY) return
      clock.setTimer(ms, () => {
        if (waiting.delete(undo)) void (async () => undo())().catch(reported)
      })
    },
    async heal() {
      isHealing = true
      for (const undo of waiting) {
        waiting.delete(undo)
        await (async () => undo())().catch(reported)
      }
    },
  }
}
