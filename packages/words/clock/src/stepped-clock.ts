import type { Clock } from './clock.ts'

/** A clock whose wall time can be set, as an administrator or a time server sets that of a machine. */
export interface SteppedClock extends Clock {
  /** Moves wall time alone by `ms`, in either direction. Monotonic time and timers know nothing of it. */
  stepWall(ms: number): void
}

/** @returns a clock that follows `clock`, plus the steps it was told to make */
export function createSteppedClock(clock: Clock): SteppedClock {
  let offsetMs = 0
  return {
    nowMs: () => clock.nowMs() + offsetMs,
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    stepWall: (ms) => void (offsetMs += ms),
  }
}
