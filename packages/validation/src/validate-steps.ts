import type { RolloutStep } from '@tranche/api-schema'
import type { IntOrString } from '@tranche/kube-types'
import type { Problem } from './problem.ts'
import { resolveSize } from './step-sizes.ts'

/** Path of the steps of a Rollout that is ours. */
export const STEPS_PATH = 'spec.strategy.canary.steps'

/** The most steps a Rollout may have, as in its schema. */
const MAX_STEPS = 50

/**
 * Checks the steps: how many, each size, each pause, that sizes never shrink, and that nothing asks for traffic.
 *
 * @param desired nodes on which the DaemonSet should run; null while it is not known, then numbers and percentages are
 *   each compared among themselves only
 */
export function validateSteps(steps: readonly RolloutStep[] | undefined, desired: number | null): readonly Problem[] {
  if (steps === undefined || steps.length === 0) return [noSteps(steps)]
  if (steps.length > MAX_STEPS) return [tooManySteps(steps.length)]
  return [...steps.flatMap(stepProblems), ...shrinkingSteps(steps, desired)]
}

function noSteps(steps: readonly RolloutStep[] | undefined): Problem {
  return {
    path: STEPS_PATH,
    value: steps,
    message: 'a release needs at least one step',
    fix: 'add a step such as {replicas: "10%", pause: {}}',
    reason: 'InvalidSpec',
  }
}

function tooManySteps(count: number): Problem {
  return {
    path: STEPS_PATH,
    value: countOfSteps(count),
    message: `a release has at most ${MAX_STEPS} steps`,
    fix: 'merge steps',
    reason: 'InvalidSpec',
  }
}

/** @returns "1 step", "2 steps" … */
export function countOfSteps(count: number): string {
  return `${count} ${count === 1 ? 'step' : 'steps'}`
}

function stepProblems(step: RolloutStep, index: number): readonly Problem[] {
  const path = `${STEPS_PATH}[${index}]`
  return [...sizeProblems(step.replicas, `${path}.replicas`), ...pauseProblems(step, path), ...trafficProblems(step, path)]
}

function sizeProblems(size: IntOrString | undefined, path: string): readonly Problem[] {
  const wrong = wrongSize(size)
  return wrong === null ? [] : [{ path, value: size, ...wrong, reason: 'InvalidSpec' }]
}

function wrongSize(size: IntOrString | undefined): Pick<Problem, 'message' | 'fix'> | null {
  const either = 'set it to a whole number of nodes such as 3, or to a percentage such as "10%"'
  if (size === undefined) return { message: 'a step says how many nodes are updated after it', fix: either }
  if (typeof size === 'number') {
    return Number.isInteger(size) && size >= 1 ? null : { message: 'a step updates a whole number of nodes from 1', fix: either }
  }
  if (/^\d+$/.test(size))
    return { message: 'a number of nodes is written without quotes', fix: `write ${Number(size)}, or "${Number(size)}%"` }
  if (!/^\d+%$/.test(size)) return { message: 'it is neither a whole number nor a percentage', fix: either }
  const percent = Number(size.slice(0, -1))
  if (percent === 0) return { message: 'a step updates at least one node', fix: 'set it to "1%" or more, or remove the step' }
  if (percent > 100) return { message: 'a percentage is at most 100%', fix: 'set it to "100%" or less' }
  return null
}

function pauseProblems(step: RolloutStep, path: string): readonly Problem[] {
  const duration = step.pause?.duration
  if (duration === undefined || duration >= 0) return []
  return [
    {
      path: `${path}.pause.duration`,
      value: duration,
      message: 'a pause cannot last less than nothing',
      fix: 'set it to 0 seconds or more, or write pause: {} to wait for a person',
      reason: 'InvalidSpec',
    },
  ]
}

function trafficProblems(step: RolloutStep, path: string): readonly Problem[] {
  return (['traffic', 'requestHeaderModifier', 'matches'] as const)
    .filter((field) => step[field] !== undefined)
    .map((field) => unsupportedTraffic(`${path}.${field}`, step[field]))
}

/** @returns the problem of a field that routes requests */
export function unsupportedTraffic(path: string, value: unknown): Problem {
  return {
    path,
    value,
    message: 'requests cannot be routed by revision for a DaemonSet, whose pods are chosen by node',
    fix: 'remove it',
    reason: 'UnsupportedField',
  }
}

/** Each step is compared with the largest one before it, not only with its neighbour: what the fix names is enough. */
function shrinkingSteps(steps: readonly RolloutStep[], desired: number | null): readonly Problem[] {
  return steps.flatMap(({ replicas }, index) => {
    if (replicas === undefined || wrongSize(replicas) !== null) return []
    const larger = steps.slice(0, index).flatMap((earlier, at) => (isSmaller(replicas, earlier.replicas, desired) ? [at] : []))
    const [first, ...others] = larger
    if (first === undefined) return []
    const largest = others.reduce((best, at) => (isSmaller(steps[best]!.replicas!, steps[at]!.replicas, desired) ? at : best), first)
    return [shrinks(replicas, index, steps[largest]!.replicas!, largest)]
  })
}

/** Whether `size` is certainly smaller than `earlier`. Numbers and percentages meet only where the desired nodes are known. */
function isSmaller(size: IntOrString, earlier: IntOrString | undefined, desired: number | null): boolean {
  if (earlier === undefined || wrongSize(earlier) !== null) return false
  if (typeof size === typeof earlier) return Number.parseInt(String(size), 10) < Number.parseInt(String(earlier), 10)
  return desired !== null && resolveSize(size, desired) < resolveSize(earlier, desired)
}

function shrinks(size: IntOrString, index: number, earlier: IntOrString, before: number): Problem {
  return {
    path: `${STEPS_PATH}[${index}].replicas`,
    value: size,
    message: `sizes are cumulative and never shrink, and steps[${before}] has ${JSON.stringify(earlier)}`,
    fix: `set it to at least ${JSON.stringify(earlier)}, or make steps[${before}] smaller`,
    reason: 'InvalidSpec',
  }
}
