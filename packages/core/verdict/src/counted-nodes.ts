import { type FleetView, isCreatedSince, keptPerBlock, type NodeView } from '@tranche/fleet'

/**
 * Whether a node runs the revision and is not desired at present, only because it does not work. It was lost after its update, and counts
 * like a desired node. A pod from before the release, as after an undo to a former version, is no update.
 *
 * @param begunAt when the release began; undefined where it is unknown, or the times are not compared
 */
export function isLostAfterUpdate({ desired, desiredOnReturn, pods }: NodeView, revision: string, begunAt?: string): boolean {
  if (desired || desiredOnReturn !== true) return false
  return pods.some((pod) => !pod.terminating && pod.hash === revision && isCreatedSince(pod, begunAt))
}

/** Which release the nodes are counted for. */
export interface CountedRelease {
  readonly revision: string
  /** When the release began, in RFC 3339 by the clock of the API server; undefined where it is unknown. */
  readonly begunAt?: string | undefined
}

/** @returns number of nodes that limits in percent refer to: the desired nodes, and those lost after their update. Incremental. */
export function countedNodes(fleet: FleetView, { revision, begunAt }: CountedRelease): number {
  return countedPerBlock(fleet, { revision, begunAt }).reduce((sum, counted) => sum + counted, 0)
}

const countedPerBlock = keptPerBlock<CountedRelease, number>({
  count: (block, { revision, begunAt }) => block.filter((node) => node.desired || isLostAfterUpdate(node, revision, begunAt)).length,
  holds: (known, asked) => known.revision === asked.revision && known.begunAt === asked.begunAt,
})
