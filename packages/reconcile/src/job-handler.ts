import { parseKey } from '@tranche/kube-types'
import { createPass, type PassOptions } from './pass.ts'
import { awaitChange, recheckAfter, SOONEST_RECHECK_MS, type Outcome } from './reconcile.ts'

/** Settings of {@link createJobHandler}. */
export interface JobHandlerOptions extends PassOptions {
  /** First wait of a key after an error with remedy `retry`, in milliseconds; doubles with each in a row. @default 5 */
  readonly backOffBaseMs?: number
  /** Longest such wait, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
}

/**
 * Runs passes as the handler of a job queue: the same ids, deadlines, log lines and observations as a runner's.
 *
 * @returns a handler that never rejects, so that the queue need not log what the pass has logged; its back-off is the
 * pass's own and counts the failures that this process has seen
 */
export function createJobHandler(options: JobHandlerOptions): (key: string, signal: AbortSignal) => Promise<Outcome> {
  const runPass = createPass(options)
  const failures = new Map<string, number>()
  return async function handleJob(key, signal) {
    const failed = failures.get(key) ?? 0
    const result = await runPass(parseKey(key), failed, signal)
    if (result.kind === 'retry') {
      failures.set(key, failed + 1)
      return recheckAfter(Math.min(options.backOffMaxMs ?? 30_000, (options.backOffBaseMs ?? 5) * 2 ** failed))
    }
    failures.delete(key)
    if (result.kind === 'recheckAfter' || result.kind === 'unmended') return recheckAfter(Math.max(SOONEST_RECHECK_MS, result.ms))
    return result.kind === 'stopped' ? recheckAfter(SOONEST_RECHECK_MS) : awaitChange
  }
}
