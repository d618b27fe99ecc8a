import { scaleIntOrPercent, type DaemonSet } from '@tranche/kube-types'

/** How a DaemonSet replaces its old pods. */
export type Strategy =
  | { readonly kind: 'onDelete' }
  /** Delete before create. @see planRollingUpdate */
  | { readonly kind: 'rolling'; readonly maxUnavailable: number }
  /** Create before delete. @see planSurge */
  | { readonly kind: 'surge'; readonly maxSurge: number }

/**
 * @param desired number of nodes that should run a pod; percentages refer to it and round up
 * @returns `maxUnavailable` 1 when both limits resolve to 0, because nothing could be updated otherwise
 */
export function strategyOf(daemonSet: DaemonSet, desired: number): Strategy {
  const { type = 'RollingUpdate', rollingUpdate = {} } = daemonSet.spec.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { kind: 'onDelete' }
  if (allowsSurge(daemonSet)) return { kind: 'surge', maxSurge: scaleIntOrPercent(rollingUpdate.maxSurge ?? 0, desired) ?? 0 }
  const maxUnavailable = scaleIntOrPercent(rollingUpdate.maxUnavailable ?? 1, desired) ?? 0
  return { kind: 'rolling', maxUnavailable: maxUnavailable === 0 && desired > 0 ? 1 : maxUnavailable }
}

/** @returns whether a node may have an old and a new pod at the same time */
export function allowsSurge(daemonSet: DaemonSet): boolean {
  const { type = 'RollingUpdate', rollingUpdate = {} } = daemonSet.spec.updateStrategy ?? {}
  return type === 'RollingUpdate' && (scaleIntOrPercent(rollingUpdate.maxSurge ?? 0, 1) ?? 0) > 0
}
