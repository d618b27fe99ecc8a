/** A number of rooms, each for one at a time. */
export interface Rooms {
  /**
   * Waits for a free room, first come first served.
   *
   * @returns what leaves it; to be called once
   * @throws the signal's reason when it aborts before
   */
  enter(signal: AbortSignal): Promise<() => void>
}

/** @param count rooms, ≥ 1 */
export function createRooms(count: number): Rooms {
  let free = count
  const waiting = new Set<() => void>()
  return {
    async enter(signal) {
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
    const enter = (): void => {
      waiting.delete(enter)
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = (): void => {
      waiting.delete(enter)
      reject(signal.reason as Error)
    }
    waiting.add(enter)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
