/** Text value that changes, and promises that wait until it reaches a target. */
export interface Threshold {
  /** Empty at first. */
  readonly value: string
  set(value: string): void
  /** Resolves as soon as the value is at least `target`; rejects after `end`, or with the signal's reason. */
  whenReached(target: string, signal?: AbortSignal): Promise<void>
  /** Declares the value final: all waits fail with `reason`, now and later. */
  end(reason: unknown): void
}

interface Waiter {
  readonly target: string
  settle(reason?: { readonly error: unknown }): void
}

/** Creates a threshold. @param compare orders two values as `Array.sort` expects */
export function createThreshold(compare: (a: string, b: string) => number): Threshold {
  let value = ''
  let ended: { readonly error: unknown } | undefined
  const waiters = new Set<Waiter>()

  function whenReached(target: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => waiter.settle({ error: signal?.reason })
      const waiter: Waiter = {
        target,
        settle(failure) {
          waiters.delete(waiter)
          signal?.removeEventListener('abort', onAbort)
          if (failure === undefined) resolve()
          else reject(failure.error as Error)
        },
      }
      if (hasReached(target)) return resolve()
      if (ended !== undefined || signal?.aborted) return waiter.settle(ended ?? { error: signal?.reason })
      waiters.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  function hasReached(target: string): boolean {
    return value !== '' && compare(value, target) >= 0
  }

  return {
    get value() {
      return value
    },
    set(next) {
      value = next
      for (const waiter of waiters) if (hasReached(waiter.target)) waiter.settle()
    },
    whenReached,
    end(reason) {
      ended = { error: reason }
      for (const waiter of waiters) waiter.settle(ended)
    },
  }
}
