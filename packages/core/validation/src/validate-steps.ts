import type { RolloutStep } from '@tranche/api-schema'
import { canonicalJson } from '@tranche/kube-types'
import { matchesEverything, selectorFaults } from './policy/selector-faults.ts'
import { type Problem, problemOf } from './problem.ts'
import { problemRules } from './rules.ts'
import { EVERY_NODE, shrinkingProblems, type SizeList, sizeProblems } from './validate-sizes.ts'

/** Path of the steps of a Rollout that is ours. */
export const STEPS_PATH = problemRules.StepsMissing.path

/** The most steps a Rollout, or batches a BatchRelease, may have: as in the schema of a Rollout. */
export const MAX_STEPS = 50

/**
 * Checks the steps: how many, each size, each pause, that sizes never shrink, and that nothing asks for traffic.
 *
 * @param desired nodes on which the DaemonSet should run; null while it is not known, then numbers and percentages are
 *   each compared among themselves only
 */
export function validateSteps(steps: readonly RolloutStep[] | undefined, desired: number | null): readonly Problem[] {
  if (steps === undefined || steps.length === 0) return [problemOf('StepsMissing', { value: steps })]
  if (steps.length > MAX_STEPS) return [problemOf('StepsTooMany', { value: countOfSteps(steps.length) })]
  const sizes: SizeList = {
    sizes: steps.map(({ nodes, replicas }) => replicas ?? (nodes === undefined ? undefined : '100%')),
    sets: nodeSets(steps),
    pathOf: (index) => `${STEPS_PATH}[${index}].replicas`,
    list: 'steps',
    rules: { size: 'StepSize', shrinks: 'StepShrinks' },
  }
  return [...steps.flatMap((step, index) => stepProblems(step, index, sizes)), ...shrinkingProblems(sizes, desired)]
}

/**
 * Which nodes each step may take: those that its own selector and those of the steps before it choose, and every node from a
 * step without one on.
 *
 * @returns a key for each step; equal keys are the same nodes
 */
export function nodeSets(steps: readonly RolloutStep[]): readonly string[] {
  const selectors = new Set<string>()
  return steps.map(({ nodes }) => {
    selectors.add(nodes === undefined || matchesEverything(nodes) ? EVERY_NODE : canonicalJson(nodes))
    return selectors.has(EVERY_NODE) ? EVERY_NODE : String(selectors.size)
  })
}

/** @returns "1 step", "2 steps" … */
export function countOfSteps(count: number): string {
  return `${count} ${count === 1 ? 'step' : 'steps'}`
}

function stepProblems(step: RolloutStep, index: number, sizes: SizeList): readonly Problem[] {
  const path = `${STEPS_PATH}[${index}]`
  return [...sizeProblems(sizes, index), ...nodeProblems(step, path), ...pauseProblems(step, path), ...trafficProblems(step, path)]
}

function nodeProblems({ nodes }: RolloutStep, path: string): readonly Problem[] {
  return nodes === undefined ? [] : selectorFaults(`${path}.nodes`, nodes).map((fault) => problemOf('StepNodes', fault))
}

function pauseProblems(step: RolloutStep, path: string): readonly Problem[] {
  const duration = step.pause?.duration
  return duration === undefined || duration >= 0 ? [] : [problemOf('PauseNegative', { path: `${path}.pause.duration`, value: duration })]
}

const trafficRules = { traffic: 'StepTraffic', requestHeaderModifier: 'StepHeaders', matches: 'StepMatches' } as const

function trafficProblems(step: RolloutStep, path: string): readonly Problem[] {
  return (['traffic', 'requestHeaderModifier', 'matches'] as const)
    .filter((field) => step[field] !== undefined)
    .map((field) => problemOf(trafficRules[field], { path: `${path}.${field}`, value: step[field] }))
}
