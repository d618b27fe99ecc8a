import type { Clock, Timer } from './clock.ts'

/** The clock of this machine. Takes delays of any length. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, callback) => timerUntil(performance.now() + Math.max(0, delayMs), callback),
}

/** Longer delays make Node fire at once. @see Node.js setTimeout */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** Node counts whole milliseconds and may fire a fraction early; a timer that is not due yet is set again for the rest. */
function timerUntil(dueMs: number, callback: () => void): Timer {
  let handle: NodeJS.Timeout
  const arm = (): void => {
    const restMs = Math.ceil(Math.max(0, dueMs - performance.now()))
    handle = setTimeout(() => (performance.now() >= dueMs ? callback() : arm()), Math.min(restMs, LONGEST_TIMEOUT_MS))
  }
  arm()
  return { cancel: () => clearTimeout(handle) }
}
