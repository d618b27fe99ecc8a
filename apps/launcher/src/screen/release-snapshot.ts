import type { StepMark } from '@tranche/cli'

/** A release at one moment: the data of the view, independent of the API types. */
export interface ReleaseSnapshot {
  /** `namespace/name` of the DaemonSet. */
  readonly daemonSet: string
  /** Name of the Rollout; null while there is none. */
  readonly rollout: string | null
  /** Epoch milliseconds by the cluster's clock. */
  readonly nowMs: number
  /** Start of the release, epoch milliseconds; null before the first. */
  readonly startedAtMs: number | null
  /** End of the release, epoch milliseconds; null while it runs. */
  readonly endedAtMs: number | null
  /** Stable version, as the tag of its image; null if unknown. */
  readonly fromVersion: string | null
  /** Version in the DaemonSet's template. */
  readonly toVersion: string
  /** `status.phase` of the Rollout; null while it has no status. */
  readonly phase: string | null
  /** Whether the phase is about the DaemonSet's present template; false between a change of the template and the next status. */
  readonly isObserved: boolean
  readonly step: StepPosition | null
  /** Whether `spec.strategy.paused` pauses the release, in mid-batch too. */
  readonly paused: boolean
  /** Cumulative size of each step, as written and in nodes. */
  readonly steps: readonly StepMark[]
  /** Every desired node, by zone, then by name. */
  readonly nodes: readonly NodeSnapshot[]
  /** `maxUnavailable` in nodes; null if unknown. */
  readonly maxUnavailable: number | null
  readonly waiting: WaitingLine | null
  /** Newest first. */
  readonly events: readonly EventSnapshot[]
}

/** Current step of the Rollout. */
export interface StepPosition {
  /** From 1. */
  readonly index: number
  readonly count: number
  /** `StepUpgrade`, `StepPaused` … */
  readonly state: string
}

/**
 * State of a node in the release. `updated` is available on the canary revision, `old` on another. `updating` has
 * no pod, a terminating one, or a new one that is not available yet. `down` has an old pod that is not available.
 * `failing` has a pod whose container does not run. `notReady` is a node whose own Ready condition is not True.
 */
export type NodeState = 'updated' | 'updating' | 'old' | 'down' | 'failing' | 'notReady'

/** One node. */
export interface NodeSnapshot {
  readonly name: string
  /** Empty if the node has no zone. */
  readonly zone: string
  readonly state: NodeState
  /** Its pod, available or not, is on the canary revision. */
  readonly onCanary: boolean
  /** Waiting reason of a `failing` node. */
  readonly reason?: string
  /** Start of the failure, epoch milliseconds. */
  readonly sinceMs?: number
}

/** What the release waits for. */
export interface WaitingLine {
  readonly message: string
  /** Identity of the wait: unchanged while its reason and nodes are the same. */
  readonly subject: string
  /** Epoch milliseconds; null if unknown. */
  readonly sinceMs: number | null
}

/** One event of the cluster. */
export interface EventSnapshot {
  readonly atMs: number
  readonly warning: boolean
  readonly reason: string
  /** `Kind/name`. */
  readonly object: string
  /** Namespace of the object; empty if it has none. */
  readonly namespace: string
  readonly message: string
}

/** @returns how many nodes are in each state */
export function countStates(nodes: readonly NodeSnapshot[]): Readonly<Record<NodeState, number>> {
  const counts: Record<NodeState, number> = { updated: 0, updating: 0, old: 0, down: 0, failing: 0, notReady: 0 }
  for (const node of nodes) counts[node.state]++
  return counts
}
