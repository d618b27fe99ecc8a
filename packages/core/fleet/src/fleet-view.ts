import type { Labels, Node } from '@tranche/kube-types'
import type { FleetPod } from './fleet-pod.ts'
import { keptPerBlock } from './kept-per-block.ts'
import { toBlocks } from './node-blocks.ts'

/** What we keep of a node. */
export interface FleetNode {
  readonly name: string
  readonly uid: string
  readonly labels: Labels
  readonly taints: NonNullable<NonNullable<Node['spec']>['taints']>
  /** Its Ready condition is True. */
  readonly ready: boolean
  /** Its kubelet answers: its Ready condition is True or False. Unknown, or none: nobody there does anything. */
  readonly answers: boolean
  /** Since when its Ready condition has been False, RFC 3339 by the clock of its kubelet; absent while it is anything else. */
  readonly notReadySince?: string
}

/** One node, as one DaemonSet sees it. */
export interface NodeView {
  readonly name: string
  /** The DaemonSet should run a pod here. A node that is gone is not desired, though its pod may still be listed. */
  readonly desired: boolean
  /** The node's own Ready condition is True. */
  readonly ready: boolean
  /** The node's kubelet answers: its Ready condition is True or False, not Unknown. False where the node is gone. */
  readonly answers: boolean
  /** @see FleetNode.notReadySince */
  readonly notReadySince?: string
  /** Labels of the node; none where it is gone. */
  readonly labels: Labels
  /** Every pod of the DaemonSet here, terminating ones too; oldest first, then by name. Usually none or one. */
  readonly pods: readonly FleetPod[]
}

/** A DaemonSet's nodes and pods, as this process has seen them. Never changes: what is seen later is another view. */
export interface FleetView {
  /** Every node that is desired or has a pod of the DaemonSet, by name. */
  readonly nodes: readonly NodeView[]
  /** How many of them are desired. */
  readonly desired: number
  /**
   * The same nodes in pieces, in order. A piece in which nothing has changed is the same array as in the view before, so
   * that whoever counts over all nodes needs to count anew only where something has changed. @see keptPerBlock
   */
  readonly blocks: readonly NodeBlock[]
}

/** Some neighbouring nodes of a view. */
export type NodeBlock = readonly NodeView[]

/** @param nodes by name @returns the view of these nodes */
export function toFleetView(nodes: readonly NodeView[]): FleetView {
  return viewOfBlocks(toBlocks(nodes))
}

/** @param blocks none of them empty; the nodes by name */
export function viewOfBlocks(blocks: readonly NodeBlock[]): FleetView {
  const counted = { nodes: blocks.flat(), desired: 0, blocks }
  return { ...counted, desired: desiredPerBlock(counted, null).reduce((sum, desired) => sum + desired, 0) }
}

const desiredPerBlock = keptPerBlock<null, number>({
  count: (block) => block.filter(({ desired }) => desired).length,
  holds: () => true,
})

/** @returns the node of this name in the view; undefined when it is neither desired nor has a pod. Takes log₂ N steps. */
export function nodeInView(view: FleetView, name: string): NodeView | undefined {
  let low = 0
  let high = view.nodes.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const node = view.nodes[middle]!
    if (node.name === name) return node
    if (node.name < name) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

/** Reduces a node to what we read. */
export function toFleetNode(node: Node): FleetNode {
  const { status, lastTransitionTime } = node.status?.conditions?.find(({ type }) => type === 'Ready') ?? {}
  return {
    name: node.metadata.name,
    uid: node.metadata.uid,
    labels: node.metadata.labels ?? {},
    taints: node.spec?.taints ?? [],
    ready: status === 'True',
    answers: status === 'True' || status === 'False',
    ...(status === 'False' && lastTransitionTime !== undefined && { notReadySince: lastTransitionTime }),
  }
}
