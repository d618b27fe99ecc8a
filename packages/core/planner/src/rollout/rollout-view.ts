import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import type { KruiseActivity } from '../kruise-activity.ts'
import type { PolicyReading } from './release-policy.ts'
import type { StrategyScope } from '../release/release-view.ts'

/** A DaemonSet with its revisions and its nodes. */
export interface WorkloadReading {
  readonly daemonSet: DaemonSet
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
}

/** Everything one pass over one Rollout has read. */
export interface RolloutView {
  readonly rollout: Rollout
  /** The DaemonSet that spec.workloadRef names; undefined when it does not exist, or the workload is no DaemonSet. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Another DaemonSet of the namespace that is still bound to the Rollout; undefined without one. */
  readonly former: WorkloadReading | undefined
  /** The BatchRelease of the same name; undefined when it does not exist. */
  readonly release: BatchRelease | undefined
  /** The other Rollouts of the namespace. */
  readonly others: readonly Rollout[]
  /** The ReleasePolicy that the Rollout names. */
  readonly policy: PolicyReading
  readonly strategyScope: StrategyScope
  /** Another controller of native DaemonSets that is active on the cluster; null where none is. */
  readonly kruise: KruiseActivity | null
  /** Which of our fields the API server drops, and what to do; undefined where it keeps them all. */
  readonly schemaGap?: string | undefined
  /** When this process last wrote the status of this Rollout, on the monotonic clock; null when it has not. */
  readonly statusWrittenMs: number | null
  /** Since when this process sees `isRevisionMissing`, or when it last touched the DaemonSet for it, on the monotonic clock; null where it does not. */
  readonly revisionMissingSinceMs?: number | null
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}
