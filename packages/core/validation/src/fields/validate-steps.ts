import { type RolloutStep, sizeLimits } from '@tranche/api-schema'
import { canonicalJson } from '@tranche/kube-types'
import { matchesEverything, selectorFaults } from './selector-faults.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { problemRules } from '../problems/rules.ts'
import { EVERY_NODE, shrinkingProblems, type SizeList, sizeProblems } from './validate-sizes.ts'

/** Path of the steps of a Rollout. */
export const STEPS_PATH = problemRules.StepsMissing.path

/** Maximum number of steps of a Rollout and of batches of a BatchRelease; the same as in the schema of a Rollout. */
export const MAX_STEPS = sizeLimits.steps

/**
 * Checks the number of steps, each size and pause, that sizes never shrink, and that no step routes traffic.
 *
 * @param desired nodes on which the DaemonSet should run; null while unknown: numbers are then compared only with numbers, and
 *   percentages only with percentages
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
  return [...findingsOfEach(steps, (step, index) => stepProblems(step, index, sizes)), ...shrinkingProblems(sizes, desired)]
}

/**
 * Node set of each step: the nodes that its selector or the selector of an earlier step matches. From the first step without
 * a selector it is every node.
 *
 * @returns a key for each step; equal keys mean the same nodes
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
