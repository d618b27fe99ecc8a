import { type Condition, CORDON_ANNOTATION, DRAIN_CONDITION, DRAIN_REASON, type Labels, type Node } from '@tranche/kube-types'
import { BY_STAMPS, type FleetPod, type ObservationTime, observedFromMs } from './fleet-pod.ts'
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
  /**
   * Monotonic milliseconds, by the clock of this process, from which the Ready condition counts as False: the later of its own timestamp
   * and its first observation. Absent unless the condition is False.
   */
  readonly notReadyFromMs?: number
  /** Time since which the Ready condition has been Unknown, in RFC 3339 by the clock of the controller that set it; absent otherwise. */
  readonly silentSince?: string
  /**
   * Monotonic milliseconds, by the clock of this process, at which it saw the node become NotReady, or its condition change to this one.
   * Absent while the node is Ready, and where the process did not see it before, or goes by timestamps.
   */
  readonly unreadyFromMs?: number
  /** Type of the first condition that takes the node out of service for maintenance; absent without one. */
  readonly maintenance?: string
  /** Time since which that condition has been True, in RFC 3339; absent if it does not say. */
  readonly maintenanceSince?: string
  /** Annotation `tranche.dev/cordon`; absent without it. */
  readonly cordonMark?: string
  /** Whether an executor set the condition `DrainInProgress`; absent otherwise. */
  readonly drainCondition?: true
}

/** A node in the view of one DaemonSet. */
export interface NodeView {
  readonly name: string
  /** Whether the DaemonSet should run a pod here. A deleted node is not desired, though its pod may still be listed. */
  readonly desired: boolean
  /**
   * True for a node that is not desired only because of taints for its own failure: it is desired again when it is back. Absent for other
   * nodes, so for those that a user's taint or selector excludes, and for deleted ones.
   */
  readonly desiredOnReturn?: true
  /** True where no Node object of this name exists: a pod is left of a deleted node. Absent otherwise. */
  readonly isDeleted?: true
  /** Whether the Ready condition of the node is True. */
  readonly ready: boolean
  /** Whether the kubelet responds: the Ready condition is True or False, not Unknown. False for a deleted node. */
  readonly answers: boolean
  /** @see FleetNode.notReadySince */
  readonly notReadySince?: string
  /** @see FleetNode.notReadyFromMs */
  readonly notReadyFromMs?: number
  /** @see FleetNode.silentSince */
  readonly silentSince?: string
  /** @see FleetNode.unreadyFromMs */
  readonly unreadyFromMs?: number
  /** @see FleetNode.maintenance */
  readonly maintenance?: string
  /** @see FleetNode.maintenanceSince */
  readonly maintenanceSince?: string
  /** Labels of the node; empty for a deleted node. */
  readonly labels: Labels
  /** All pods of the DaemonSet here, including terminating ones; oldest first, then by name. Usually none or one. */
  readonly pods: readonly FleetPod[]
}

/** Nodes and pods of a DaemonSet as this process has observed them. Immutable: later observations make a new view. */
export interface FleetView {
  /** All nodes that are desired, now or on their return, or have a pod of the DaemonSet, sorted by name. */
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

/** @returns the node of this name; undefined when it is neither desired, now or on its return, nor has a pod. Takes log₂ N steps. */
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

/**
 * Conditions that take a node out of service while they are True, in the order in which they are reported.
 * @see KEP-5683, specialized lifecycle management
 */
const MAINTENANCE_CONDITIONS = [
  'MaintenanceInProgress',
  'GracefulNodeShutdownInProgress',
  'Drained',
  'DrainInProgress',
  'MaintenancePlanned',
] as const

/**
 * Reduces a node to the parts that Tranche uses.
 *
 * @param previous earlier result for the same node, which keeps the first observation of its Ready condition
 */
export function toFleetNode(node: Node, previous: FleetNode | undefined, observedAt: ObservationTime): FleetNode {
  const { uid } = node.metadata
  const conditions = node.status?.conditions ?? []
  const { status, lastTransitionTime } = conditions.find(({ type }) => type === 'Ready') ?? {}
  const isOwn = ({ type, reason }: Condition): boolean => type === DRAIN_CONDITION && reason === DRAIN_REASON
  // A node that a release drains, of this installation or another, is in service: its agent runs, and counts.
  const isTrue = (one: Condition, wanted: string): boolean => one.type === wanted && one.status === 'True' && !isOwn(one)
  const maintenance = MAINTENANCE_CONDITIONS.find((wanted) => conditions.some((one) => isTrue(one, wanted)))
  const maintenanceSince = conditions.find((one) => maintenance !== undefined && isTrue(one, maintenance))?.lastTransitionTime
  const answers = status === 'True' || status === 'False'
  const cordonMark = node.metadata.annotations?.[CORDON_ANNOTATION]
  const outage = {
    ...(status === 'False' && lastTransitionTime !== undefined && { notReadySince: lastTransitionTime }),
    ...(!answers && lastTransitionTime !== undefined && { silentSince: lastTransitionTime }),
  }
  const known = previous?.uid === uid ? previous : undefined
  return {
    name: node.metadata.name,
    uid,
    labels: node.metadata.labels ?? {},
    taints: node.spec?.taints ?? [],
    ready: status === 'True',
    answers,
    ...outage,
    ...(status === 'False' && { notReadyFromMs: notReadyFrom(uid, lastTransitionTime, previous, observedAt) }),
    ...(status !== 'True' && unreadyFrom(outage, known, observedAt)),
    ...(maintenance !== undefined && { maintenance }),
    ...(maintenanceSince !== undefined && { maintenanceSince }),
    ...(cordonMark !== undefined && { cordonMark }),
    ...(conditions.some(isOwn) && { drainCondition: true as const }),
  }
}

function unreadyFrom(
  { notReadySince, silentSince }: Pick<FleetNode, 'notReadySince' | 'silentSince'>,
  known: FleetNode | undefined,
  observedAt: ObservationTime,
): Pick<FleetNode, 'unreadyFromMs'> {
  if (known === undefined || observedAt === BY_STAMPS) return {}
  const isSame = !known.ready && known.notReadySince === notReadySince && known.silentSince === silentSince
  if (!isSame) return { unreadyFromMs: observedAt.monotonicMs }
  return known.unreadyFromMs === undefined ? {} : { unreadyFromMs: known.unreadyFromMs }
}

function notReadyFrom(uid: string, stamp: string | undefined, previous: FleetNode | undefined, observedAt: ObservationTime): number {
  const isSame = previous?.uid === uid && previous.notReadySince === stamp
  return isSame && previous.notReadyFromMs !== undefined ? previous.notReadyFromMs : observedFromMs(stamp, observedAt)
}
