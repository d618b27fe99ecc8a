import { type FleetNode, toFleetNode } from '@tranche/fleet'
import type { Node } from '@tranche/kube-types'

/**
 * Keeps the used part of a node, for a reflector's transform: heartbeats change nodes all the time, but not that part.
 *
 * @returns `previous` itself if that part is unchanged
 */
export function keptNode(node: Node, previous: FleetNode | undefined): FleetNode {
  const kept = toFleetNode(node)
  return previous !== undefined && JSON.stringify(previous) === JSON.stringify(kept) ? previous : kept
}
