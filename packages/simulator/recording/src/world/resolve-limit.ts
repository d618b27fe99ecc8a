import type { RecordedDaemonSet } from '../record/recorded-write.ts'

/**
 * Number of nodes that a DaemonSet allows to be down, out of the wanted ones. A percentage rounds up. The default is 1. A percentage that
 * comes to 0 counts as 1, as in Kubernetes' own controller, because more nodes may become wanted. A surge allows 0: it is impossible when
 * a program other than the controller deletes pods.
 */
export function resolveLimit(strategy: RecordedDaemonSet['strategy'], wanted: number): number {
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {}
  if (maxSurge !== undefined && inNodes(maxSurge, wanted) > 0) return 0
  return maxUnavailable === undefined ? 1 : Math.max(1, inNodes(maxUnavailable, wanted))
}

/** Number of nodes that the `maxUnavailable` of a policy allows to be down. As with a DaemonSet, a percentage comes to at least 1. */
export function resolvePolicyLimit(maxUnavailable: number | string, wanted: number): number {
  return typeof maxUnavailable === 'number' ? maxUnavailable : Math.max(1, inNodes(maxUnavailable, wanted))
}

/** @returns a whole number unchanged, a percentage of the wanted nodes rounded up; 0 for anything else */
export function inNodes(size: number | string, wanted: number): number {
  if (typeof size === 'number') return size
  const percent = /^(\d+)%$/.exec(size)?.[1]
  return percent === undefined ? 0 : Math.ceil((Number(percent) * wanted) / 100)
}
