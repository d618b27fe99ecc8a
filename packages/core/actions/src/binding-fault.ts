import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** Why the DaemonSet that a Rollout names is not bound to it. */
export interface BindingFault {
  /** Rollout that the DaemonSet is bound to; undefined without one. */
  readonly boundTo: string | undefined
  /** The workload in `workloadRef` and its binding, as text. */
  readonly message: string
  readonly fix: string
}

/**
 * Checks the binding. Rights on a Rollout give no rights on the workload that it names: only users who may write the DaemonSet
 * decide its binding.
 *
 * @returns null when the DaemonSet is bound to the Rollout
 */
export function bindingFault({ metadata }: Rollout, daemonSet: DaemonSet): BindingFault | null {
  const boundTo = daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout]
  if (boundTo === metadata.name) return null
  const bound = boundTo === undefined ? 'is bound to no Rollout' : `is bound to the Rollout ${boundTo}`
  return {
    boundTo,
    message: `spec.workloadRef.name is "${daemonSet.metadata.name}", and that DaemonSet ${bound}, not to ${metadata.name}`,
    fix: boundTo === undefined ? 'wait until it is bound, or use the DaemonSet itself' : `use the Rollout ${boundTo}`,
  }
}
