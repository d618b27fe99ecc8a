import { scaleIntOrPercent } from '@tranche/kube-types'
import type { NodeScope } from './node-scope.ts'

/**
 * Unavailable nodes that the policy exempts from the budget: the first by name, as many as it allows.
 *
 * @param dead names of NotReady nodes with an old pod and without an available one, sorted
 * @param desired number of nodes that a percentage refers to; rounded up
 */
export function exemptNodes(dead: readonly string[], { exempt }: NodeScope, desired: number): ReadonlySet<string> {
  return new Set(dead.slice(0, Math.max(0, scaleIntOrPercent(exempt, desired) ?? 0)))
}
