import type { ControllerRevision, DaemonSet, KubeObject, Node, Pod } from '@tranche/kube-types'
import type { BatchRelease } from './batch-release.ts'
import type { ReleasePolicy } from './release-policy.ts'
import type { Rollout } from './rollout.ts'

/** Input of a forecast: one release and its nodes at one moment. It has plain values only, so it can be sent to a worker thread. */
export interface ClusterSnapshot {
  /** Time of the snapshot, in epoch milliseconds. */
  readonly takenAtMs: number
  readonly rollout: Rollout
  /** BatchRelease of the current release; undefined if there is none. */
  readonly release: BatchRelease | undefined
  /** ReleasePolicy that the Rollout names; undefined if it names none, or if that policy does not exist. */
  readonly policy: ReleasePolicy | undefined
  /** Undefined if the DaemonSet does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet owns, in any order. */
  readonly revisions: readonly ControllerRevision[]
  readonly nodes: readonly Node[]
  /** All pods of the DaemonSet, including terminating ones, with all their fields. */
  readonly pods: readonly Pod[]
  /** Other objects that decide whether pods start: service accounts, priority classes, quotas, limit ranges. `apiVersion` and `kind` are set. */
  readonly others: readonly KubeObject[]
  /** Human-readable list of what could not be read, and why. */
  readonly unread: readonly string[]
}
