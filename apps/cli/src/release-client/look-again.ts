import { type Clock, sleep } from '@tranche/clock'
import { isAppError } from '@tranche/errors'

/** Clock, stop signal and error handler of polling. */
export interface LookAgainOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called with each error that is retried. */
  readonly failed: (error: unknown) => void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** Maximum share of time spent reading, 0–1: large fleets are read less often. */
const BUSY_SHARE = 0.2

/**
 * Polls until `signal` aborts, starting at once. An error of the first read ends it; later temporary errors are retried.
 *
 * @throws the errors of the first read; later, errors that are not temporary
 */
export async function* lookAgain<T>(look: () => Promise<T>, { clock, signal, failed }: LookAgainOptions): AsyncGenerator<T> {
  let failures = 0
  for (let first = true; !signal.aborted; first = false) {
    const beganMs = clock.monotonicMs()
    try {
      yield await look()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (first || !isAppError(error) || error.remedy !== 'retry') throw error
      failures++
      failed(error)
    }
    const spentMs = clock.monotonicMs() - beganMs
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS * 2 ** Math.min(failures, 5), spentMs / BUSY_SHARE))
    await sleep(clock, pauseMs, signal).catch(() => {})
  }
}
