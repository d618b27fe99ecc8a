import { type Clock, sleep } from '@tranche/clock'
import { isAppError } from '@tranche/errors'

/** What looking again and again takes. */
export interface LookAgainOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Hears what went wrong with a look that is taken again. */
  readonly failed: (error: unknown) => void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** Of all the time, looks take at most this share: a large fleet is read less often. */
const BUSY_SHARE = 0.2

/**
 * Looks at once, and again and again until `signal` aborts. The first look that fails ends it; later ones that may pass are taken again.
 *
 * @throws what the first look throws; later, what does not pass by itself
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
