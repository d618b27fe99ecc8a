/** Limits how much work runs at the same time. A caller with much waiting work does not delay the others: callers take turns. */
export interface Semaphore {
  /**
   * Waits for a free slot. Requests of one caller are served in order.
   *
   * @param caller who takes turns with other callers; without it, all requests are served in order
   * @returns a function that releases the slot; call it once
   * @throws the signal's reason when it aborts before
   */
  acquire(signal: AbortSignal, caller?: string): Promise<() => void>
  /**
   * Runs `work` in a slot, which is released when `work` settles.
   *
   * @throws the signal's reason if it aborts before `work` starts; errors of `work`
   */
  run<T>(signal: AbortSignal, caller: string, work: () => Promise<T>): Promise<T>
}

/** @param count number of slots, ≥ 1. With one slot, a caller waits for at most one piece of work of each other caller. */
export function createSemaphore(count: number): Semaphore {
  let free = count
  const lines = new Lines()

  async function acquire(signal: AbortSignal, caller = ''): Promise<() => void> {
    signal.throwIfAborted()
    if (free > 0) free--
    else await lines.wait(caller, signal)
    return () => leave(caller)
  }

  /** Passes the slot on. The line of the caller that has just worked moves behind those that came during the work. */
  function leave(caller: string): void {
    lines.moveBack(caller)
    const next = lines.takeNext()
    if (next === undefined) free++
    else next()
  }

  return {
    acquire,
    async run(signal, caller, work) {
      const release = await acquire(signal, caller)
      try {
        signal.throwIfAborted()
        return await work()
      } finally {
        release()
      }
    },
  }
}

/** Waiting requests, in one line per caller. */
class Lines {
  /** In the order of the callers' turns; none is empty. */
  readonly #byCaller = new Map<string, Set<() => void>>()

  /** Resolves when the request has been taken. @throws the signal's reason when it aborts before */
  wait(caller: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onTaken = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#remove(caller, onTaken)
        reject(signal.reason as Error)
      }
      const line = this.#byCaller.get(caller) ?? new Set()
      this.#byCaller.set(caller, line.add(onTaken))
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Removes the first request of the next caller, and moves the caller to the end. */
  takeNext(): (() => void) | undefined {
    const [[caller, line] = []] = this.#byCaller
    const [next] = line ?? []
    if (caller === undefined || next === undefined) return undefined
    this.moveBack(caller)
    this.#remove(caller, next)
    return next
  }

  moveBack(caller: string): void {
    const line = this.#byCaller.get(caller)
    if (line === undefined) return
    this.#byCaller.delete(caller)
    this.#byCaller.set(caller, line)
  }

  #remove(caller: string, request: () => void): void {
    const line = this.#byCaller.get(caller)
    line?.delete(request)
    if (line?.size === 0) this.#byCaller.delete(caller)
  }
}
