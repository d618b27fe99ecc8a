/** What a release looks like at one moment: everything the view shows, and nothing of the API's shape. */
export interface ReleaseSnapshot {
  /** `namespace/name` of the DaemonSet. */
  readonly daemonSet: string
  /** Name of the Rollout; null while there is none. */
  readonly rollout: string | null
  /** Epoch milliseconds by the cluster's clock. */
  readonly nowMs: number
  /** When the change that is being released was first seen; null before any. */
  readonly startedAtMs: number | null
  /** When it was seen to be complete; null while it runs. */
  readonly endedAtMs: number | null
  /** Version that most nodes come from, as the tag of its image; null when it is not known. */
  readonly fromVersion: string | null
  /** Version in the DaemonSet's template. */
  readonly toVersion: string
  /** `status.phase` of the Rollout; null while it has no status. */
  readonly phase: string | null
  readonly step: StepPosition | null
  /** The release is held by `spec.strategy.paused`, the batch in flight too. */
  readonly paused: boolean
  /** Cumulative size of each step, as written and in nodes. */
  readonly steps: readonly StepMark[]
  /** Every desired node, by zone, then by name. */
  readonly nodes: readonly NodeSnapshot[]
  /** Most nodes that may be down while we delete; null when it is not known. */
  readonly maxUnavailable: number | null
  readonly waiting: Waiting | null
  /** Newest first. */
  readonly events: readonly EventSnapshot[]
}

/** Where the Rollout stands among its steps. */
export interface StepPosition {
  /** From 1. */
  readonly index: number
  readonly count: number
  /** `StepUpgrade`, `StepPaused` … */
  readonly state: string
}

/** One step. */
export interface StepMark {
  /** As in the Rollout: `10%`, `3`. */
  readonly label: string
  /** Cumulative, 1 to the number of desired nodes. */
  readonly nodes: number
}

/**
 * What a node is to the release. `updated` and `old` are available on the canary revision, on another. `updating` has
 * no pod, a terminating one, or a new one that is not available yet. `down` has an old pod that is not available.
 * `failing` has a pod whose container does not run. `notReady` is a node whose own Ready condition is not True.
 */
export type NodeState = 'updated' | 'updating' | 'old' | 'down' | 'failing' | 'notReady'

/** One node. */
export interface NodeSnapshot {
  readonly name: string
  /** Empty where nodes have no zone. */
  readonly zone: string
  readonly state: NodeState
  /** Its pod, available or not, is on the canary revision. */
  readonly onCanary: boolean
  /** Waiting reason of a `failing` node. */
  readonly reason?: string
  /** Since when it has been failing, epoch milliseconds. */
  readonly sinceMs?: number
}

/** What the release waits for. */
export interface Waiting {
  readonly message: string
  /** The same without what moves while it waits: equal as long as the reason and the nodes are. */
  readonly subject: string
  /** Epoch milliseconds; null when it is not known. */
  readonly sinceMs: number | null
}

/** One event of the cluster. */
export interface EventSnapshot {
  readonly atMs: number
  readonly warning: boolean
  readonly reason: string
  /** `Kind/name`. */
  readonly object: string
  /** Of the object; empty where it has none. */
  readonly namespace: string
  readonly message: string
}

/** @returns how many nodes are in each state */
export function countStates(nodes: readonly NodeSnapshot[]): Readonly<Record<NodeState, number>> {
  const counts: Record<NodeState, number> = { updated: 0, updating: 0, old: 0, down: 0, failing: 0, notReady: 0 }
  for (const node of nodes) counts[node.state]++
  return counts
}
