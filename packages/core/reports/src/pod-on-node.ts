import { type FleetPod, nodeInView } from '@tranche/fleet'
import { shownPod } from './node-state.ts'
import { outlineOf } from './outline.ts'
import type { ReleaseFacts } from './release-facts.ts'

/**
 * Finds the pod that represents a node in reports, as in its `pod`.
 *
 * @returns null when the node has no pod; undefined when the DaemonSet neither should run on a node of this name nor has a pod there
 */
export function podOnNode(facts: ReleaseFacts, name: string): FleetPod | null | undefined {
  const outline = outlineOf(facts)
  const node = nodeInView(outline.fleet, name)
  return node && (shownPod(node, outline.canary) ?? null)
}
