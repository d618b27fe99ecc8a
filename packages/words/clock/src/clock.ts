/** A pending timer. */
export interface Timer {
  /** Stops the timer; a timer that has fired or was cancelled ignores it. */
  cancel(): void
}

/** Where time comes from. Nothing but an implementation of this port reads a clock or sets a timer. */
export interface Clock {
  /** Wall time, epoch milliseconds. May jump in either direction. */
  nowMs(): number
  /** Time since some fixed moment of this process, in milliseconds. Never goes back. */
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
