import { type Analysis, type AnalysisPhase, type AnalysisRun, type Measurement, MEASUREMENTS_MAX } from '@tranche/api-schema'
import { ERROR_RETRY_MS, type Pacing, pacingOf } from './pacing.ts'
import { shortened } from './shortened.ts'

/** Outcome of one measurement; its phase is never `Running`. */
export interface MeasurementOutcome {
  readonly phase: Exclude<AnalysisPhase, 'Running'>
  /** Value in the response; absent without one. */
  readonly value?: string
  /** Reason as text for users. */
  readonly message?: string
}

/**
 * Adds a measurement to its run, and ends the run when a limit or its count is reached.
 *
 * @param atMs start of the measurement in epoch milliseconds: the next one is due an interval later
 * @param nowMs epoch milliseconds
 */
export function recordMeasurement(
  { run, analysis }: { readonly run: AnalysisRun; readonly analysis: Analysis },
  outcome: MeasurementOutcome,
  { atMs, nowMs }: { readonly atMs: number; readonly nowMs: number },
): AnalysisRun {
  const pacing = pacingOf(analysis)
  const isError = outcome.phase === 'Error'
  const counted: AnalysisRun = {
    ...run,
    successful: (run.successful ?? 0) + (outcome.phase === 'Successful' ? 1 : 0),
    failed: (run.failed ?? 0) + (outcome.phase === 'Failed' ? 1 : 0),
    inconclusive: (run.inconclusive ?? 0) + (outcome.phase === 'Inconclusive' ? 1 : 0),
    errors: (run.errors ?? 0) + (isError ? 1 : 0),
    consecutiveErrors: isError ? (run.consecutiveErrors ?? 0) + 1 : 0,
    measurements: [...(run.measurements ?? []), toMeasurement(outcome, atMs)].slice(-MEASUREMENTS_MAX),
  }
  const end = endOf(counted, pacing)
  const { nextAt: _due, message: _before, ...rest } = counted
  if (end !== null) return { ...rest, phase: end, message: endText(counted, end, pacing, outcome), finishedAt: stamp(nowMs) }
  const waitMs = isError ? Math.min(ERROR_RETRY_MS, pacing.intervalMs) : pacing.intervalMs
  return { ...rest, ...(outcome.message !== undefined && { message: shortened(outcome.message) }), nextAt: stamp(atMs + waitMs) }
}

/** Phase that ends the run; null while it continues. A limit ends it before its count is reached. */
function endOf(run: AnalysisRun, pacing: Pacing): AnalysisPhase | null {
  const { successful = 0, failed = 0, inconclusive = 0, consecutiveErrors = 0 } = run
  if (failed > pacing.failureLimit) return 'Failed'
  if (inconclusive > pacing.inconclusiveLimit) return 'Inconclusive'
  if (consecutiveErrors > pacing.consecutiveErrorLimit) return 'Error'
  return pacing.count !== null && successful + failed + inconclusive >= pacing.count ? 'Successful' : null
}

function endText(run: AnalysisRun, end: AnalysisPhase, pacing: Pacing, { message = '', value = '' }: MeasurementOutcome): string {
  const answered = value === '' ? '' : `, with the result ${value}`
  const last = message === '' ? '' : `; last one: ${message}${answered}`
  const made = (run.successful ?? 0) + (run.failed ?? 0) + (run.inconclusive ?? 0)
  switch (end) {
    case 'Failed':
      return shortened(`${run.failed} of ${counted(made)} failed, at most ${pacing.failureLimit} are tolerated${last}`)
    case 'Inconclusive':
      return shortened(
        `${run.inconclusive} of ${counted(made)} were inconclusive, at most ${pacing.inconclusiveLimit} are tolerated${last}`,
      )
    case 'Error':
      return shortened(
        `${counted(run.consecutiveErrors ?? 0)} in a row had errors, at most ${pacing.consecutiveErrorLimit} are tolerated${last}`,
      )
    default:
      return `${run.successful} of ${counted(made)} succeeded`
  }
}

function counted(measurements: number): string {
  return measurements === 1 ? '1 measurement' : `${measurements} measurements`
}

function toMeasurement({ phase, value, message }: MeasurementOutcome, atMs: number): Measurement {
  return {
    at: stamp(atMs),
    phase,
    ...(value !== undefined && { value: shortened(value) }),
    ...(message !== undefined && { message: shortened(message) }),
  }
}

function stamp(ms: number): string {
  return new Date(ms).toISOString()
}
