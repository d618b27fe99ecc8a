import { type FleetNode, toFleetNode } from '@tranche/fleet'
import type { Node } from '@tranche/kube-types'

/**
 * What is kept of a node, for a reflector's transform: heartbeats change nodes all the time, and nothing that we read of them.
 *
 * @returns `previous` itself while nothing of that has changed
 */
export function keptNode(node: Node, previous: FleetNode | undefined): FleetNode {
  const kept = toFleetNode(node)
  return previous !== undefined && JSON.stringify(previous) === JSON.stringify(kept) ? previous : kept
}
