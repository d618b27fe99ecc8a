import { scaleIntOrPercent } from '@tranche/kube-types'
import type { NodeScope } from './node-scope.ts'

/**
 * The nodes that do not count as unavailable though they are: the first, by name, as many as the policy exempts.
 *
 * @param dead NotReady nodes with an old pod and without an available one, by name
 * @param desired what a percentage is of; rounded up
 */
export function exemptNodes(dead: readonly string[], { exempt }: NodeScope, desired: number): ReadonlySet<string> {
  return new Set(dead.slice(0, Math.max(0, scaleIntOrPercent(exempt, desired) ?? 0)))
}
