import type { NodeSelector, ReleaseNodeRules } from '@tranche/api-schema'
import { canonicalJson, type Labels, parseLabelSelector, sha256Hex } from '@tranche/kube-types'

/** The rules by which nodes may be taken, ready to be asked. */
export interface NodeScope {
  /** The same rules have the same one: 16 hexadecimal digits. Empty where there are no rules. */
  readonly digest: string
  /** For each spread rule, how many nodes of one value may be down at a time (≥ 1). */
  readonly spread: readonly number[]
  /** What a node means that is NotReady when its turn comes. */
  readonly notReady: NotReadyAction
  /** How many NotReady nodes with an old pod do not count as unavailable, or percent of the desired ones. */
  readonly exempt: number | string
  /** Whether steps say which nodes they take. */
  readonly hasSteps: boolean
  /** @returns what the rules say of a node with these labels */
  readonly factsOf: (labels: Labels) => NodeFacts
  /** @returns the first key of the policy's order that selects a node with these labels, from 0; undefined where none does */
  readonly keyOf: (labels: Labels) => { readonly key: number; readonly by: string | undefined } | undefined
  /** Below 0 where `a` comes before `b` by the order of the policy, 0 where it does not say. */
  compare(a: Ordered, b: Ordered): number
}

/** @see NodeScope.notReady */
export type NotReadyAction = 'Skip' | 'Wait' | 'Fail'

/** What the rules say of a node, by its labels alone. */
export interface NodeFacts {
  /** Never to be taken. */
  readonly isExcluded: boolean
  /** The first step, from 0, that takes it; Infinity where none does. */
  readonly step: number
  /** For each spread rule, the value of its label; empty where the node does not have it: such nodes are of one kind. */
  readonly values: readonly string[]
  /** The same for nodes with the same values. */
  readonly kind: number
  /** For each key of the order, whether its selector selects the node; true without one. */
  readonly selected: readonly boolean[]
}

/** What is put in order: an old pod and its node. */
export interface Ordered {
  readonly node: { readonly name: string; readonly labels: Labels }
  readonly pod: { readonly createdAt: string }
}

/**
 * Reads rules. A selector that nobody can read excludes every node where it excludes, and selects none elsewhere: what
 * cannot be understood never allows more.
 *
 * @param rules undefined: every node, in no order of its own
 */
export function toNodeScope(rules: ReleaseNodeRules | undefined): NodeScope {
  if (rules === undefined) return everyNode
  const text = JSON.stringify(rules)
  const known = scopes.get(text)
  if (known !== undefined) return known
  const scope = readRules(rules)
  // As many as there are policies in use, as a rule: what is known of nodes stays known from pass to pass.
  if (scopes.size >= SCOPES_KEPT) scopes.clear()
  scopes.set(text, scope)
  return scope
}

const SCOPES_KEPT = 256
const scopes = new Map<string, NodeScope>()

function readRules(rules: ReleaseNodeRules): NodeScope {
  const { order = [], exclude = [], spread = [], steps = [], notReady } = rules
  const keys = order.map(({ selector, by }, at) => ({
    selects: selector === undefined ? always : selecting(selector),
    isOf: (labels: Labels) => factsOf(labels).selected[at] === true,
    by,
  }))
  const excluding = exclude.map((selector) => parseLabelSelector(selector) ?? always)
  const stepping = steps.map(selecting)
  const facts = new WeakMap<Labels, NodeFacts>()
  const kinds = new Map<string, number>()
  const kindOf = (values: readonly string[]): number => {
    const text = JSON.stringify(values)
    const kind = kinds.get(text) ?? kinds.size
    kinds.set(text, kind)
    return kind
  }
  const readFacts = (labels: Labels): NodeFacts => {
    const step = stepping.findIndex((selects) => selects(labels))
    const values = spread.map(({ topologyKey }) => labels[topologyKey] ?? '')
    return {
      isExcluded: excluding.some((selects) => selects(labels)),
      step: steps.length === 0 ? 0 : step === -1 ? Number.POSITIVE_INFINITY : step,
      values,
      kind: kindOf(values),
      selected: keys.map(({ selects }) => selects(labels)),
    }
  }
  const factsOf = (labels: Labels): NodeFacts => {
    const known = facts.get(labels)
    if (known !== undefined) return known
    const read = readFacts(labels)
    facts.set(labels, read)
    return read
  }
  return {
    digest: sha256Hex(canonicalJson(rules)).slice(0, 16),
    spread: spread.map(({ maxUnavailable }) => Math.max(1, maxUnavailable)),
    notReady: notReady?.action ?? 'Skip',
    exempt: notReady?.exempt ?? 0,
    hasSteps: steps.length > 0,
    factsOf,
    keyOf: (labels) => {
      const key = keys.findIndex(({ isOf }) => isOf(labels))
      return key === -1 ? undefined : { key, by: keys[key]?.by }
    },
    compare: keys.length === 0 ? asEqual : (a, b) => compareByKeys(keys, a, b),
  }
}

function selecting(selector: NodeSelector): (labels: Labels) => boolean {
  return parseLabelSelector(selector) ?? never
}

interface OrderKey {
  /** Its selector selects the node. */
  readonly isOf: (labels: Labels) => boolean
  readonly by: string | undefined
}

/** The first key that tells two apart decides; one with both a selector and an order orders the nodes that it selects. */
function compareByKeys(keys: readonly OrderKey[], a: Ordered, b: Ordered): number {
  for (const { isOf, by } of keys) {
    const isOfA = isOf(a.node.labels)
    if (isOfA !== isOf(b.node.labels)) return isOfA ? -1 : 1
    const order = isOfA && by !== undefined ? compareBy(by, a, b) : 0
    if (order !== 0) return order
  }
  return 0
}

function asEqual(): number {
  return 0
}

function compareBy(by: string, a: Ordered, b: Ordered): number {
  switch (by) {
    case 'Oldest':
      return compareText(a.pod.createdAt, b.pod.createdAt)
    case 'Newest':
      return compareText(b.pod.createdAt, a.pod.createdAt)
    case 'Name':
      return compareText(a.node.name, b.node.name)
    default:
      return 0
  }
}

/** By code unit, not by locale: the order must not depend on the machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function always(): boolean {
  return true
}

function never(): boolean {
  return false
}

const anyFacts: NodeFacts = { isExcluded: false, step: 0, values: [], kind: 0, selected: [] }

const everyNode: NodeScope = {
  digest: '',
  spread: [],
  notReady: 'Skip',
  exempt: 0,
  hasSteps: false,
  factsOf: () => anyFacts,
  keyOf: () => undefined,
  compare: asEqual,
}
