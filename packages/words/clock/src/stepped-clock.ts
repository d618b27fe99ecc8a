import type { Clock } from './clock.ts'

/** A clock whose wall time can be stepped, as an administrator or a time server does on a machine. */
export interface SteppedClock extends Clock {
  /** Steps wall time by `ms`, in either direction. Monotonic time and timers are not affected. */
  stepWall(ms: number): void
}

/** @returns a clock that follows `clock`, plus the steps made with `stepWall` */
export function createSteppedClock(clock: Clock): SteppedClock {
  let offsetMs = 0
  return {
    nowMs: () => clock.nowMs() + offsetMs,
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    stepWall: (ms) => void (offsetMs += ms),
  }
}
