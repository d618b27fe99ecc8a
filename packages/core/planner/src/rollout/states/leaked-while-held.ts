import { type Leaked, LISTED_NODES_MAX } from '@tranche/api-schema'
import { updatedPod } from '@tranche/fence'
import { parseTime } from '@tranche/kube-types'
import type { RolloutState } from '../view/rollout-state.ts'
import { heldTemplate } from '../held/held-revisions.ts'
import { isRevertAgain } from '../held/reapply.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Creation times are whole seconds, rounded down; milliseconds. */
const ROUNDED_MS = 999

/**
 * Nodes that came up on a revision since it is held. Tranche deleted nothing for it, so the client that applied it again and
 * deleted the pods caused them. Null where the template was not applied again.
 */
export function leakedWhileHeld({ daemonSet, fleet }: RolloutView, { heldRevisions, canary }: RolloutState): Leaked | null {
  const held = daemonSet === undefined ? undefined : heldTemplate(heldRevisions, daemonSet)
  if (held === undefined || (held.reverted === false && !isRevertAgain(held))) return null
  const heldMs = parseTime(held.at)
  if (heldMs === null) return null
  const nodes = fleet.nodes
    .filter((node) => node.desired && (parseTime(updatedPod(node, canary.canaryRevision)?.createdAt) ?? 0) >= heldMs - ROUNDED_MS)
    .map(({ name }) => name)
  return nodes.length === 0 ? null : { count: nodes.length, nodes: nodes.slice(0, LISTED_NODES_MAX) }
}
