import type { Labels, Node } from '@tranche/kube-types'
import type { FleetPod } from './fleet-pod.ts'
import { keptPerBlock } from './kept-per-block.ts'
import { toBlocks } from './node-blocks.ts'

/** The parts of a node that Tranche keeps in memory. */
export interface FleetNode {
  readonly name: string
  readonly uid: string
  readonly labels: Labels
  readonly taints: NonNullable<NonNullable<Node['spec']>['taints']>
  /** Whether its Ready condition is True. */
  readonly ready: boolean
  /** Whether its kubelet responds: the Ready condition is True or False, not Unknown or missing. */
  readonly answers: boolean
  /** Time since which the Ready condition has been False, in RFC 3339 by the clock of the kubelet; absent otherwise. */
  readonly notReadySince?: string
}

/** A node in the view of one DaemonSet. */
export interface NodeView {
  readonly name: string
  /** Whether the DaemonSet should run a pod here. A deleted node is not desired, though its pod may still be listed. */
  readonly desired: boolean
  /** Whether the Ready condition of the node is True. */
  readonly ready: boolean
  /** Whether the kubelet responds: the Ready condition is True or False, not Unknown. False for a deleted node. */
  readonly answers: boolean
  /** @see FleetNode.notReadySince */
  readonly notReadySince?: string
  /** Labels of the node; empty for a deleted node. */
  readonly labels: Labels
  /** All pods of the DaemonSet here, including terminating ones; oldest first, then by name. Usually none or one. */
  readonly pods: readonly FleetPod[]
}

/** Nodes and pods of a DaemonSet as this process has observed them. Immutable: later observations make a new view. */
export interface FleetView {
  /** All nodes that are desired or have a pod of the DaemonSet, sorted by name. */
  readonly nodes: readonly NodeView[]
  /** Number of desired nodes. */
  readonly desired: number
  /**
   * The same nodes in blocks, in order. A block without changes is the same array as in the view before, so that a count over all
   * nodes needs to recount only changed blocks. @see keptPerBlock
   */
  readonly blocks: readonly NodeBlock[]
}

/** Consecutive nodes of a view. */
export type NodeBlock = readonly NodeView[]

/** @param nodes sorted by name @returns the view of these nodes */
export function toFleetView(nodes: readonly NodeView[]): FleetView {
  return viewOfBlocks(toBlocks(nodes))
}

/** @param blocks none of them empty, with the nodes sorted by name */
export function viewOfBlocks(blocks: readonly NodeBlock[]): FleetView {
  const counted = { nodes: blocks.flat(), desired: 0, blocks }
  return { ...counted, desired: desiredPerBlock(counted, null).reduce((sum, desired) => sum + desired, 0) }
}

const desiredPerBlock = keptPerBlock<null, number>({
  count: (block) => block.filter(({ desired }) => desired).length,
  holds: () => true,
})

/** @returns the node of this name; undefined when it is neither desired nor has a pod. Takes log₂ N steps. */
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

/** Reduces a node to the parts that Tranche uses. */
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
