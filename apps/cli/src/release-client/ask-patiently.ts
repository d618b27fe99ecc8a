import { type Clock, sleep } from '@tranche/clock'

/** Clock, abort signal and retry policy. */
export interface AskPatientlyOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Whether the error is temporary. */
  readonly mayPass: (error: unknown) => boolean
  /** Called with each temporary error and the milliseconds until the next attempt. */
  readonly failed: (error: unknown, pauseMs: number) => void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Retries a request until it succeeds, with exponential backoff from 1 s to 30 s.
 *
 * @returns the answer
 * @throws errors that are not temporary; once `signal` aborts, the last error
 */
export async function askPatiently<T>(ask: () => Promise<T>, { clock, signal, mayPass, failed }: AskPatientlyOptions): Promise<T> {
  let last: { readonly error: unknown } | undefined
  for (let failures = 0; ; failures++) {
    try {
      return await ask()
    } catch (error) {
      if (signal.aborted) throw last === undefined ? error : last.error
      if (!mayPass(error)) throw error
      last = { error }
      const pauseMs = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(failures, 5))
      failed(error, pauseMs)
      await sleep(clock, pauseMs, signal).catch(() => {})
      if (signal.aborted) throw error
    }
  }
}
