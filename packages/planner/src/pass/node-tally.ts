import { availableFromMs, type FleetPod, type FleetView, isAvailable, type NodeView } from '@tranche/fleet'

/** The desired nodes of a view, counted once for one revision. */
export interface NodeTally {
  readonly desired: number
  /** Desired nodes with no standing pod of another revision: they run, or will come back on, the revision. */
  readonly onRevision: ReadonlySet<string>
  /** Desired nodes without an available pod: U of G1. */
  readonly unavailable: ReadonlySet<string>
  /** Desired nodes with a standing pod of another revision. */
  readonly old: readonly NodeView[]
  /** The next moment (monotonic) at which a Ready pod becomes available by the clock alone; null when none will. */
  readonly nextAvailableMs: number | null
}

/** Counts the desired nodes of `fleet` for `revision`. One walk over the nodes. */
export function tallyNodes(fleet: FleetView, revision: string, minReadyMs: number, monotonicMs: number): NodeTally {
  const onRevision = new Set<string>()
  const unavailable = new Set<string>()
  const old: NodeView[] = []
  let nextAvailableMs: number | null = null
  for (const node of fleet.nodes) {
    if (!node.desired) continue
    if (node.pods.some((pod) => isOld(pod, revision))) old.push(node)
    else onRevision.add(node.name)
    if (node.pods.some((pod) => isAvailable(pod, minReadyMs, monotonicMs))) continue
    unavailable.add(node.name)
    nextAvailableMs = earlier(nextAvailableMs, nextAvailableOn(node, minReadyMs))
  }
  return { desired: fleet.desired, onRevision, unavailable, old, nextAvailableMs }
}

/** A standing pod that is not on the revision; one without a known revision is old. */
export function isOld(pod: FleetPod, revision: string): boolean {
  return !pod.terminating && pod.hash !== revision
}

function nextAvailableOn(node: NodeView, minReadyMs: number): number | null {
  return node.pods.reduce<number | null>((next, pod) => (pod.terminating ? next : earlier(next, availableFromMs(pod, minReadyMs))), null)
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
