import { scaleIntOrPercent, type DaemonSet } from '@tranche/kube-types'
import type { Ledger } from './node-ledger.ts'

/** How a DaemonSet replaces its old pods. */
export type Strategy =
  | { readonly kind: 'onDelete' }
  /** @see planRollingUpdate */
  | { readonly kind: 'rolling'; readonly maxUnavailable: number }
  /** Create before delete. Nothing here carries it out yet: old pods stay. */
  | { readonly kind: 'surge' }

/**
 * @param desired nodes that should run a pod; percentages are of this number and round up
 * @returns `maxUnavailable` 1 where both limits come out as 0, since nothing could ever happen otherwise
 */
export function strategyOf(daemonSet: DaemonSet, desired: number): Strategy {
  const { type = 'RollingUpdate', rollingUpdate = {} } = daemonSet.spec.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { kind: 'onDelete' }
  if ((scaleIntOrPercent(rollingUpdate.maxSurge ?? 0, 1) ?? 0) > 0) return { kind: 'surge' }
  const maxUnavailable = scaleIntOrPercent(rollingUpdate.maxUnavailable ?? 1, desired) ?? 0
  return { kind: 'rolling', maxUnavailable: maxUnavailable === 0 && desired > 0 ? 1 : maxUnavailable }
}

/**
 * Decides on which nodes the old pod goes now: on all where it is not available, however many, and on as many others as
 * maxUnavailable still allows. Which of the others is left to chance.
 *
 * @param random numbers from 0 up to but not including 1
 */
export function planRollingUpdate(ledger: Ledger, maxUnavailable: number, random: () => number): readonly string[] {
  const room = Math.max(0, maxUnavailable - ledger.unavailable)
  return [...ledger.replaceNow, ...ledger.candidates.pick(room, random)]
}
