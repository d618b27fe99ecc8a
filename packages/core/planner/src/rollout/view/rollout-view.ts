import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { ConfigHold, ConfigObject } from '@tranche/config'
import type { FleetView } from '@tranche/fleet'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import type { KruiseActivity } from '../../release/view/kruise-activity.ts'
import type { RejectedChange } from './rejected-change.ts'
import type { PolicyReading } from './release-policy.ts'
import type { StrategyScope } from '../../release/view/release-view.ts'

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
  /** DaemonSet named by spec.workloadRef; undefined when it does not exist, or the workload is of another kind. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Another DaemonSet of the namespace that is still bound to the Rollout; undefined without one. */
  readonly former: WorkloadReading | undefined
  /** BatchRelease with the Rollout's name; undefined when it does not exist. */
  readonly release: BatchRelease | undefined
  /** Rollouts that name the same workload: at least the one that holds it. */
  readonly others: readonly Rollout[]
  /** ReleasePolicy that the Rollout names. */
  readonly policy: PolicyReading
  /** Names of the ConfigMaps of the template that are immutable. @default none: the installation reads no ConfigMap */
  readonly immutableConfigMaps?: ReadonlySet<string>
  /** Why config cannot be pinned as the policy asks. @default it is pinned, or the policy does not ask */
  readonly configHold?: ConfigHold | undefined
  /** Config of which pods read an earlier content than the present one, because of a rollback. @default none */
  readonly rolledBackConfig?: readonly ConfigObject[]
  /** Config that the policy pins once it exists. @default none */
  readonly absentConfig?: readonly ConfigObject[]
  /** Whether Secrets are pinned too, where the policy pins config. @default that is not known, and nothing is said about it */
  readonly pinsSecrets?: boolean
  readonly strategyScope: StrategyScope
  /** OpenKruise's controller for native DaemonSets, active on the cluster; null where it is not. */
  readonly kruise: KruiseActivity | null
  /** Fields that the API server drops, and the fix; undefined where it keeps them all. */
  readonly schemaGap?: string | undefined
  /** When this process last wrote the status of this Rollout, on the monotonic clock; null before the first write. */
  readonly statusWrittenMs: number | null
  /** Since when (monotonic) this process sees `isRevisionMissing`, or last touched the DaemonSet for it; null where it does not. */
  readonly revisionMissingSinceMs?: number | null
  /** Whether a live read has shown that the API server has no newer spec of the Rollout. @default it was not read live */
  readonly isNewest?: boolean | undefined
  /** Last rejected change, of which this process knows. @default none */
  readonly rejected?: RejectedChange | undefined
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}
