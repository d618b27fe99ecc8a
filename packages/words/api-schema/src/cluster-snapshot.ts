import type { ControllerRevision, DaemonSet, KubeObject, Node, Pod } from '@tranche/kube-types'
import type { BatchRelease } from './batch-release.ts'
import type { ReleasePolicy } from './release-policy.ts'
import type { Rollout } from './rollout.ts'

/** What a forecast is fed with: one release and its nodes, as a cluster had them at one moment. Plain values: it can be sent to a thread. */
export interface ClusterSnapshot {
  /** When it was read, epoch milliseconds. */
  readonly takenAtMs: number
  readonly rollout: Rollout
  /** The BatchRelease of the release under way; undefined while there is none. */
  readonly release: BatchRelease | undefined
  /** The ReleasePolicy that the Rollout names; undefined where it names none, or none that exists. */
  readonly policy: ReleasePolicy | undefined
  /** Undefined where it does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** Those that the DaemonSet owns, in any order. */
  readonly revisions: readonly ControllerRevision[]
  readonly nodes: readonly Node[]
  /** Those of the DaemonSet, whole: terminating ones too. */
  readonly pods: readonly Pod[]
  /** What else decides whether pods come up: service accounts, priority classes, quotas, limit ranges. `apiVersion` and `kind` are there. */
  readonly others: readonly KubeObject[]
  /** What could not be read, and why, for a person. */
  readonly unread: readonly string[]
}
