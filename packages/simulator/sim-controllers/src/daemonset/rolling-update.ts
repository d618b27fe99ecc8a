import type { Ledger } from './node-ledger.ts'

/**
 * Decides on which nodes the old pod goes now: on all where it is not available, however many, and on as many others as
 * maxUnavailable still allows. Which of the others is left to chance.
 *
 * @param random numbers from 0 up to but not including 1
 */
export function planRollingUpdate({ rolling }: Ledger, maxUnavailable: number, random: () => number): readonly string[] {
  const remaining = Math.max(0, maxUnavailable - rolling.unavailable.size - rolling.replaceNow.size)
  return [...rolling.replaceNow.values(), ...rolling.candidate.pick(remaining, random)]
}

/** Names of nodes. */
export interface SurgePlan {
  /** A new pod joins the old one there. */
  readonly create: readonly string[]
  /** The old pod goes there. */
  readonly remove: readonly string[]
}

/**
 * Decides where a new pod joins the old one: wherever the old one is not available, however many, and on as many others
 * as maxSurge still allows. Old pods go once the new one is available. Pods set aside go only as far as more pods are
 * available than nodes are desired. What is left to choose is left to chance.
 *
 * @param maxSurge 0 when the percentage is of no desired node: then nothing is set aside either
 * @param random numbers from 0 up to but not including 1
 */
export function planSurge({ rolling, serving, counts }: Ledger, maxSurge: number, random: () => number): SurgePlan {
  const remaining = Math.max(0, maxSurge - rolling.surging.size)
  const spare = maxSurge === 0 ? 0 : Math.max(0, serving - counts.desired)
  return {
    create: [...rolling.surgeNow.values(), ...rolling.surgeCandidate.pick(remaining, random)],
    remove: [...rolling.retire.values(), ...rolling.setAside.pick(spare, random)],
  }
}
