import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/** How many desired nodes were updated to a revision. */
export interface UpdatedNodes {
  readonly updated: number
  /** Of those, the ones whose pod is Ready. */
  readonly updatedReady: number
}

/** The pod by which a node counts as updated: one that stands and is of the revision, where none of another stands. */
export function updatedPod({ pods }: NodeView, revision: string): FleetPod | undefined {
  const standing = pods.filter((pod) => !pod.terminating)
  return standing.every(({ hash }) => hash === revision) ? standing[0] : undefined
}

/** Counts the desired nodes that were updated. */
export function countUpdated(fleet: FleetView, revision: string): UpdatedNodes {
  const pods = updatedPerBlock(fleet, revision).flat()
  return { updated: pods.length, updatedReady: pods.filter(({ ready }) => ready).length }
}

/** @returns names of the desired nodes that were updated, in order */
export function updatedNodeNames({ nodes }: FleetView, revision: string): readonly string[] {
  return nodes.filter((node) => node.desired && updatedPod(node, revision) !== undefined).map(({ name }) => name)
}

const updatedPerBlock = keptPerBlock<string, readonly FleetPod[]>({
  count: (block, revision) => block.flatMap((node) => (node.desired ? (updatedPod(node, revision) ?? []) : [])),
  holds: (known, asked) => known === asked,
})
