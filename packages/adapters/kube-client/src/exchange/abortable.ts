import type { Clock } from '@tranche/clock'

/** Settles like `promise`, or rejects with the signal's reason as soon as the signal aborts. */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error as Error)
      },
    )
  })
}

/** Abort controller that follows another signal until released. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** Stops following. Must be called, or the outer signal keeps a reference. */
  release(): void
}

/** @returns a controller that aborts when `outer` does, with the same reason */
export function linkAbort(outer: AbortSignal | undefined): LinkedAbort {
  const controller = new AbortController()
  const follow = (): void => controller.abort(outer?.reason)
  if (outer?.aborted) follow()
  else outer?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => outer?.removeEventListener('abort', follow),
  }
}

/**
 * Runs `work` for at most `deadlineMs`. Its signal aborts when the caller's does or when the time is up. Either way the returned promise
 * rejects at once with that reason, even if `work` does not listen.
 *
 * @param deadlineError creates the reason when the time is up
 */
export async function withinDeadline<T>(
  options: {
    readonly clock: Clock
    readonly deadlineMs: number
    readonly signal: AbortSignal | undefined
    readonly deadlineError: () => Error
  },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = linkAbort(options.signal)
  const timer = options.clock.setTimer(options.deadlineMs, () => abort.abort(options.deadlineError()))
  try {
    abort.signal.throwIfAborted()
    return await abortable(work(abort.signal), abort.signal)
  } finally {
    timer.cancel()
    abort.release()
  }
}
