import { valueIn } from '@tranche/kube-types'
import type { AnalysisRun, TrancheSpec } from '@tranche/api-schema'
import { analysisOf } from './run-identity.ts'

/** Verdict of the analyses on the new version. */
export type AnalysisVerdict =
  | { readonly kind: 'good' }
  | {
      /** `failed`: the version is bad. `inconclusive`: a user must decide. */
      readonly kind: 'failed' | 'inconclusive'
      /** Names of the analyses, in the order of the runs; never empty. */
      readonly names: readonly string[]
      /** Results of these analyses as text for users. */
      readonly message: string
    }

/**
 * Judges a release by its analyses. A failed analysis outweighs inconclusive ones; an analysis that could not be measured is
 * inconclusive; a dry run does not count.
 *
 * Only runs of the present release, the present rules and the last retry count. Another retry, other rules, or a spec without
 * analyses therefore lift the verdict.
 *
 * @param tranche `spec.tranche` of the BatchRelease
 * @param runs `status.analysis` of the same BatchRelease
 */
export function analysisVerdict(tranche: TrancheSpec | undefined, runs: readonly AnalysisRun[] | undefined): AnalysisVerdict {
  const counting = (runs ?? []).filter((run) => isStopping(run) && analysisOf(tranche, run) !== undefined)
  const failed = counting.filter(({ phase }) => phase === 'Failed')
  if (failed.length > 0) return verdictOf('failed', failed)
  return counting.length > 0 ? verdictOf('inconclusive', counting) : { kind: 'good' }
}

/** Whether a run that counts has ended without success. */
export function isStopping({ phase, dryRun }: AnalysisRun): boolean {
  return dryRun !== true && phase !== 'Running' && phase !== 'Successful'
}

function verdictOf(kind: 'failed' | 'inconclusive', runs: readonly AnalysisRun[]): AnalysisVerdict {
  return { kind, names: runs.map(({ name }) => name), message: runs.map(runText).join('; ') }
}

/** @returns the state of a run as text for users */
export function runText({ name, step, phase, message }: AnalysisRun): string {
  const where = step === undefined ? 'in the background' : `after step ${step}`
  return `analysis ${name} ${where} ${valueIn(phaseTexts, phase) ?? phase}${message === undefined ? '' : `: ${message}`}`
}

const phaseTexts: Readonly<Record<string, string>> = {
  Running: 'is being measured',
  Successful: 'succeeded',
  Failed: 'failed',
  Inconclusive: 'is inconclusive',
  Error: 'could not be measured',
}
