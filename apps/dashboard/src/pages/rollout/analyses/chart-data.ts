import type { AnalysisReport } from '@tranche/api-schema'
import type { AnalysisMeasurement } from './analysis-texts.ts'

/** A chart of one analysis. The lists are parallel, oldest first. */
export interface ChartData {
  /** Epoch seconds. */
  readonly times: readonly number[]
  /** Null where a measurement has no number, as after an error. */
  readonly samples: readonly (number | null)[]
  readonly phases: readonly AnalysisMeasurement['phase'][]
  readonly limit: AnalysisReport['limit']
  /** Range of the vertical axis: contains every sample and the limit. */
  readonly range: readonly [low: number, high: number]
  /** Range of the time axis, in epoch seconds. */
  readonly span: readonly [from: number, to: number]
}

/** Empty part of the vertical axis above and below the samples, as a part of their range. */
const MARGIN = 0.12
/** Shortest time that a chart shows, in seconds. */
const SHORTEST_SPAN = 60

/** @returns the chart of measurements; undefined if none has a number */
export function chartDataOf(measurements: readonly AnalysisMeasurement[], limit: AnalysisReport['limit']): ChartData | undefined {
  const samples = measurements.map(({ sample }) => sample ?? null)
  const numbers = samples.filter((sample) => sample !== null)
  if (numbers.length === 0) return undefined
  const times = measurements.map(({ at }) => Date.parse(at) / 1000)
  const to = times.at(-1)!
  return {
    times,
    samples,
    phases: measurements.map(({ phase }) => phase),
    limit,
    range: rangeOf(limit === undefined ? numbers : [...numbers, limit.value]),
    span: [Math.min(times[0]!, to - SHORTEST_SPAN), to],
  }
}

/** Begins at zero if nothing is negative, so that heights can be compared. */
function rangeOf(numbers: readonly number[]): readonly [number, number] {
  const least = Math.min(0, ...numbers)
  const most = Math.max(0, ...numbers)
  const margin = (most - least || 1) * MARGIN
  return [least < 0 ? least - margin : 0, most > 0 ? most + margin : margin]
}
