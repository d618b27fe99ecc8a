import type { RecordedDaemonSet } from '../recorded-write.ts'

/**
 * How many nodes a DaemonSet lets be down, of so many wanted ones. A percentage rounds up; without a number it is one, and so it is where
 * that comes to none, as for Kubernetes' own controller, for nodes may be wanted again. A surge allows none: it cannot be had where pods are
 * deleted by others than the controller.
 */
export function resolveLimit(strategy: RecordedDaemonSet['strategy'], wanted: number): number {
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {}
  if (maxSurge !== undefined && inNodes(maxSurge, wanted) > 0) return 0
  return maxUnavailable === undefined ? 1 : Math.max(1, inNodes(maxUnavailable, wanted))
}

/** @returns a whole number as it is, a percentage of the wanted nodes rounded up; 0 for anything else */
export function inNodes(size: number | string, wanted: number): number {
  if (typeof size === 'number') return size
  const percent = /^(\d+)%$/.exec(size)?.[1]
  return percent === undefined ? 0 : Math.ceil((Number(percent) * wanted) / 100)
}
