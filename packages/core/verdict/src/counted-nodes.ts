import { type FleetView, keptPerBlock, type NodeView } from '@tranche/fleet'

/**
 * Whether a node runs the revision and is not desired at present, only because it does not work. It was lost after its update, and counts
 * like a desired node.
 */
export function isLostAfterUpdate({ desired, desiredOnReturn, pods }: NodeView, revision: string): boolean {
  return !desired && desiredOnReturn === true && pods.some(({ hash, terminating }) => !terminating && hash === revision)
}

/** @returns number of nodes that limits in percent refer to: the desired nodes, and those lost after their update. Incremental. */
export function countedNodes(fleet: FleetView, revision: string): number {
  return countedPerBlock(fleet, revision).reduce((sum, counted) => sum + counted, 0)
}

const countedPerBlock = keptPerBlock<string, number>({
  count: (block, revision) => block.filter((node) => node.desired || isLostAfterUpdate(node, revision)).length,
  holds: (known, asked) => known === asked,
})
