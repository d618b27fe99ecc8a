import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'

/** What is known of one Rollout at one moment; each part as its own watch or read shows it. */
export interface ReleaseFacts {
  readonly rollout: Rollout
  /** The BatchRelease of the release under way; undefined while there is none. */
  readonly release: BatchRelease | undefined
  /** Undefined where it does not exist, or is not to be shown. */
  readonly daemonSet: DaemonSet | undefined
  /** Those that the DaemonSet owns, in any order. */
  readonly revisions: readonly ControllerRevision[]
  /** Undefined without a DaemonSet. */
  readonly fleet: FleetView | undefined
  /** Why the DaemonSet is not to be shown; absent where it is shown, or does not exist. */
  readonly notBound?: string
  /** Epoch milliseconds by our clock. */
  readonly nowMs: number
  /**
   * Now, on the clock that stamped the pods of the fleet. Who reads afresh stamps them with a sight of 0 and 0, and gives `nowMs` here:
   * then a pod counts as available by the stamps of the API server.
   */
  readonly monotonicMs: number
}
