import type { AnalysisReport } from '@tranche/api-schema'

/** Time that a measurement takes until it is in the status, in milliseconds. */
const AFTER_MS = 1_000
/** Shortest time between two reads for measurements, in milliseconds. */
const LEAST_MS = 3_000
/** Longest time: a retried or late measurement, and one whose time is not known yet. */
const MOST_MS = 15_000

/**
 * Time until the next measurement should be there. A measurement changes the BatchRelease and not the Rollout, so the stream reports none.
 *
 * @returns milliseconds; false while nothing is measured
 */
export function renewalMs(analyses: readonly Pick<AnalysisReport, 'phase' | 'nextAt'>[] | undefined, nowMs: number): number | false {
  const running = analyses?.filter(({ phase }) => phase === 'Running') ?? []
  if (running.length === 0) return false
  const waits = running.map(({ nextAt }) => (nextAt === undefined ? MOST_MS : Date.parse(nextAt) + AFTER_MS - nowMs))
  return Math.min(MOST_MS, Math.max(LEAST_MS, Math.min(...waits)))
}
