import type { Analysis, AnalysisRun, TrancheSpec } from '@tranche/api-schema'
import { canonicalJson, sha256Hex } from '@tranche/kube-types'

/** Length of a digest: enough to distinguish the analyses of one policy and their versions. */
const DIGEST_DIGITS = 16

/** @returns the digest of an analysis, which its runs record; independent of the order of the fields */
export function analysisDigest(analysis: Analysis): string {
  const known = digests.get(analysis)
  if (known !== undefined) return known
  const digest = sha256Hex(canonicalJson(analysis)).slice(0, DIGEST_DIGITS)
  digests.set(analysis, digest)
  return digest
}

/** Digests by object: objects from a watch never change, and every pass needs their digests. */
const digests = new WeakMap<Analysis, string>()

/**
 * The analysis of a run: one that the spec still has unchanged, in the running release, since the last retry.
 *
 * @returns undefined when the run no longer counts for the release
 */
export function analysisOf(tranche: TrancheSpec | undefined, run: AnalysisRun): Analysis | undefined {
  if (run.release !== (tranche?.release ?? '') || run.retry !== tranche?.retry) return undefined
  const analysis = tranche?.analysis?.find(({ name }) => name === run.name)
  return analysis !== undefined && analysisDigest(analysis) === run.spec ? analysis : undefined
}

/** Whether the analysis runs after this step, counted from 1. */
export function isOfStep({ background, steps }: Analysis, step: number): boolean {
  return background !== true && (steps === undefined || steps.includes(step))
}
