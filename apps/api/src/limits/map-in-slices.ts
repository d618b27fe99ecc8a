import { setImmediate as nextIteration } from 'node:timers/promises'
import type { Clock } from '@tranche/clock'

/** Maximum time between two iterations of the event loop, in milliseconds, plus one item. */
const SLICE_MS = 10

/** Options of {@link mapInSlices}. */
export interface SliceOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly signal: AbortSignal
}

/**
 * Maps a long list without blocking other requests for long.
 *
 * @returns the results in order; what changes meanwhile may be in it or not
 * @throws the signal's reason; errors of `map`
 */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R, { clock, signal }: SliceOptions): Promise<readonly R[]> {
  const made: R[] = []
  let sinceMs = clock.monotonicMs()
  for (const item of items) {
    if (clock.monotonicMs() - sinceMs >= SLICE_MS) {
      await nextIteration()
      signal.throwIfAborted()
      sinceMs = clock.monotonicMs()
    }
    made.push(map(item))
  }
  return made
}
