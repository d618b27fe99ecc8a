import { valueIn } from '@tranche/kube-types'
import type { LabelSelector, Node, Pod } from '@tranche/kube-types'
import { matchesPlacement } from '../placement/node-eligibility.ts'
import { isEmptySelector, matchesSelector } from '../placement/requirements.ts'
import type { NodeCapacity } from './node-capacity.ts'
import { type PodAffinityTerm, type SpreadConstraint, specOf } from './pod-demand.ts'
import type { Refusal } from './refusal.ts'

const NO_AFFINITY = "node(s) didn't match pod affinity rules"
const OWN_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
const OTHERS_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"
const NO_SPREAD = "node(s) didn't match pod topology spread constraints"

/** @returns whether required inter-pod rules affect the pod: its own, or those of existing pods */
export function hasPodRules(pod: Pod): boolean {
  const { affinity, topologySpreadConstraints } = specOf(pod)
  return affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined || topologySpreadConstraints !== undefined
}

/** Required anti-affinity terms of a pod. */
export function antiAffinityOf(pod: Pod): readonly PodAffinityTerm[] {
  return specOf(pod).affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
}

/**
 * Evaluates a node by the pods on all nodes, including itself.
 *
 * @param rooms of all nodes
 * @returns undefined when neither topology spread nor inter-pod affinity excludes the node
 */
export function refusalByPods(pod: Pod, node: Node, capacities: Iterable<NodeCapacity>): Refusal | undefined {
  const all = [...capacities]
  return refusalBySpread(pod, node, all) ?? refusalByAffinity(pod, node, all) ?? refusalByAntiAffinity(pod, node, all)
}

function refusalBySpread(pod: Pod, node: Node, capacities: readonly NodeCapacity[]): Refusal | undefined {
  const constraints = (specOf(pod).topologySpreadConstraints ?? []).filter((one) => one.whenUnsatisfiable === 'DoNotSchedule')
  // Only eligible nodes that have every key count as domains.
  const counted = capacities.filter(
    (capacity) =>
      matchesPlacement(specOf(pod), capacity.node) &&
      constraints.every((one) => valueIn(capacity.node.metadata.labels, one.topologyKey) !== undefined),
  )
  for (const constraint of constraints) {
    const domain = valueIn(node.metadata.labels, constraint.topologyKey)
    if (domain === undefined) return { reasons: [`${NO_SPREAD} (missing required label)`], isFinal: true }
    if (skewOf(pod, domain, constraint, counted) > constraint.maxSkew) return { reasons: [NO_SPREAD], isFinal: false }
  }
  return undefined
}

function skewOf(pod: Pod, domain: string, constraint: SpreadConstraint, capacities: readonly NodeCapacity[]): number {
  const { topologyKey, labelSelector, minDomains = 1 } = constraint
  const counts = new Map<string, number>()
  for (const { node, pods } of capacities) {
    const here = valueIn(node.metadata.labels, topologyKey)!
    const matching = [...pods.values()].filter((other) => isNear(pod, other) && selects(labelSelector, other)).length
    counts.set(here, (counts.get(here) ?? 0) + matching)
  }
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values(), Number.MAX_SAFE_INTEGER)
  return (counts.get(domain) ?? 0) + (selects(labelSelector, pod) ? 1 : 0) - least
}

function refusalByAffinity(pod: Pod, node: Node, capacities: readonly NodeCapacity[]): Refusal | undefined {
  const terms = specOf(pod).affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  if (terms.length === 0) return undefined
  const refusal: Refusal = { reasons: [NO_AFFINITY], isFinal: true }
  if (terms.some(({ topologyKey }) => valueIn(node.metadata.labels, topologyKey) === undefined)) return refusal
  const friends = matchingPods(capacities, (other) => terms.every((term) => matchesTerm(term, pod, other)))
  if (terms.every((term) => friends.some((friend) => isSameDomain(term, node, friend.node)))) return undefined
  // The first of a series of pods with affinity to their own kind would wait forever.
  return friends.length === 0 && terms.every((term) => matchesTerm(term, pod, pod)) ? undefined : refusal
}

function refusalByAntiAffinity(pod: Pod, node: Node, capacities: readonly NodeCapacity[]): Refusal | undefined {
  for (const term of antiAffinityOf(pod)) {
    const foes = matchingPods(capacities, (other) => matchesTerm(term, pod, other))
    if (foes.some((foe) => isSameDomain(term, node, foe.node))) return { reasons: [OWN_ANTI_AFFINITY], isFinal: false }
  }
  const refuses = matchingPods(capacities, (other) => antiAffinityOf(other).some((term) => matchesTerm(term, other, pod)))
  const isRefused = refuses.some((one) =>
    antiAffinityOf(one.pod).some((term) => matchesTerm(term, one.pod, pod) && isSameDomain(term, node, one.node)),
  )
  return isRefused ? { reasons: [OTHERS_ANTI_AFFINITY], isFinal: false } : undefined
}

function matchingPods(
  capacities: readonly NodeCapacity[],
  test: (pod: Pod) => boolean,
): readonly { readonly pod: Pod; readonly node: Node }[] {
  return capacities.flatMap(({ node, pods }) => [...pods.values()].filter(test).map((pod) => ({ pod, node })))
}

/** @param holder the pod of the term */
function matchesTerm({ labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm, holder: Pod, other: Pod): boolean {
  const isEverywhere = namespaceSelector !== undefined && isEmptySelector(namespaceSelector)
  const named = namespaces.length === 0 && namespaceSelector === undefined ? [holder.metadata.namespace] : namespaces
  return (isEverywhere || named.includes(other.metadata.namespace ?? '')) && selects(labelSelector, other)
}

function isSameDomain({ topologyKey }: PodAffinityTerm, a: Node, b: Node): boolean {
  const domain = valueIn(a.metadata.labels, topologyKey)
  return domain !== undefined && domain === valueIn(b.metadata.labels, topologyKey)
}

function isNear(a: Pod, b: Pod): boolean {
  return a.metadata.namespace === b.metadata.namespace && b.metadata.deletionTimestamp === undefined
}

/** A missing selector selects no pod; an empty one selects every pod. */
function selects(selector: LabelSelector | undefined, pod: Pod): boolean {
  if (selector === undefined) return false
  return isEmptySelector(selector) || matchesSelector(selector, pod.metadata.labels)
}
