/** A pending timer. */
export interface Timer {
  /** Cancels the timer. It has no effect on a timer that has fired or was cancelled. */
  cancel(): void
}

/** Source of time and timers. Only implementations of this port read a clock or set a timer. */
export interface Clock {
  /** Wall time in epoch milliseconds. It may jump in either direction. */
  nowMs(): number
  /** Monotonic time in milliseconds since a fixed moment of this process. */
  monotonicMs(): number
  /** Calls `callback` once, no earlier than `delayMs` (≥ 0) from now by the monotonic clock. */
  setTimer(delayMs: number, callback: () => void): Timer
}

/** @returns a promise that resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const onAbort = (): void => {
      timer.cancel()
      reject(signal?.reason as Error)
    }
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
