import type { Ledger } from './nodes/node-ledger.ts'

/**
 * Selects the nodes whose old pod is deleted now: all where it is not available, and as many others as maxUnavailable allows. The others
 * are selected at random.
 *
 * @param random numbers in [0, 1)
 */
export function planRollingUpdate({ rolling }: Ledger, maxUnavailable: number, random: () => number): readonly string[] {
  const remaining = Math.max(0, maxUnavailable - rolling.unavailable.size - rolling.replaceNow.size)
  return [...rolling.replaceNow.values(), ...rolling.candidate.pick(remaining, random)]
}

/** Names of nodes. */
export interface SurgePlan {
  /** Nodes that get a new pod beside the old one. */
  readonly create: readonly string[]
  /** Nodes whose old pod is deleted. */
  readonly remove: readonly string[]
}

/**
 * Selects the nodes that get a new pod beside the old one: all where the old one is not available, and as many others as maxSurge allows.
 * Old pods are deleted once the new one is available. Pods where none should run are deleted only as far as more pods are available than
 * nodes are desired. Ties are broken at random.
 *
 * @param maxSurge 0 when the percentage is of no desired node: then no such pod is deleted either
 * @param random numbers in [0, 1)
 */
export function planSurge({ rolling, serving, counts }: Ledger, maxSurge: number, random: () => number): SurgePlan {
  const remaining = Math.max(0, maxSurge - rolling.surging.size)
  const spare = maxSurge === 0 ? 0 : Math.max(0, serving - counts.desired)
  return {
    create: [...rolling.surgeNow.values(), ...rolling.surgeCandidate.pick(remaining, random)],
    remove: [...rolling.retire.values(), ...rolling.setAside.pick(spare, random)],
  }
}
