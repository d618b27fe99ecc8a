import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import type { StrategyScope } from '../release/release-view.ts'

/** Everything one pass over one Rollout has read. */
export interface RolloutView {
  readonly rollout: Rollout
  /** The DaemonSet that spec.workloadRef names; undefined when it does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** The BatchRelease of the same name; undefined when it does not exist. */
  readonly release: BatchRelease | undefined
  /** The other Rollouts of the namespace. */
  readonly others: readonly Rollout[]
  readonly strategyScope: StrategyScope
  /** When this process last wrote the status of this Rollout, on the monotonic clock; null when it has not. */
  readonly statusWrittenMs: number | null
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}
