import type { Pod } from '@tranche/kube-types'
import { allocatableOf, type NodeCapacity, capacityOf } from './node-capacity.ts'
import { antiAffinityOf, hasPodRules, refusalByPods } from './pod-affinity.ts'
import { demandOf, priorityOf, specOf } from './pod-demand.ts'
import { planPreemption, type PreemptionPlan } from './preemption.ts'
import { type Refusal, refusalOf } from './refusal.ts'

/** Scheduler's view of the cluster. */
export interface ClusterCapacities {
  readonly size: number
  get(nodeName: string): NodeCapacity | undefined
  values(): Iterable<NodeCapacity>
  /** Whether a bound pod has required anti-affinity. */
  readonly hasAntiAffinity: boolean
  /** Pods nominated to this node. */
  nominated(nodeName: string): readonly Pod[]
  /** Number of further disruptions that a budget allows for these pods; undefined without a budget. */
  disruptionsAllowed(pod: Pod): number | undefined
}

/** Node for a pod, or the reason why there is none. */
export type BindingPlan =
  | { readonly kind: 'bind'; readonly nodeName: string }
  | {
      readonly kind: 'unschedulable'
      readonly message: string
      /** Pods to preempt; null when preemption does not help. */
      readonly preemption: Extract<PreemptionPlan, { kind: 'preempt' }> | null
    }

/**
 * Selects the node of a pod. Of feasible nodes, the one with the smallest share of requested resources is selected, then the one with the
 * fewest pods, then the first by name.
 */
export function planBinding(pod: Pod, cluster: ClusterCapacities): BindingPlan {
  if (cluster.size === 0) return { kind: 'unschedulable', message: 'no nodes available to schedule pods', preemption: null }
  const pinned = pinnedNodes(pod)
  const capacities = pinned === undefined ? [...cluster.values()] : pinned.flatMap((name) => cluster.get(name) ?? [])
  const test = (nodeCapacity: NodeCapacity): Refusal | undefined => refusalIn(pod, nodeCapacity, cluster)
  const refusals = new Map<NodeCapacity, Refusal>()
  let best: NodeCapacity | undefined
  for (const nodeCapacity of capacities) {
    const refusal = test(nodeCapacity)
    if (refusal !== undefined) refusals.set(nodeCapacity, refusal)
    else if (best === undefined || isBetter(pod, nodeCapacity, best)) best = nodeCapacity
  }
  if (best !== undefined) return { kind: 'bind', nodeName: best.node.metadata.name }
  return unschedulable(pod, cluster, refusals)
}

/** Node names in required affinity that exclude all others; undefined when there are none. */
function pinnedNodes(pod: Pod): readonly string[] | undefined {
  const terms = specOf(pod).affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  if (terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter((one) => one.key === 'metadata.name' && one.operator === 'In').map(({ values = [] }) => values)
    const [first] = lists
    if (first === undefined) return undefined
    for (const name of first) if (lists.every((list) => list.includes(name))) names.add(name)
  }
  return [...names]
}

/** Nominated pods of at least its priority count as if they were bound. */
function refusalIn(pod: Pod, nodeCapacity: NodeCapacity, cluster: ClusterCapacities): Refusal | undefined {
  const promised = cluster
    .nominated(nodeCapacity.node.metadata.name)
    .filter((other) => other.metadata.uid !== pod.metadata.uid && priorityOf(other) >= priorityOf(pod))
  const filled = promised.length === 0 ? nodeCapacity : capacityOf(nodeCapacity.node, [...nodeCapacity.pods.values(), ...promised])
  const refusal = refusalOf(pod, filled)
  if (refusal !== undefined || !(hasPodRules(pod) || cluster.hasAntiAffinity)) return refusal
  const others = [...cluster.values()].map((one) => (one.node.metadata.name === nodeCapacity.node.metadata.name ? filled : one))
  return refusalByPods(pod, nodeCapacity.node, others)
}

function isBetter(pod: Pod, nodeCapacity: NodeCapacity, best: NodeCapacity): boolean {
  const byShare = shareLeft(pod, nodeCapacity) - shareLeft(pod, best)
  if (byShare !== 0) return byShare > 0
  if (nodeCapacity.pods.size !== best.pods.size) return nodeCapacity.pods.size < best.pods.size
  return nodeCapacity.node.metadata.name < best.node.metadata.name
}

function shareLeft(pod: Pod, { node, used }: NodeCapacity): number {
  const allocatable = allocatableOf(node)
  const { requests } = demandOf(pod)
  return ['cpu', 'memory'].reduce((total, name) => {
    const capacity = allocatable.get(name) ?? 0
    return total + (capacity === 0 ? 0 : (capacity - (used.get(name) ?? 0) - (requests.get(name) ?? 0)) / capacity)
  }, 0)
}

function unschedulable(pod: Pod, cluster: ClusterCapacities, refusals: ReadonlyMap<NodeCapacity, Refusal>): BindingPlan {
  const absent = cluster.size - refusals.size
  const reasons = [...refusals.values()].flatMap((refusal) => refusal.reasons)
  const message = histogram(cluster.size, reasons, absent, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
  const candidates = [...refusals].filter(([, refusal]) => !refusal.isFinal).map(([nodeCapacity]) => nodeCapacity)
  const plan = planPreemption(pod, candidates, {
    refusal: (nodeCapacity) => refusalIn(pod, nodeCapacity, withCapacity(cluster, nodeCapacity)),
    disruptionsAllowed: (victim) => cluster.disruptionsAllowed(victim),
    nominated: cluster.get((pod.status as { readonly nominatedNodeName?: string } | undefined)?.nominatedNodeName ?? ''),
  })
  if (plan.kind === 'preempt') return { kind: 'unschedulable', message, preemption: plan }
  const why =
    plan.kind === 'notEligible'
      ? plan.why
      : histogram(cluster.size, plan.reasons, cluster.size - candidates.length, 'Preemption is not helpful for scheduling')
  return { kind: 'unschedulable', message: `${message} no new claims to deallocate, preemption: ${why}`, preemption: null }
}

/** Cluster with this capacity in place of the one of the same node. */
function withCapacity(cluster: ClusterCapacities, nodeCapacity: NodeCapacity): ClusterCapacities {
  const { name } = nodeCapacity.node.metadata
  const all = [...cluster.values()].map((one) => (one.node.metadata.name === name ? nodeCapacity : one))
  return {
    size: cluster.size,
    get: (nodeName) => (nodeName === name ? nodeCapacity : cluster.get(nodeName)),
    values: () => all,
    hasAntiAffinity: all.some(({ pods }) => [...pods.values()].some((one) => antiAffinityOf(one).length > 0)),
    nominated: (nodeName) => cluster.nominated(nodeName),
    disruptionsAllowed: (pod) => cluster.disruptionsAllowed(pod),
  }
}

/** Formats the number of nodes per failure like the scheduler: sorted as text, so not exactly by number. */
function histogram(total: number, reasons: readonly string[], absent: number, absentReason: string): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  if (absent > 0) counts.set(absentReason, (counts.get(absentReason) ?? 0) + absent)
  const texts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return `0/${total} nodes are available: ${texts.join(', ')}.`
}
