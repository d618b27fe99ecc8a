/** A number of rooms, each for one at a time. */
export interface Semaphore {
  /**
   * Waits for a free room, first come first served.
   *
   * @returns what leaves it; to be called once
   * @throws the signal's reason when it aborts before
   */
  acquire(signal: AbortSignal): Promise<() => void>
}

/** @param count rooms, ≥ 1 */
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

  /** The room goes to whoever waits for the longest time. */
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
