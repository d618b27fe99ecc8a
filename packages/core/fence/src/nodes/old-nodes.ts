import { type FleetPod, type FleetView, isCreatedSince, keptPerBlock, type NodeView } from '@tranche/fleet'

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
  /** Revisions that were stable once, or ran before the first release. */
  readonly former: readonly string[]
  /** When the release began; undefined where it is unknown. See `begunAt`. */
  readonly begunAt?: string | undefined
}

/**
 * Whether a node has a pod that came up on the released revision during the release. Where the times cannot be compared, it has: the node
 * then takes its place in the batch.
 */
export function wasMoved({ pods }: NodeView, { canary, begunAt }: Revisions): boolean {
  return pods.some((pod) => pod.hash === canary && isCreatedSince(pod, begunAt))
}

/**
 * Whether a pod is of a superseded revision: one that a release brought to some nodes before it was replaced or rolled back. It was never
 * stable.
 */
export function isSuperseded(pod: FleetPod, revisions: Revisions): boolean {
  return pod.hash !== revisions.canary && !isProven(pod, revisions)
}

/** Whether a pod is of a revision that was stable. The one that is released may be: in a rollback, or where an older one comes back. */
export function isProven({ hash }: FleetPod, { canary, stable, former }: Revisions): boolean {
  if (stable === undefined) return hash !== canary
  return hash !== undefined && (hash === stable || former.includes(hash))
}

/**
 * Whether old pods on the node can be replaced now. The node is not in maintenance. It is Ready, or its kubelet answers and one of the
 * pods is of a superseded revision. That revision may be what makes the node NotReady, and only another one would fix it. A NotReady node
 * with the stable revision or a former one is skipped: a new pod would not help it.
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
