import { checkDelay, type Clock, type Timer } from './clock.ts'

/** Clock of this machine. It accepts delays of any length. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    checkDelay(delayMs)
    return timerUntil(performance.now() + Math.max(0, delayMs), callback)
  },
}

/** Longest delay of one timer, in milliseconds: Node fires longer ones at once. @see Node.js setTimeout */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** Node counts whole milliseconds and may fire a fraction early. A timer that is not due yet is set again for the remaining time. */
function timerUntil(dueMs: number, callback: () => void): Timer {
  let handle: NodeJS.Timeout
  const arm = (): void => {
    const restMs = Math.ceil(Math.max(0, dueMs - performance.now()))
    handle = setTimeout(() => (performance.now() >= dueMs ? callback() : arm()), Math.min(restMs, LONGEST_TIMEOUT_MS))
  }
  arm()
  return { cancel: () => clearTimeout(handle) }
}
