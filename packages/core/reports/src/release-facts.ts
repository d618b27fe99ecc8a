import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'

/** Facts about one Rollout at one time; each part comes from its own watch or read. */
export interface ReleaseFacts {
  readonly rollout: Rollout
  /** The BatchRelease of the running release; undefined without one. */
  readonly release: BatchRelease | undefined
  /** Undefined when it does not exist or must not be shown. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions of the DaemonSet, in any order. */
  readonly revisions: readonly ControllerRevision[]
  /** Undefined without a DaemonSet. */
  readonly fleet: FleetView | undefined
  /** Why the DaemonSet must not be shown; absent when it is shown or does not exist. */
  readonly notBound?: string
  /** Epoch milliseconds by the clock of this process. */
  readonly nowMs: number
  /**
   * Now, on the clock that stamped the pods of the fleet. A caller that reads the pods once stamps them with an observation of 0 and 0,
   * and passes `nowMs` here. The timestamps of the API server then decide whether a pod is available.
   */
  readonly monotonicMs: number
}
