import { type Analysis, durationMs } from '@tranche/api-schema'

/** When an analysis measures, and how many of its measurements may go wrong. Times in milliseconds. */
export interface Pacing {
  readonly initialDelayMs: number
  readonly intervalMs: number
  /** Of one measurement. */
  readonly timeoutMs: number
  /** Measurements that are not errors; null: until the release ends. */
  readonly count: number | null
  readonly failureLimit: number
  readonly inconclusiveLimit: number
  readonly consecutiveErrorLimit: number
}

/** After a measurement that could not be made the next one follows this soon, or after the interval where that is sooner. */
export const ERROR_RETRY_MS = 10_000

/** @returns the analysis' own pace, with the defaults; a text that is no length of time, which validation refuses, is none */
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
