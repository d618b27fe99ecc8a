import { type DaemonSet, type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import { type Problem, problemOf } from './problems/problem.ts'

/**
 * Checks that the DaemonSet leaves a budget: at least one node may be unavailable at a time, and `maxSurge` is zero,
 * because `OnDelete` has no surge.
 *
 * @param desired nodes on which the DaemonSet should run (≥ 0); with none there is nothing to release
 * @param override replaces the maxUnavailable of the DaemonSet; undefined to use its own
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

/** Whether a size is zero nodes or invalid. */
function isNoBudget(size: IntOrString, desired: number): boolean {
  return (scaleIntOrPercent(size, desired) ?? 0) === 0
}

function isZero(size: IntOrString): boolean {
  return scaleIntOrPercent(size, 100) === 0
}
