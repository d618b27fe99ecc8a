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
  const capacities = new Map<string, OpenCapacity>()
  /** Pods whose node is unknown, by its name. */
  const homeless = new Map<string, Map<string, Pod>>()
  let antiAffine = 0

  function podsOn(nodeName: string): Map<string, Pod> {
    const known = capacities.get(nodeName)?.pods ?? homeless.get(nodeName)
    if (known !== undefined) return known
    const pods = new Map<string, Pod>()
    homeless.set(nodeName, pods)
    return pods
  }

  function removePod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    const pods = podsOn(nodeName)
    const before = pods.get(pod.metadata.uid)
    if (before === undefined) return
    pods.delete(pod.metadata.uid)
    count(nodeName, before, -1)
    if (pods.size === 0) homeless.delete(nodeName)
  }

  function count(nodeName: string, pod: Pod, sign: 1 | -1): void {
    if (antiAffinityOf(pod).length > 0) antiAffine += sign
    const used = capacities.get(nodeName)?.used
    if (used === undefined) return
    for (const [name, amount] of demandOf(pod).requests) used.set(name, (used.get(name) ?? 0) + sign * amount)
  }

  return {
    get size() {
      return capacities.size
    },
    get hasAntiAffinity() {
      return antiAffine > 0
    },
    get: (nodeName) => capacities.get(nodeName),
    values: () => capacities.values(),
    putNode(node) {
      const { name } = node.metadata
      const known = capacities.get(name)
      if (known !== undefined) return void capacities.set(name, { ...known, node })
      const capacity = capacityOf(node, homeless.get(name)?.values() ?? [])
      capacities.set(name, { node, pods: new Map(capacity.pods), used: new Map(capacity.used) })
      homeless.delete(name)
    },
    removeNode(nodeName) {
      const pods = capacities.get(nodeName)?.pods
      capacities.delete(nodeName)
      if (pods !== undefined && pods.size > 0) homeless.set(nodeName, pods)
    },
    putPod(pod) {
      const nodeName = pod.spec?.nodeName
      if (!nodeName) return
      if (isTerminal(pod)) return removePod(pod)
      const pods = podsOn(nodeName)
      const before = pods.get(pod.metadata.uid)
      pods.set(pod.metadata.uid, pod)
      if (before?.spec === pod.spec) return
      if (before !== undefined) count(nodeName, before, -1)
      count(nodeName, pod, 1)
    },
    removePod,
  }
}
