import type { Pod } from '@tranche/kube-types'
import { type NodeCapacity, capacityOf } from './node-capacity.ts'
import { priorityOf, specOf } from './pod-demand.ts'
import type { Refusal } from './refusal.ts'

/** Pods to preempt for a pod of higher priority. */
export type PreemptionPlan =
  | { readonly kind: 'preempt'; readonly nodeName: string; readonly victims: readonly Pod[] }
  /** The pod may not preempt others. */
  | { readonly kind: 'notEligible'; readonly why: string }
  /** Preemption would not help; one or more reasons for each tried node. */
  | { readonly kind: 'noHelp'; readonly reasons: readonly string[] }

/** Inputs of the decision. */
export interface PreemptionPorts {
  /** @returns why the pod would not fit there either */
  refusal(capacity: NodeCapacity): Refusal | undefined
  /** Number of further disruptions that a budget allows for these pods; undefined without a budget. */
  disruptionsAllowed(victim: Pod): number | undefined
  /** Node to which the pod was nominated before. */
  readonly nominated: NodeCapacity | undefined
}

/**
 * Selects pods to preempt. On each node, all pods of lower priority are removed hypothetically; then as many as fit are added back, highest
 * priority first. The selected node violates the fewest budgets, then has the victims of lowest priority, then the fewest, then those that
 * started last.
 *
 * @param candidates nodes on which the pod would fit without other pods
 */
export function planPreemption(pod: Pod, candidates: readonly NodeCapacity[], ports: PreemptionPorts): PreemptionPlan {
  if (specOf(pod).preemptionPolicy === 'Never') return { kind: 'notEligible', why: 'not eligible due to preemptionPolicy=Never.' }
  if (ports.nominated !== undefined && [...ports.nominated.pods.values()].some((other) => isPreempted(other, pod)))
    return { kind: 'notEligible', why: 'not eligible due to a terminating pod on the nominated node.' }
  const reasons: string[] = []
  let best: Choice | undefined
  for (const capacity of candidates) {
    const choice = choiceOn(capacity, pod, ports)
    if ('reasons' in choice) reasons.push(...choice.reasons)
    else if (best === undefined || isBetter(choice, best)) best = choice
  }
  if (best === undefined) return { kind: 'noHelp', reasons }
  return { kind: 'preempt', nodeName: best.nodeName, victims: best.victims }
}

interface Choice {
  readonly nodeName: string
  readonly victims: readonly Pod[]
  readonly violations: number
}

function isPreempted(other: Pod, pod: Pod): boolean {
  if (other.metadata.deletionTimestamp === undefined || priorityOf(other) >= priorityOf(pod)) return false
  return other.status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler') === true
}

function choiceOn(capacity: NodeCapacity, pod: Pod, ports: PreemptionPorts): Choice | Pick<Refusal, 'reasons'> {
  const all = [...capacity.pods.values()]
  const lesser = all.filter((other) => priorityOf(other) < priorityOf(pod)).sort(byImportance)
  if (lesser.length === 0) return { reasons: ['No preemption victims found for incoming pod'] }
  let kept = all.filter((other) => priorityOf(other) >= priorityOf(pod))
  const refusal = ports.refusal(capacityOf(capacity.node, kept))
  if (refusal !== undefined) return refusal
  const violating = violatingPods(lesser, ports)
  const victims: Pod[] = []
  for (const one of [...lesser.filter((other) => violating.has(other)), ...lesser.filter((other) => !violating.has(other))]) {
    const withOne = [...kept, one]
    if (ports.refusal(capacityOf(capacity.node, withOne)) === undefined) kept = withOne
    else victims.push(one)
  }
  const violations = victims.filter((victim) => violating.has(victim)).length
  return { nodeName: capacity.node.metadata.name, victims: victims.sort(byImportance), violations }
}

/** Pods whose deletion would violate a disruption budget, after deletion of all before them in order. */
function violatingPods(pods: readonly Pod[], { disruptionsAllowed }: PreemptionPorts): ReadonlySet<Pod> {
  let gone = 0
  const violating = new Set<Pod>()
  for (const pod of pods) {
    const allowed = disruptionsAllowed(pod)
    if (allowed === undefined) continue
    if (++gone > allowed) violating.add(pod)
  }
  return violating
}

function byImportance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || startMs(a) - startMs(b)
}

function isBetter(a: Choice, b: Choice): boolean {
  const keys = (choice: Choice): readonly number[] => [
    choice.violations,
    Math.max(...choice.victims.map(priorityOf)),
    choice.victims.reduce((total, victim) => total + priorityOf(victim) + 2 ** 31, 0),
    choice.victims.length,
    -Math.min(...mostImportant(choice.victims).map(startMs)),
  ]
  const [own, other] = [keys(a), keys(b)]
  const at = own.findIndex((key, index) => key !== other[index])
  return at >= 0 && own[at]! < other[at]!
}

function mostImportant(victims: readonly Pod[]): readonly Pod[] {
  const highest = Math.max(...victims.map(priorityOf))
  return victims.filter((victim) => priorityOf(victim) === highest)
}

function startMs(pod: Pod): number {
  return Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '') || 0
}
