import type { Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** Why the DaemonSet that a Rollout names is not its own. */
export interface BindingFault {
  /** The Rollout that it is bound to; undefined where it is bound to none. */
  readonly boundTo: string | undefined
  /** What `workloadRef` names, and where that is bound to. */
  readonly message: string
  readonly fix: string
}

/**
 * A right on a Rollout is no right on whatever its `workloadRef` names: only who may write the DaemonSet decides where it is bound.
 *
 * @returns null where the DaemonSet is bound to the Rollout
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
