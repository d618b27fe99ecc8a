import type { CanaryStrategy, Rollout, RolloutSpec } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { isObjectName } from './fields/names.ts'
import { keptProblems } from './fields/kept-problems.ts'
import { type Problem, problemOf } from './problems/problem.ts'
import { validateAnnotations } from './validate-annotations.ts'
import { validateSteps } from './fields/validate-steps.ts'
import { isDaemonSetRef } from './fields/workload.ts'

/** Facts about the cluster that the rules about a Rollout depend on. */
export interface RolloutSurroundings {
  /** Nodes on which the DaemonSet should run; null while not known. */
  readonly desired: number | null
}

/**
 * Checks a Rollout that its schema has accepted. A Rollout of another workload kind has no problems, because Tranche ignores it.
 *
 * @returns every problem, up to a number, those of the spec first; empty when a release may start
 */
export function validateRollout(rollout: Rollout, surroundings: RolloutSurroundings = { desired: null }): readonly Problem[] {
  if (!isDaemonSetRef(rollout.spec.workloadRef)) return []
  return [...validateSpec(rollout, surroundings), ...validateAnnotations(rollout)]
}

/**
 * Checks only the spec, for callers that report an unreadable action separately.
 *
 * @returns every problem in `spec`, up to a number; empty for a Rollout of another workload kind
 */
export function validateSpec({ spec }: Rollout, { desired }: RolloutSurroundings = { desired: null }): readonly Problem[] {
  if (!isDaemonSetRef(spec.workloadRef)) return []
  return problemsOf(spec, desired)
}

const problemsOf = keptProblems('Rollout', specProblems)

function specProblems(spec: RolloutSpec, desired: number | null): readonly Problem[] {
  const { canary, blueGreen } = spec.strategy
  const workload = workloadProblems(spec)
  if (blueGreen !== undefined) return [...workload, problemOf('BlueGreen', { value: blueGreen })]
  if (canary === undefined) return [...workload, problemOf('StrategyMissing', { value: undefined })]
  return [...workload, ...validateSteps(canary.steps, desired), ...thresholdProblems(canary), ...trafficProblems(canary)]
}

function workloadProblems({ workloadRef }: RolloutSpec): readonly Problem[] {
  const { apiVersion, name } = workloadRef
  return [
    ...(apiVersion === 'apps/v1' ? [] : [problemOf('WorkloadVersion', { value: apiVersion })]),
    ...(isObjectName(name) ? [] : [problemOf('WorkloadName', { value: name })]),
  ]
}

function thresholdProblems({ failureThreshold }: CanaryStrategy): readonly Problem[] {
  return isThreshold(failureThreshold) ? [] : [problemOf('FailureThreshold', { value: failureThreshold })]
}

/** Whether a failureThreshold is absent, a whole number ≥ 0, or a percentage up to 100%. */
export function isThreshold(threshold: IntOrString | undefined): boolean {
  return threshold === undefined || scaleIntOrPercent(threshold, 100) !== null
}

function trafficProblems({ trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata }: CanaryStrategy): readonly Problem[] {
  return [
    ...(trafficRoutings?.length ? [problemOf('TrafficRoutings', { value: trafficRoutings })] : []),
    ...(trafficRoutingRef ? [problemOf('TrafficRoutingRef', { value: trafficRoutingRef })] : []),
    ...(patchPodTemplateMetadata === undefined ? [] : [problemOf('TemplateMetadata', { value: patchPodTemplateMetadata })]),
  ]
}
