import type { Clock } from './clock.ts'

/** The clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, Math.max(0, delayMs))
    return { cancel: () => clearTimeout(handle) }
  },
}
