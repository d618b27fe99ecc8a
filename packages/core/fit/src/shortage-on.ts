import { isSchedulableNode } from '@tranche/fleet'
import { isHelperPod, isOwnedBy, type Node, type OwnerOfObjects, type Pod } from '@tranche/kube-types'
import { amountsOf, type DemandingSpec, demandOf } from './demand.ts'
import { hasEnded, toDemandingPod } from './demanding-pod.ts'
import { type NodeRoom, shortagesIn, takerIn } from './room.ts'
import { shortageText } from './shortage-text.ts'
import type { PendingPod } from './pending-pod.ts'

/** The pod that a release would put on a node. */
export interface PodToCome {
  /** Its DaemonSet, whose present pods leave the node, or stop waiting for it, before it comes (F15). */
  readonly owner: OwnerOfObjects
  readonly spec: DemandingSpec
  /** Pods of at least this priority are scheduled before it. */
  readonly priority: number
}

/** A node with everything that a scheduler would count there. */
export interface NodeWithPods {
  readonly node: Node
  /** Every pod that is bound to the node. */
  readonly pods: readonly Pod[]
  /** Pods of all namespaces that wait for a node. */
  readonly pending: readonly PendingPod[]
}

/**
 * @returns what the pod would lack on the node: `no room for the new pod: cpu: 500m requested, 200m of 4 free`; null if it fits, and no
 *   pending pod would take its room first. Volumes and rules between pods are not looked at.
 */
export function shortageOn({ node, pods, pending }: NodeWithPods, { owner, spec, priority }: PodToCome): string | null {
  const staying = pods.filter((pod) => !hasEnded(pod) && !isOwnedBy(pod, owner) && !goesFirst(pod, owner))
  const room: NodeRoom = { allocatable: allocatableOf(node), pods: staying.map(toDemandingPod) }
  const replaced = pods.filter((pod) => !hasEnded(pod) && isOwnedBy(pod, owner)).map((pod) => toDemandingPod(pod).priority)
  const ours = { demand: demandOf(spec), priority, ...(replaced.length > 0 && { replacedPriority: Math.max(...replaced) }) }
  const shortages = shortagesIn(room, ours.demand)
  const { namespace = '' } = owner.metadata
  if (shortages.length > 0) return `no room for the new pod: ${shortageText(shortages, namespace)}`
  const taker = takerIn(
    room,
    ours,
    pending.filter(({ placement, owned }) => !isOwnedBy(owned, owner) && isSchedulableNode(placement, node)),
  )
  if (taker === null) return null
  const { pod } = taker
  const whose = pod.namespace === namespace ? `the pending pod ${pod.name}` : 'a pending pod of another namespace'
  return `${whose}, of priority ${pod.priority}, would take the room of the new pod: ${shortageText(taker.shortages, namespace)}`
}

/** A helper pod in the namespace of the DaemonSet is deleted before the new pod comes. Those of other namespaces are not trusted. */
function goesFirst(pod: Pod, { metadata: { namespace } }: OwnerOfObjects): boolean {
  return isHelperPod(pod) && pod.metadata.namespace === namespace
}

function allocatableOf({ status }: Node): NodeRoom['allocatable'] {
  return amountsOf((status as { readonly allocatable?: Readonly<Record<string, string>> } | undefined)?.allocatable)
}
