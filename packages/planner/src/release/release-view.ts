import type { BatchRelease } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { PeerActivity } from '../peer-activity.ts'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'

/**
 * How the update strategy is taken over.
 *
 * - `release`: admission makes it `OnDelete` when a release begins; it is given back when the release ends.
 * - `binding`: it is `OnDelete` from the moment the Rollout is bound until it is unbound.
 */
export type StrategyScope = 'release' | 'binding'

/** Everything one pass over one BatchRelease has read. */
export interface ReleaseView {
  readonly release: BatchRelease
  /** Undefined when it does not exist. */
  readonly daemonSet: DaemonSet | undefined
  /** ControllerRevisions that the DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Whether the BatchRelease that control-info names, where it is not this one, still exists. */
  readonly otherControl: 'none' | 'exists' | 'vanished'
  readonly strategyScope: StrategyScope
  /** Another controller of native DaemonSets that is active on the cluster; null where none is. */
  readonly peer: PeerActivity | null
  /** Pods (by uid) that this process has sent release labels for, whose watch has not shown them yet. */
  readonly labelled: ReadonlySet<string>
  /** What the last touch of a permit's pod was answered with, where it said neither way: node, pod and why; null otherwise. */
  readonly unclear: string | null
  /** The API server refused to let the DaemonSet say that it is paused; the record alone permits, so a stop goes on without. */
  readonly pauseRefused: boolean
  /** When this process last wrote the status of this BatchRelease, on the monotonic clock; null when it has not. */
  readonly statusWrittenMs: number | null
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}
