import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/** A standing pod that is not on the revision; one without a known revision is old. */
export function isOld(pod: FleetPod, revision: string): boolean {
  return !pod.terminating && pod.hash !== revision
}

/** Whether a node runs an old pod, whatever else runs there. */
export function hasOldPod({ pods }: NodeView, revision: string): boolean {
  return pods.some((pod) => isOld(pod, revision))
}

/** @returns the desired nodes that run an old pod, by name */
export function oldNodes(fleet: FleetView, revision: string): readonly NodeView[] {
  return oldPerBlock(fleet, revision).flat()
}

const oldPerBlock = keptPerBlock<string, readonly NodeView[]>({
  count: (block, revision) => block.filter((node) => node.desired && hasOldPod(node, revision)),
  holds: (known, asked) => known === asked,
})
