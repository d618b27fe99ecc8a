import type { Analysis, AnalysisRun, TrancheSpec } from '@tranche/api-schema'
import { canonicalJson, sha256Hex } from '@tranche/kube-types'

/** Enough to tell the analyses of one policy, and its versions, apart. */
const DIGEST_DIGITS = 16

/** @returns what a run remembers of the analysis that it began with: the same for the same rules, in whatever order they stand */
export function analysisDigest(analysis: Analysis): string {
  const known = digests.get(analysis)
  if (known !== undefined) return known
  const digest = sha256Hex(canonicalJson(analysis)).slice(0, DIGEST_DIGITS)
  digests.set(analysis, digest)
  return digest
}

/** What is read from a watch never changes, and is asked about in every pass. */
const digests = new WeakMap<Analysis, string>()

/**
 * The analysis that a run is of: one that the spec still has as it was begun, in the release that runs, since the last retry.
 *
 * @returns undefined where the run says nothing of the release any more
 */
export function analysisOf(tranche: TrancheSpec | undefined, run: AnalysisRun): Analysis | undefined {
  if (run.release !== (tranche?.release ?? '') || run.retry !== tranche?.retry) return undefined
  const analysis = tranche?.analysis?.find(({ name }) => name === run.name)
  return analysis !== undefined && analysisDigest(analysis) === run.spec ? analysis : undefined
}

/** Whether the analysis is made after this step, from 1. */
export function isOfStep({ background, steps }: Analysis, step: number): boolean {
  return background !== true && (steps === undefined || steps.includes(step))
}
