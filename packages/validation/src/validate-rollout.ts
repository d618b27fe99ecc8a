import type { Rollout } from '@tranche/api-schema'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import type { Problem } from './problem.ts'
import { validateAnnotations } from './validate-annotations.ts'
import { unsupportedTraffic, validateSteps } from './validate-steps.ts'
import { isDaemonSetRef } from './workload.ts'

/** What is known of the cluster when a Rollout is checked. */
export interface RolloutSurroundings {
  /** Nodes on which the DaemonSet should run; null while not known. */
  readonly desired: number | null
}

/**
 * Checks a Rollout that its schema has accepted. A Rollout that is not ours has no problems: it is somebody else's.
 *
 * @returns every problem, those of the spec first; empty when a release may start
 */
export function validateRollout(rollout: Rollout, surroundings: RolloutSurroundings = { desired: null }): readonly Problem[] {
  if (!isDaemonSetRef(rollout.spec.workloadRef)) return []
  return [...validateSpec(rollout, surroundings), ...validateAnnotations(rollout)]
}

/**
 * Checks the spec alone, for those who answer a wish that cannot be read in another place.
 *
 * @returns every problem in `spec`; empty for a Rollout that is not ours
 */
export function validateSpec(rollout: Rollout, { desired }: RolloutSurroundings = { desired: null }): readonly Problem[] {
  if (!isDaemonSetRef(rollout.spec.workloadRef)) return []
  const { canary, blueGreen } = rollout.spec.strategy
  const workload = workloadProblems(rollout)
  if (blueGreen !== undefined) return [...workload, blueGreenProblem(blueGreen)]
  if (canary === undefined) return [...workload, noStrategyProblem()]
  return [...workload, ...validateSteps(canary.steps, desired), ...thresholdProblems(canary.failureThreshold), ...trafficProblems(canary)]
}

function workloadProblems(rollout: Rollout): readonly Problem[] {
  const { apiVersion, name } = rollout.spec.workloadRef
  const problems: Problem[] = []
  if (apiVersion !== 'apps/v1') {
    problems.push({
      path: 'spec.workloadRef.apiVersion',
      value: apiVersion,
      message: 'DaemonSets are served as apps/v1 only',
      fix: 'set it to apps/v1',
      reason: 'InvalidSpec',
    })
  }
  if (name === '') {
    problems.push({
      path: 'spec.workloadRef.name',
      value: name,
      message: 'it names no DaemonSet',
      fix: 'set it to the name of a DaemonSet in the same namespace',
      reason: 'InvalidSpec',
    })
  }
  return problems
}

function blueGreenProblem(value: unknown): Problem {
  return {
    path: 'spec.strategy.blueGreen',
    value,
    message: 'a node runs one pod of a DaemonSet at a time, so two versions cannot stand side by side',
    fix: 'remove it and list steps under spec.strategy.canary',
    reason: 'UnsupportedField',
  }
}

function noStrategyProblem(): Problem {
  return {
    path: 'spec.strategy.canary',
    value: undefined,
    message: 'it says in which steps to release',
    fix: 'add canary: {steps: [{replicas: "10%", pause: {}}, {replicas: "100%"}]}',
    reason: 'InvalidSpec',
  }
}

function thresholdProblems(threshold: IntOrString | undefined): readonly Problem[] {
  if (threshold === undefined || scaleIntOrPercent(threshold, 100) !== null) return []
  return [
    {
      path: 'spec.strategy.canary.failureThreshold',
      value: threshold,
      message: 'it says how many updated nodes may be unavailable when a step is ready',
      fix: 'set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"',
      reason: 'InvalidSpec',
    },
  ]
}

function trafficProblems(canary: NonNullable<Rollout['spec']['strategy']['canary']>): readonly Problem[] {
  const path = 'spec.strategy.canary'
  const { trafficRoutings, trafficRoutingRef, patchPodTemplateMetadata } = canary
  return [
    ...(trafficRoutings?.length ? [unsupportedTraffic(`${path}.trafficRoutings`, trafficRoutings)] : []),
    ...(trafficRoutingRef ? [unsupportedTraffic(`${path}.trafficRoutingRef`, trafficRoutingRef)] : []),
    ...(patchPodTemplateMetadata === undefined ? [] : [templatePatchProblem(`${path}.patchPodTemplateMetadata`, patchPodTemplateMetadata)]),
  ]
}

function templatePatchProblem(path: string, value: unknown): Problem {
  return {
    path,
    value,
    message: 'canary pods of a DaemonSet come from its own template and cannot be labelled apart',
    fix: 'remove it',
    reason: 'UnsupportedField',
  }
}
