import { type Clock, sleep } from '@tranche/clock'

/** What asking until there is an answer takes. */
export interface AskPatientlyOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Whether what went wrong may pass by itself. */
  readonly mayPass: (error: unknown) => boolean
  /** Hears what went wrong, and after how many milliseconds it is asked again. */
  readonly failed: (error: unknown, pauseMs: number) => void
}

const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Asks until there is an answer, each time after twice the pause.
 *
 * @returns the answer
 * @throws what does not pass by itself; once `signal` aborts, the last that went wrong
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
