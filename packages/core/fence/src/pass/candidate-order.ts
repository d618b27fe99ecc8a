import type { FleetPod, NodeView } from '@tranche/fleet'
import { type BatchScope, isInScope } from '../nodes/batch-scope.ts'
import { compareText } from '../nodes/node-scope.ts'
import { isInReach, isOld, isSuperseded, type Revisions } from '../nodes/old-nodes.ts'

/** An old pod that might be deleted next. */
export interface Candidate {
  readonly node: NodeView
  readonly pod: FleetPod
}

/** Rules that decide the order, and which nodes take part. */
export interface ChoiceRules extends Revisions {
  /** Nodes that may be taken, and the order of the policy. */
  readonly scope: BatchScope
}

/**
 * The first `count` candidates among `nodes` in the order of G5. Superseded revisions come first; then failed, crashing,
 * pending, not ready, healthy; then the order of the policy, the oldest, and the name. Nodes out of reach, as most NotReady
 * ones are, are skipped until they return; nodes that the batch may not take are no candidates. The same cluster gives the
 * same choice, whatever the order of `nodes`. @see isInReach
 */
export function firstCandidates(nodes: readonly NodeView[], rules: ChoiceRules, count: number): readonly Candidate[] {
  return firstOfEachKind(nodes, rules, { count, kindOf: () => 0 })
}

/** Number of candidates per group of nodes, and the grouping. */
export interface Kinds {
  readonly count: number
  readonly kindOf: (node: NodeView) => number
}

/** The first `count` candidates of each group, all of them in the order of {@link firstCandidates}. */
export function firstOfEachKind(nodes: readonly NodeView[], rules: ChoiceRules, { count, kindOf }: Kinds): readonly Candidate[] {
  if (count <= 0) return []
  const kinds = new Map<number, Candidate[]>()
  for (const node of nodes) {
    const candidate = isInReach(node, rules) && isInScope(rules.scope, node) ? candidateOn(node, rules) : undefined
    if (candidate === undefined) continue
    const kind = kindOf(node)
    const first = kinds.get(kind)
    if (first === undefined) kinds.set(kind, [candidate])
    else keepFirst(first, candidate, rules, count)
  }
  const [only, ...others] = kinds.values()
  return others.length === 0 ? (only ?? []) : [...kinds.values()].flat().sort((a, b) => compareCandidates(a, b, rules))
}

/**
 * NotReady nodes out of reach that are due: with a healthy pod, each would be among the first `count` that the batch takes
 * next.
 *
 * @param nodes with an old pod, and without a permit
 */
export function dueNotReadyNodes(nodes: readonly NodeView[], rules: ChoiceRules, count: number): readonly NodeView[] {
  if (count <= 0 || nodes.every((node) => isInReach(node, rules) || !isInScope(rules.scope, node))) return []
  const candidates = nodes.flatMap((node) => (isInScope(rules.scope, node) ? (candidateOn(node, rules) ?? []) : []))
  const first = candidates.sort((a, b) => compareCandidates(a, b, rules)).slice(0, count)
  return first.flatMap(({ node }) => (isInReach(node, rules) ? [] : [node]))
}

/** Each node offers one pod at a time: the first of its old ones. */
function candidateOn(node: NodeView, rules: ChoiceRules): Candidate | undefined {
  let first: Candidate | undefined
  for (const pod of node.pods) {
    if (!isOld(pod, rules.canary)) continue
    const candidate = { node, pod }
    if (first === undefined || compareCandidates(candidate, first, rules) < 0) first = candidate
  }
  return first
}

/** Inserts the candidate if it is among the first `count`; of thousands, most are compared once. */
function keepFirst(first: Candidate[], candidate: Candidate, rules: ChoiceRules, count: number): void {
  const last = first.at(-1)
  if (first.length === count && last !== undefined && compareCandidates(candidate, last, rules) > 0) return
  let low = 0
  let high = first.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareCandidates(candidate, first[middle]!, rules) < 0) high = middle
    else low = middle + 1
  }
  first.splice(low, 0, candidate)
  if (first.length > count) first.pop()
}

function compareCandidates(a: Candidate, b: Candidate, rules: ChoiceRules): number {
  return (
    supersededRank(a.pod, rules) - supersededRank(b.pod, rules) ||
    healthRank(a, rules) - healthRank(b, rules) ||
    rules.scope.rules.compare(a, b) ||
    compareText(a.pod.createdAt, b.pod.createdAt) ||
    compareText(a.pod.name, b.pod.name)
  )
}

function supersededRank(pod: FleetPod, rules: ChoiceRules): number {
  return isSuperseded(pod, rules) ? 0 : 1
}

/**
 * Failed 0, crashing 1, pending 2, not ready 3, healthy 4. The pod status on a node out of reach is outdated. A Ready pod on
 * a NotReady node is about to be marked not ready.
 */
function healthRank({ node, pod }: Candidate, rules: ChoiceRules): number {
  if (!isInReach(node, rules)) return 4
  if (pod.phase === 'Failed') return 0
  if (pod.ready) return node.ready ? 4 : 3
  if (pod.trouble !== undefined && crashes.has(pod.trouble.reason)) return 1
  return pod.phase === 'Pending' ? 2 : 3
}

/** Rule of G5 that decides a pod's rank; `Policy` names the key of `nodes.order`, from 0, that selects its node. */
export type OrderReason =
  | { readonly rule: 'Superseded' | 'Failed' | 'Crashing' | 'Pending' | 'NotReady' | 'Oldest' }
  | { readonly rule: 'Policy'; readonly key: number; readonly by: string | undefined }

/** @returns the first rule of the order that applies to the candidate */
export function orderReasonOf(candidate: Candidate, rules: ChoiceRules): OrderReason {
  if (supersededRank(candidate.pod, rules) === 0) return { rule: 'Superseded' }
  const byHealth = healthRules[healthRank(candidate, rules)]
  if (byHealth !== undefined) return { rule: byHealth }
  const key = rules.scope.rules.keyOf(candidate.node.labels)
  return key === undefined ? { rule: 'Oldest' } : { rule: 'Policy', ...key }
}

/** By rank. */
const healthRules = ['Failed', 'Crashing', 'Pending', 'NotReady'] as const

const crashes: ReadonlySet<string> = new Set(['CrashLoopBackOff', 'OOMKilled', 'Error', 'RunContainerError'])
