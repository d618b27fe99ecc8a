import type { AnalysisReport } from '@tranche/api-schema'
import type { StateLook } from '../../../format/outcome-text.ts'

/** One measurement of an analysis. */
export type AnalysisMeasurement = AnalysisReport['measurements'][number]

const known: Readonly<Record<AnalysisReport['phase'], StateLook>> = {
  Pending: { word: 'Not started', glyph: '·', tone: 'quiet' },
  Running: { word: 'Running', glyph: '▶', tone: 'busy' },
  Successful: { word: 'Successful', glyph: '✓', tone: 'good' },
  Failed: { word: 'Failed', glyph: '✕', tone: 'bad' },
  Inconclusive: { word: 'Inconclusive', glyph: '?', tone: 'wait' },
  Error: { word: 'Error', glyph: '!', tone: 'wait' },
}
const looks: ReadonlyMap<string, StateLook> = new Map(Object.entries(known))

/** @returns how the phase of an analysis or a measurement is shown; a phase of a newer server is shown as it is */
export function lookOfPhase(phase: string): StateLook {
  return looks.get(phase) ?? { word: phase, glyph: '·', tone: 'quiet' }
}

const limitWords = { '<': 'below', '<=': 'at most', '>': 'above', '>=': 'at least' } as const

/** @returns the limit in words, for example `must be below 0.5` */
export function limitText({ op, value }: NonNullable<AnalysisReport['limit']>): string {
  return `must be ${limitWords[op]} ${numberText(value)}`
}

/** Numbers outside these bounds are written with an exponent. */
const SMALLEST_PLAIN = 1e-4
const LARGEST_PLAIN = 1e9

/** @returns a measured number with four significant digits */
export function numberText(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size < SMALLEST_PLAIN || size >= LARGEST_PLAIN)) return Number(value.toPrecision(3)).toExponential()
  return new Intl.NumberFormat('en', { maximumSignificantDigits: 4, useGrouping: false }).format(value)
}

/** @returns what was measured: the number that the limit is for, else the answer as it came */
export function measuredText({ sample, value }: AnalysisMeasurement): string {
  return sample === undefined ? (value ?? 'no value') : numberText(sample)
}

/** @returns the answer word for word; without one, why there is none */
export function answerText({ value, message }: AnalysisMeasurement): string | undefined {
  return value ?? message
}

/** @returns when an analysis measures, and whether it can stop the release */
export function roleText({ background, step, required }: Pick<AnalysisReport, 'background' | 'step' | 'required'>): string {
  const when = background ? 'during the whole release' : step === undefined ? 'after a step' : `after step ${step}`
  return `${when}; ${required ? 'can stop the release' : 'dry run: cannot stop the release'}`
}

/**
 * Interval of an analysis: from its last measurement to the next one, else the median distance of its measurements.
 *
 * @returns milliseconds; undefined with fewer than two points in time
 */
export function intervalMs(nextAt: string | undefined, measurements: readonly AnalysisMeasurement[]): number | undefined {
  const times = measurements.map(({ at }) => Date.parse(at))
  const last = times.at(-1)
  const untilNext = last === undefined || nextAt === undefined ? Number.NaN : Date.parse(nextAt) - last
  if (untilNext > 0) return untilNext
  const distances = times.slice(1).map((time, before) => time - times[before]!)
  return distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)]
}

/** @returns the measurements as one sentence, which a screen reader says for the chart */
export function chartText({ name, limit }: Pick<AnalysisReport, 'name' | 'limit'>, measurements: readonly AnalysisMeasurement[]): string {
  const samples = measurements.flatMap(({ sample }) => (sample === undefined ? [] : [sample]))
  const last = samples.at(-1)
  if (last === undefined) return `${name}: no number was measured`
  const range = `from ${numberText(Math.min(...samples))} to ${numberText(Math.max(...samples))}, now ${numberText(last)}`
  const failed = measurements.filter(({ phase }) => phase === 'Failed').length
  return `${name} over time: ${range}${limit === undefined ? '' : `; ${limitText(limit)}`}; ${failed} of ${measurements.length} failed. The table below has every value.`
}
