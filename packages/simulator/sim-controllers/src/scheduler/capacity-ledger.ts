import type { Node, Pod } from '@tranche/kube-types'
import { isTerminal } from '@tranche/sim-api'
import { type NodeCapacity, capacityOf } from './node-capacity.ts'
import { antiAffinityOf } from './pod-affinity.ts'
import { demandOf } from './pod-demand.ts'

/** Free capacity of all nodes, updated incrementally. */
export interface CapacityLedger {
  readonly size: number
  readonly hasAntiAffinity: boolean
  get(nodeName: string): NodeCapacity | undefined
  values(): Iterable<NodeCapacity>
  putNode(node: Node): void
  removeNode(nodeName: string): void
  /** Applies the current state of a pod; a pod that is unbound or has ended uses nothing. */
  putPod(pod: Pod): void
  removePod(pod: Pod): void
}

interface OpenCapacity extends NodeCapacity {
  readonly node: Node
  readonly pods: Map<string, Pod>
  readonly used: Map<string, number>
}

/** @returns ledger without nodes; pods may arrive before their node */
export function createCapacityLedger(): CapacityLedger {
  return new NodeCapacities()
}

class NodeCapacities implements CapacityLedger {
  readonly #capacities = new Map<string, OpenCapacity>()
  /** Pods whose node is unknown, by its name. */
  readonly #homeless = new Map<string, Map<string, Pod>>()
  #antiAffine = 0

  get size(): number {
    return this.#capacities.size
  }

  get hasAntiAffinity(): boolean {
    return this.#antiAffine > 0
  }

  get(nodeName: string): NodeCapacity | undefined {
    return this.#capacities.get(nodeName)
  }

  values(): Iterable<NodeCapacity> {
    return this.#capacities.values()
  }

  putNode(node: Node): void {
    const { name } = node.metadata
    const known = this.#capacities.get(name)
    if (known !== undefined) return void this.#capacities.set(name, { ...known, node })
    const capacity = capacityOf(node, this.#homeless.get(name)?.values() ?? [])
    this.#capacities.set(name, { node, pods: new Map(capacity.pods), used: new Map(capacity.used) })
    this.#homeless.delete(name)
  }

  removeNode(nodeName: string): void {
    const pods = this.#capacities.get(nodeName)?.pods
    this.#capacities.delete(nodeName)
    if (pods !== undefined && pods.size > 0) this.#homeless.set(nodeName, pods)
  }

  putPod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    if (isTerminal(pod)) return this.removePod(pod)
    const pods = this.#podsOn(nodeName)
    const before = pods.get(pod.metadata.uid)
    pods.set(pod.metadata.uid, pod)
    if (before?.spec === pod.spec) return
    if (before !== undefined) this.#count(nodeName, before, -1)
    this.#count(nodeName, pod, 1)
  }

  removePod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    const pods = this.#podsOn(nodeName)
    const before = pods.get(pod.metadata.uid)
    if (before === undefined) return
    pods.delete(pod.metadata.uid)
    this.#count(nodeName, before, -1)
    if (pods.size === 0) this.#homeless.delete(nodeName)
  }

  #podsOn(nodeName: string): Map<string, Pod> {
    const known = this.#capacities.get(nodeName)?.pods ?? this.#homeless.get(nodeName)
    if (known !== undefined) return known
    const pods = new Map<string, Pod>()
    this.#homeless.set(nodeName, pods)
    return pods
  }

  #count(nodeName: string, pod: Pod, sign: 1 | -1): void {
    if (antiAffinityOf(pod).length > 0) this.#antiAffine += sign
    const used = this.#capacities.get(nodeName)?.used
    if (used === undefined) return
    for (const [name, amount] of demandOf(pod).requests) used.set(name, (used.get(name) ?? 0) + sign * amount)
  }
}
