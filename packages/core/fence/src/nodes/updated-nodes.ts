import { type FleetPod, type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/** Counts of desired nodes that were updated to a revision. */
export interface UpdatedNodes {
  readonly updated: number
  /** Updated nodes whose pod is Ready. */
  readonly updatedReady: number
}

/** The pod that makes a node count as updated: a standing pod of the revision, without a standing pod of another. */
export function updatedPod({ pods }: NodeView, revision: string): FleetPod | undefined {
  const standing = pods.filter((pod) => !pod.terminating)
  return standing.every(({ hash }) => hash === revision) ? standing[0] : undefined
}

/** Counts the updated desired nodes. */
export function countUpdated(fleet: FleetView, revision: string): UpdatedNodes {
  const pods = updatedPerBlock(fleet, revision).flat()
  return { updated: pods.length, updatedReady: pods.filter(({ ready }) => ready).length }
}

/** @returns names of the updated desired nodes, in order */
export function updatedNodeNames({ nodes }: FleetView, revision: string): readonly string[] {
  return nodes.filter((node) => node.desired && updatedPod(node, revision) !== undefined).map(({ name }) => name)
}

const updatedPerBlock = keptPerBlock<string, readonly FleetPod[]>({
  count: (block, revision) => block.flatMap((node) => (node.desired ? (updatedPod(node, revision) ?? []) : [])),
  holds: (known, asked) => known === asked,
})
