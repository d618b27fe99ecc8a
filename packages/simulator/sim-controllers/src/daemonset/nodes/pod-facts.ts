import type { DaemonSet, Node, Pod } from '@tranche/kube-types'

/** @returns whether the pod is terminating */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

/** @returns whether the Ready condition of a pod or node is True; the phase does not matter */
export function isReady(object: Pod | Node): boolean {
  return readyCondition(object)?.status === 'True'
}

/**
 * Time at which a ready pod becomes available.
 *
 * @param minReadyMs `spec.minReadySeconds` in milliseconds (≥ 0)
 * @returns epoch milliseconds, -Infinity when ready suffices; undefined while the pod is not ready
 */
export function availableAtMs(pod: Pod, minReadyMs: number): number | undefined {
  const condition = readyCondition(pod)
  if (condition?.status !== 'True') return undefined
  if (minReadyMs === 0) return -Infinity
  const sinceMs = Date.parse(condition.lastTransitionTime ?? '')
  return Number.isNaN(sinceMs) ? undefined : sinceMs + minReadyMs
}

/** @returns whether the pod has been ready for `minReadyMs` */
export function isAvailable(pod: Pod, minReadyMs: number, nowMs: number): boolean {
  const atMs = availableAtMs(pod, minReadyMs)
  return atMs !== undefined && atMs <= nowMs
}

/** @returns `spec.minReadySeconds` in milliseconds */
export function minReadyMsOf(daemonSet: DaemonSet): number {
  return (daemonSet.spec.minReadySeconds ?? 0) * 1000
}

/** Order in which a DaemonSet keeps its pods: bound before unbound, then older, then by name. */
export function byPrecedence(a: Pod, b: Pod): number {
  return (
    Number(!a.spec?.nodeName) - Number(!b.spec?.nodeName) ||
    compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareText(a.metadata.name, b.metadata.name)
  )
}

function readyCondition({ status }: Pod | Node): { readonly status: string; readonly lastTransitionTime?: string } | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
