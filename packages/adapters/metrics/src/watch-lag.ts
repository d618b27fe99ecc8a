import type { Clock } from '@tranche/clock'
import type { Metrics } from './metrics.ts'

/** Object that this process wrote, in the version of the response. */
export interface MeasuredWrite {
  /** Plural of its resource. */
  readonly resource: string
  /** Resolves once this process's own watch shows it; rejects when the watch ends before. */
  readonly shown: Promise<void>
}

/** @returns the option by which a watched cluster reports its own writes; none if there are no metrics */
export function watchLag(
  metrics: Metrics | undefined,
  clock: Clock,
  program: string,
): { readonly onWritten?: (write: MeasuredWrite) => void } {
  if (metrics === undefined) return {}
  return {
    onWritten({ resource, shown }) {
      const startMs = clock.monotonicMs()
      shown.then(
        () => metrics.observe('tranche_watch_lag_seconds', { program, resource }, (clock.monotonicMs() - startMs) / 1000),
        () => {}, // the process ends
      )
    },
  }
}
