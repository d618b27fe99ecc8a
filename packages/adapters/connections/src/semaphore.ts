/** Limits how many callers work at the same time. */
export interface Semaphore {
  /**
   * Waits for a free slot, first come first served.
   *
   * @returns a function that releases the slot; call it once
   * @throws the signal's reason when it aborts before
   */
  acquire(signal: AbortSignal): Promise<() => void>
}

/** @param count number of slots, ≥ 1 */
export function createSemaphore(count: number): Semaphore {
  let free = count
  const waiting = new Set<() => void>()
  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await untilLeft(waiting, signal)
      return leave
    },
  }

  /** Passes the slot to the caller that has waited longest. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) free++
    else next()
  }
}

function untilLeft(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const acquire = (): void => {
      waiting.delete(acquire)
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = (): void => {
      waiting.delete(acquire)
      reject(signal.reason as Error)
    }
    waiting.add(acquire)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
