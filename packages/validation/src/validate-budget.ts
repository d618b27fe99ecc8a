import { type DaemonSet, type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'
import type { Problem } from './problem.ts'

const PATH = 'spec.updateStrategy.rollingUpdate'

/**
 * Checks that the DaemonSet leaves a release something to work with: it may take at least one node down at a time, and it
 * does not ask for surge, which cannot be had under `OnDelete`.
 *
 * @param desired nodes on which the DaemonSet should run (≥ 0); with none there is nothing to release
 * @returns at most one problem, reason `BudgetZero`
 */
export function validateDaemonSetBudget(daemonSet: DaemonSet, desired: number): readonly Problem[] {
  if (desired === 0) return []
  const { maxSurge, maxUnavailable } = daemonSet.spec.updateStrategy?.rollingUpdate ?? {}
  if (maxSurge !== undefined && !isZero(maxSurge)) return [surgeProblem(maxSurge)]
  if (maxUnavailable === undefined) return []
  const nodes = scaleIntOrPercent(maxUnavailable, desired)
  if (nodes === null) return [unreadable(maxUnavailable)]
  return nodes === 0 ? [zero(maxUnavailable)] : []
}

function surgeProblem(maxSurge: IntOrString): Problem {
  return {
    path: `${PATH}.maxSurge`,
    value: maxSurge,
    message: 'a release in steps replaces pods in place, and surge cannot be had under OnDelete',
    fix: 'set maxSurge to 0 and maxUnavailable to 1 or more',
    reason: 'BudgetZero',
  }
}

function zero(maxUnavailable: IntOrString): Problem {
  return {
    path: `${PATH}.maxUnavailable`,
    value: maxUnavailable,
    message: 'no node may be without its pod, so no pod can be replaced',
    fix: 'set it to 1 or more, or to a percentage such as "10%"',
    reason: 'BudgetZero',
  }
}

function unreadable(maxUnavailable: IntOrString): Problem {
  return {
    path: `${PATH}.maxUnavailable`,
    value: maxUnavailable,
    message: 'it is neither a whole number nor a percentage up to 100%, so no node may be taken',
    fix: 'set it to 1 or more, or to a percentage such as "10%"',
    reason: 'BudgetZero',
  }
}

function isZero(size: IntOrString): boolean {
  return scaleIntOrPercent(size, 100) === 0
}
