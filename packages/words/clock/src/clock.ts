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
  /**
   * Calls `callback` once, no earlier than `delayMs` from now by the monotonic clock; a negative delay counts as 0.
   *
   * @throws {RangeError} where `delayMs` is NaN or infinite: such a timer would never fire, or fire without end
   */
  setTimer(delayMs: number, callback: () => void): Timer
}

/**
 * Rejects a delay that no timer can have. Implementations of {@link Clock} call it first.
 *
 * @throws {RangeError} where `delayMs` is NaN or infinite
 */
export function checkDelay(delayMs: number): void {
  if (!Number.isFinite(delayMs)) throw new RangeError(`the delay of a timer is ${delayMs}; use a finite number of milliseconds`)
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
