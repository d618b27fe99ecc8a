import type { AnalysisReport } from '@tranche/api-schema'
import type { AnalysisMeasurement } from './analysis-texts.ts'

/** Measurements by run of an analysis, each oldest first. */
export type KeptMeasurements = ReadonlyMap<string, readonly AnalysisMeasurement[]>

/** Most measurements that are kept of one run. */
export const CHARTED_MEASUREMENTS_MAX = 720

/** @returns text that identifies one run: a restarted analysis begins with an empty chart */
export function runOf({ name, step, startedAt }: Pick<AnalysisReport, 'name' | 'step' | 'startedAt'>): string {
  return [name, step ?? '', startedAt ?? ''].join(' ')
}

/**
 * Adds the measurements of a report to those that the page has seen: the status of the release keeps only the last five of each analysis.
 *
 * @returns `kept` itself if nothing changed; runs that are no longer reported are left out
 */
export function collectMeasurements(kept: KeptMeasurements, analyses: readonly AnalysisReport[]): KeptMeasurements {
  const next = new Map(analyses.map((analysis) => [runOf(analysis), merged(kept.get(runOf(analysis)) ?? [], analysis.measurements)]))
  const isSame = next.size === kept.size && [...next].every(([run, measurements]) => kept.get(run) === measurements)
  return isSame ? kept : next
}

/** The time of a measurement identifies it; the reported one replaces the kept one. */
function merged(kept: readonly AnalysisMeasurement[], reported: readonly AnalysisMeasurement[]): readonly AnalysisMeasurement[] {
  const known = new Map(kept.map((one) => [one.at, one]))
  if (reported.every((one) => isEqual(known.get(one.at), one))) return kept
  for (const one of reported) known.set(one.at, one)
  return [...known.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-CHARTED_MEASUREMENTS_MAX)
}

function isEqual(a: AnalysisMeasurement | undefined, b: AnalysisMeasurement): boolean {
  return a !== undefined && a.phase === b.phase && a.value === b.value && a.sample === b.sample && a.message === b.message
}
