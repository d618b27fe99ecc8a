import { type DaemonSet, type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { type Problem, problemOf } from './problem.ts'

/**
 * Checks that the DaemonSet leaves a release something to work with: it may take at least one node down at a time, and it
 * does not ask for surge, which cannot be had under `OnDelete`.
 *
 * @param desired nodes on which the DaemonSet should run (≥ 0); with none there is nothing to release
 * @param override what stands in the place of its maxUnavailable; undefined: nothing does
 * @returns at most one problem, reason `BudgetZero`
 */
export function validateDaemonSetBudget(daemonSet: DaemonSet, desired: number, override?: IntOrString): readonly Problem[] {
  if (desired === 0) return []
  const { maxSurge, maxUnavailable } = daemonSet.spec.updateStrategy?.rollingUpdate ?? {}
  if (maxSurge !== undefined && !isZero(maxSurge)) return [problemOf('BudgetSurge', { value: maxSurge })]
  if (override !== undefined) return isNoBudget(override, desired) ? [problemOf('TrancheBudget', { value: override })] : []
  if (maxUnavailable === undefined) return []
  const nodes = scaleIntOrPercent(maxUnavailable, desired)
  if (nodes === null) return [problemOf('BudgetUnreadable', { value: maxUnavailable })]
  return nodes === 0 ? [problemOf('BudgetNothing', { value: maxUnavailable })] : []
}

/** Nothing, or nothing that can be read. */
function isNoBudget(size: IntOrString, desired: number): boolean {
  return (scaleIntOrPercent(size, desired) ?? 0) === 0
}

function isZero(size: IntOrString): boolean {
  return scaleIntOrPercent(size, 100) === 0
}
