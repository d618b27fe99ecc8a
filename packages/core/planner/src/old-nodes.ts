import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/** A standing pod that is not on the revision; one without a known revision is old. */
export function isOld(pod: FleetPod, revision: string): boolean {
  return !pod.terminating && pod.hash !== revision
}

/** Whether a node runs an old pod, whatever else runs there. */
export function hasOldPod({ pods }: NodeView, revision: string): boolean {
  return pods.some((pod) => isOld(pod, revision))
}

/** Between which revisions a release goes. */
export interface Revisions {
  readonly canary: string
  /** Undefined where it is not known: then no pod counts as superseded. */
  readonly stable: string | undefined
}

/** A pod of neither the revision that is released nor the stable one: a release that was replaced or taken back left it. */
export function isSuperseded({ hash }: FleetPod, { canary, stable }: Revisions): boolean {
  return stable !== undefined && hash !== stable && hash !== canary
}

/**
 * Whether old pods on the node can be replaced now: it is Ready, or its kubelet answers and one of them is of a superseded
 * revision. That may be what makes the node NotReady, and nothing but another revision would mend it. A NotReady node
 * that runs the stable revision is passed over: what it lacks is not ours to give.
 */
export function isInReach({ ready, answers, pods }: NodeView, revisions: Revisions): boolean {
  return ready || (answers && pods.some((pod) => !pod.terminating && isSuperseded(pod, revisions)))
}

/** @returns the desired nodes that run an old pod, by name */
export function oldNodes(fleet: FleetView, revision: string): readonly NodeView[] {
  return oldPerBlock(fleet, revision).flat()
}

const oldPerBlock = keptPerBlock<string, readonly NodeView[]>({
  count: (block, revision) => block.filter((node) => node.desired && hasOldPod(node, revision)),
  holds: (known, asked) => known === asked,
})
