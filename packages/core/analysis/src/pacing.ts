import { type Analysis, durationMs } from '@tranche/api-schema'

/** Timing and limits of the measurements of an analysis. Times in milliseconds. */
export interface Pacing {
  readonly initialDelayMs: number
  readonly intervalMs: number
  /** Timeout of one measurement. */
  readonly timeoutMs: number
  /** Number of measurements without errors after which a run ends; null: until the release ends. */
  readonly count: number | null
  readonly failureLimit: number
  readonly inconclusiveLimit: number
  readonly consecutiveErrorLimit: number
}

/** Milliseconds until the next measurement after an error, unless the interval is shorter. */
export const ERROR_RETRY_MS = 10_000

/** @returns the timing of an analysis with defaults applied; an invalid duration, which validation rejects, gets the default */
export function pacingOf(analysis: Analysis): Pacing {
  return {
    initialDelayMs: milliseconds(analysis.initialDelay, 0),
    intervalMs: milliseconds(analysis.interval, 30_000),
    timeoutMs: milliseconds(analysis.timeout, 10_000),
    count: analysis.count ?? (analysis.background === true ? null : 1),
    failureLimit: analysis.failureLimit ?? 0,
    inconclusiveLimit: analysis.inconclusiveLimit ?? 0,
    consecutiveErrorLimit: analysis.consecutiveErrorLimit ?? 4,
  }
}

function milliseconds(text: string | undefined, otherwise: number): number {
  const ms = text === undefined ? otherwise : durationMs(text)
  return Number.isFinite(ms) ? ms : otherwise
}
