import { nodeInView, type NodeView } from '@tranche/fleet'
import { isKeptFromPermit } from '../nodes/node-check.ts'
import { isBroken } from './node-tally.ts'
import { type FenceState, isGone, isOldNode, isTakeable, knownChecks, mayGetPermit } from './fence-state.ts'

/**
 * Nodes in flight that use up the limit and run a broken old pod, on which a pod may be deleted again (F4; see L19). All of them
 * while they are within the limit, else the node of the last permit whose pod is gone. Null where no node in flight runs such a
 * pod.
 */
export function nodesDueAgain(fence: FenceState): readonly NodeView[] | null {
  return brokenInFlight(fence, ({ name }) => !isKeptFromPermit(knownChecks(fence), name))
}

/** Those of {@link nodesDueAgain}, and others like them that a check keeps from a permit for now. @param mayGo which of them count */
export function brokenInFlight(fence: FenceState, mayGo: (node: NodeView) => boolean = () => true): readonly NodeView[] | null {
  const gone = fence.permits.filter(isGone).map(({ permit }) => permit.node)
  const nodes = new Set(gone)
  if (nodes.size < fence.record.limit) return null
  const broken = [...nodes].flatMap((name) => brokenOldNode(fence, name) ?? []).filter(mayGo)
  if (broken.length === 0) return null
  return nodes.size === fence.record.limit ? broken : broken.filter(({ name }) => name === gone.at(-1))
}

/**
 * Those of {@link nodesDueAgain} that are prepared as far as the policy asks for it. Null while none is: the permits of other nodes stay
 * meanwhile.
 */
export function nodesToTakeAgain(fence: FenceState, due: readonly NodeView[] | null): readonly NodeView[] | null {
  if (due === null || due.length === 0) return due
  const prepared = due.filter(({ name }) => mayGetPermit(fence, name))
  return prepared.length > 0 ? prepared : null
}

function brokenOldNode(fence: FenceState, name: string): NodeView | undefined {
  const node = nodeInView(fence.view.fleet, name)
  const isOld = isTakeable(fence, name) && isOldNode(fence.view, fence.record, name)
  return node !== undefined && isOld && isBroken(node) ? node : undefined
}
