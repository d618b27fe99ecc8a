import type { AnalysisRun, TrancheSpec } from '@tranche/api-schema'
import { analysisOf } from './run-identity.ts'

/** What the analyses say of the new version. */
export type AnalysisVerdict =
  | { readonly kind: 'good' }
  | {
      /** `failed`: the version is bad. `inconclusive`: nobody can tell, so that a person has to. */
      readonly kind: 'failed' | 'inconclusive'
      /** Names of the analyses, in the order of the runs; never empty. */
      readonly names: readonly string[]
      /** What each of them says, for a person. */
      readonly message: string
    }

/**
 * Judges a release by its analyses. One that failed outweighs those that are inconclusive; one that could not be measured
 * is inconclusive; a dry run says nothing.
 *
 * Only runs of the present release, the present rules and the last retry count, so that another retry, other rules, or a
 * spec without analyses lift the verdict by themselves.
 *
 * @param tranche `spec.tranche` of the BatchRelease
 * @param runs `status.analysis` of the same
 */
export function analysisVerdict(tranche: TrancheSpec | undefined, runs: readonly AnalysisRun[] | undefined): AnalysisVerdict {
  const counting = (runs ?? []).filter((run) => isStopping(run) && analysisOf(tranche, run) !== undefined)
  const failed = counting.filter(({ phase }) => phase === 'Failed')
  if (failed.length > 0) return verdictOf('failed', failed)
  return counting.length > 0 ? verdictOf('inconclusive', counting) : { kind: 'good' }
}

/** Whether the run has ended otherwise than well, and may decide. */
export function isStopping({ phase, dryRun }: AnalysisRun): boolean {
  return dryRun !== true && phase !== 'Running' && phase !== 'Successful'
}

function verdictOf(kind: 'failed' | 'inconclusive', runs: readonly AnalysisRun[]): AnalysisVerdict {
  return { kind, names: runs.map(({ name }) => name), message: runs.map(runText).join('; ') }
}

/** @returns the run with what is known of it, for a person */
export function runText({ name, step, phase, message }: AnalysisRun): string {
  const where = step === undefined ? 'in the background' : `after step ${step}`
  return `analysis ${name} ${where} ${phaseTexts[phase] ?? phase}${message === undefined ? '' : `: ${message}`}`
}

const phaseTexts: Readonly<Record<string, string>> = {
  Running: 'is being measured',
  Successful: 'succeeded',
  Failed: 'failed',
  Inconclusive: 'is inconclusive',
  Error: 'could not be measured',
}
