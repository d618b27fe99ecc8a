import type { Analysis, AnalysisRun, BatchRelease } from '@tranche/api-schema'
import { runText } from './analysis-verdict.ts'
import { analysisOf, isOfStep } from './run-identity.ts'

/** State of the analyses of one step. */
export type StepAnalyses =
  /** All of them succeeded, or there are none. */
  | { readonly kind: 'done' }
  /** Some have not succeeded yet; the message names them for users. */
  | { readonly kind: 'waiting'; readonly message: string }

/**
 * Whether the analyses of a step allow it to continue. Dry runs do not count.
 *
 * @param step number of the step, from 1
 */
export function stepAnalyses({ spec, status }: BatchRelease, step: number): StepAnalyses {
  const awaited = (spec.tranche?.analysis ?? []).filter((analysis) => isOfStep(analysis, step) && analysis.dryRun !== true)
  const runs = (status?.analysis ?? []).filter((run) => run.step === step && analysisOf(spec.tranche, run) !== undefined)
  const left = awaited.flatMap((analysis) => leftOf(analysis, runs))
  return left.length === 0 ? { kind: 'done' } : { kind: 'waiting', message: left.join('; ') }
}

function leftOf({ name }: Analysis, runs: readonly AnalysisRun[]): readonly string[] {
  const run = runs.find((one) => one.name === name)
  if (run === undefined) return [`analysis ${name} has not started`]
  return run.phase === 'Successful' ? [] : [runText(run)]
}
