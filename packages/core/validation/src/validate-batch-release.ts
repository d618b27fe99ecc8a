import type { BatchRelease, BatchReleaseSpec, NodeSelector, ReleasePlan, TrancheSpec } from '@tranche/api-schema'
import { isLabelValue, isObjectName } from './fields/names.ts'
import { keptProblems } from './fields/kept-problems.ts'
import { validateTrancheRules } from './policy/validate-policy-rules.ts'
import { findingsOfEach } from './problems/bounded.ts'
import { type Problem, problemOf } from './problems/problem.ts'
import { problemRules } from './problems/rules.ts'
import { isThreshold, type RolloutSurroundings } from './validate-rollout.ts'
import { shrinkingProblems, type SizeList, sizeProblems } from './fields/validate-sizes.ts'
import { MAX_STEPS, nodeSets } from './fields/validate-steps.ts'
import { isDaemonSetRef } from './fields/workload.ts'

/**
 * Checks a BatchRelease that its schema has accepted. Mostly for hand-written ones: those of a Rollout follow from a
 * checked spec. A BatchRelease of another workload kind has no problems, because Tranche ignores it.
 *
 * @returns every problem, up to a number; empty when it may run
 */
export function validateBatchRelease({ spec }: BatchRelease, { desired }: RolloutSurroundings = { desired: null }): readonly Problem[] {
  if (spec.workloadRef !== undefined && !isDaemonSetRef(spec.workloadRef)) return []
  return problemsOf(spec, desired)
}

const problemsOf = keptProblems('BatchRelease', specProblems)

function specProblems(spec: BatchReleaseSpec, desired: number | null): readonly Problem[] {
  const { workloadRef } = spec
  if (workloadRef === undefined) return [problemOf('BatchWorkload', { value: undefined }), ...planProblems(spec, desired)]
  return [...workloadProblems(workloadRef), ...planProblems(spec, desired), ...trancheProblems(spec.tranche)]
}

function workloadProblems({ apiVersion, name }: { readonly apiVersion: string; readonly name: string }): readonly Problem[] {
  return [
    ...(apiVersion === 'apps/v1' ? [] : [problemOf('BatchWorkloadVersion', { value: apiVersion })]),
    ...(isObjectName(name) ? [] : [problemOf('BatchWorkloadName', { value: name })]),
  ]
}

function planProblems({ releasePlan: plan, tranche }: BatchReleaseSpec, desired: number | null): readonly Problem[] {
  const { failureThreshold, rolloutID, rollingStyle, patchPodTemplateMetadata } = plan
  return [
    ...batchProblems(plan, tranche?.nodes?.steps, desired),
    ...(isThreshold(failureThreshold) ? [] : [problemOf('BatchFailureThreshold', { value: failureThreshold })]),
    ...(rolloutID === undefined || rolloutID === '' || isLabelValue(rolloutID) ? [] : [problemOf('RolloutId', { value: rolloutID })]),
    ...(rollingStyle === undefined || rollingStyle === 'Partition' ? [] : [problemOf('RollingStyle', { value: rollingStyle })]),
    ...(patchPodTemplateMetadata === undefined ? [] : [problemOf('BatchTemplateMetadata', { value: patchPodTemplateMetadata })]),
  ]
}

function batchProblems(
  { batches, batchPartition }: ReleasePlan,
  steps: readonly NodeSelector[] | undefined,
  desired: number | null,
): readonly Problem[] {
  if (batches === undefined || batches.length === 0) return [problemOf('BatchesMissing', { value: batches })]
  if (batches.length > MAX_STEPS) return [problemOf('BatchesTooMany', { value: `${batches.length} batches` })]
  const sizes: SizeList = {
    sizes: batches.map(({ canaryReplicas }) => canaryReplicas),
    ...(steps !== undefined && { sets: nodeSets(batches.map((_, index) => ({ nodes: steps[index] }))) }),
    pathOf: (index) => `${problemRules.BatchesMissing.path}[${index}].canaryReplicas`,
    list: 'batches',
    rules: { size: 'BatchSize', shrinks: 'BatchShrinks' },
  }
  return [
    ...findingsOfEach(batches, (_, index) => sizeProblems(sizes, index)),
    ...shrinkingProblems(sizes, desired),
    ...partitionProblems(batchPartition, batches.length),
  ]
}

function partitionProblems(batchPartition: number | undefined, batches: number): readonly Problem[] {
  if (batchPartition === undefined || (batchPartition >= 0 && batchPartition < batches)) return []
  const highest = batches - 1
  const fix = `set it to ${highest === 0 ? '0' : `a number from 0 to ${highest}`}, or remove it to release every node`
  return [problemOf('BatchPartition', { value: batchPartition, fix })]
}

function trancheProblems(tranche: TrancheSpec | undefined): readonly Problem[] {
  const { canaryRevision, stableRevision } = tranche ?? {}
  return [
    ...(isRevision(canaryRevision) ? [] : [problemOf('TrancheCanaryRevision', { value: canaryRevision })]),
    ...(isRevision(stableRevision) ? [] : [problemOf('TrancheStableRevision', { value: stableRevision })]),
    ...(tranche === undefined ? [] : policyProblems(tranche)),
  ]
}

function policyProblems(tranche: TrancheSpec): readonly Problem[] {
  return validateTrancheRules(tranche).map(({ path, value, message, fix }) =>
    problemOf('TranchePolicy', { path: path.replace('spec.', 'spec.tranche.'), value, message, fix }),
  )
}

function isRevision(revision: string | undefined): boolean {
  return revision === undefined || isLabelValue(revision)
}
