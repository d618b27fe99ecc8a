import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/** Whether a standing pod is not on the revision; a pod of unknown revision is old. */
export function isOld(pod: FleetPod, revision: string): boolean {
  return !pod.terminating && pod.hash !== revision
}

/** Whether a node runs an old pod, whatever else runs there. */
export function hasOldPod({ pods }: NodeView, revision: string): boolean {
  return pods.some((pod) => isOld(pod, revision))
}

/** The revisions that a release goes from and to. */
export interface Revisions {
  readonly canary: string
  /** Undefined where it is unknown: then no pod counts as superseded. */
  readonly stable: string | undefined
  /** Revisions of nodes that completed releases left behind, such as dead ones. */
  readonly left: readonly string[]
}

/**
 * Whether a pod is of a superseded revision: one that a replaced or rolled-back release brought, and that no completed release has left
 * behind since.
 */
export function isSuperseded({ hash }: FleetPod, { canary, stable, left }: Revisions): boolean {
  return stable !== undefined && hash !== stable && hash !== canary && (hash === undefined || !left.includes(hash))
}

/**
 * Whether old pods on the node can be replaced now. The node is not in maintenance. It is Ready, or its kubelet answers and one of the
 * pods is of a superseded revision. That revision may be what makes the node NotReady, and only another one would fix it. A NotReady node
 * with the stable revision, or with one that a completed release left behind, is skipped: a new pod would not help it.
 */
export function isInReach(node: NodeView, revisions: Revisions): boolean {
  return node.maintenance === undefined && (node.ready || (node.answers && hasSupersededPod(node, revisions)))
}

/** Whether a standing pod on the node is of a superseded revision. */
export function hasSupersededPod({ pods }: NodeView, revisions: Revisions): boolean {
  return pods.some((pod) => !pod.terminating && isSuperseded(pod, revisions))
}

/** @returns the desired nodes that run an old pod, by name */
export function oldNodes(fleet: FleetView, revision: string): readonly NodeView[] {
  return oldPerBlock(fleet, revision).flat()
}

const oldPerBlock = keptPerBlock<string, readonly NodeView[]>({
  count: (block, revision) => block.filter((node) => node.desired && hasOldPod(node, revision)),
  holds: (known, asked) => known === asked,
})
