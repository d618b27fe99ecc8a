import type { Node, Pod } from '@tranche/kube-types'
import { amountsOf, demandOf, type Amounts, type HostPort } from './pod-demand.ts'

/** Remaining capacity of one node. */
export interface NodeCapacity {
  readonly node: Node
  /** Counted pods by uid: bound to the node, and not ended. */
  readonly pods: ReadonlyMap<string, Pod>
  readonly used: Amounts
}

const allocatables = new WeakMap<object, Amounts>()

/** @returns allocatable amounts of the node; versions of a node share an unchanged status */
export function allocatableOf(node: Node): Amounts {
  const status = (node.status ?? {}) as { readonly allocatable?: Readonly<Record<string, string>> }
  const { allocatable } = status
  if (allocatable === undefined) return new Map()
  let amounts = allocatables.get(allocatable)
  if (amounts === undefined) allocatables.set(allocatable, (amounts = amountsOf(allocatable)))
  return amounts
}

/** @returns capacity of a node with these pods */
export function capacityOf(node: Node, pods: Iterable<Pod>): NodeCapacity {
  const byUid = new Map<string, Pod>()
  const used = new Map<string, number>()
  for (const pod of pods) {
    byUid.set(pod.metadata.uid, pod)
    for (const [name, amount] of demandOf(pod).requests) used.set(name, (used.get(name) ?? 0) + amount)
  }
  return { node, pods: byUid, used }
}

/** Resource of which a node has too little. */
export interface Shortage {
  readonly resource: string
  readonly requested: number
  readonly used: number
  readonly capacity: number
}

/**
 * @returns every resource of which the node has too little for the pod, `pods` first; a node that does not report a capacity is not short
 *   of anything
 */
export function shortagesOf(pod: Pod, { node, pods, used }: NodeCapacity): readonly Shortage[] {
  const allocatable = allocatableOf(node)
  if (allocatable.size === 0) return []
  const shortages: Shortage[] = []
  const mostPods = allocatable.get('pods') ?? 0
  if (pods.size + 1 > mostPods) shortages.push({ resource: 'pods', requested: 1, used: pods.size, capacity: mostPods })
  for (const [resource, requested] of demandOf(pod).requests) {
    const capacity = allocatable.get(resource) ?? 0
    const taken = used.get(resource) ?? 0
    if (requested > 0 && requested > capacity - taken) shortages.push({ resource, requested, used: taken, capacity })
  }
  return shortages.sort((a, b) => rankOf(a.resource) - rankOf(b.resource))
}

/** Order in which Kubernetes checks resources. */
const ranked = ['pods', 'cpu', 'memory', 'ephemeral-storage']

function rankOf(resource: string): number {
  const rank = ranked.indexOf(resource)
  return rank < 0 ? ranked.length : rank
}

/** @returns whether all host ports of the pod are free */
export function hasFreePorts(pod: Pod, { pods }: NodeCapacity): boolean {
  const wanted = demandOf(pod).hostPorts
  if (wanted.length === 0) return true
  const taken = [...pods.values()].flatMap((other) => demandOf(other).hostPorts)
  return !wanted.some((port) => taken.some((other) => isConflict(port, other)))
}

function isConflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false
  return a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0'
}
