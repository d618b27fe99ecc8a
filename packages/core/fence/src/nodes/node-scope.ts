import { durationMs, type NodeSelector, type NotReadyAction, notReadyDefaults, oversizes, type ReleaseNodeRules } from '@tranche/api-schema'
import { canonicalJson, type Labels, parseLabelSelector, sha256Hex, valueIn } from '@tranche/kube-types'

/** The parsed node rules. */
export interface NodeScope {
  /** Digest, equal for equal rules: 16 hexadecimal digits; empty without rules. */
  readonly digest: string
  /** For each spread rule, how many nodes with the same value may be down at a time (≥ 1). */
  readonly spread: readonly number[]
  /** What a due NotReady node means. */
  readonly notReady: NotReadyAction
  /** Maximum number of dead nodes that do not count as unavailable: a number, or a percentage of the desired nodes. */
  readonly exempt: number | string
  /** How long a node whose kubelet reports it NotReady must have been so to count as dead, in milliseconds. */
  readonly deadAfterMs: number
  /** Whether a node must have room for the new pod before its pod is deleted. */
  readonly checksRoom: boolean
  /** Whether any step selects its nodes. */
  readonly hasSteps: boolean
  /** @returns what the rules say about a node with these labels */
  readonly factsOf: (labels: Labels) => NodeFacts
  /** @returns the first key of the policy's order that selects a node with these labels, from 0; undefined where none does */
  readonly keyOf: (labels: Labels) => { readonly key: number; readonly by: string | undefined } | undefined
  /** Negative where the policy's order puts `a` before `b`, 0 where it does not decide. */
  compare(a: Ordered, b: Ordered): number
}

/** What the rules say about a node, by its labels alone. */
export interface NodeFacts {
  /** Whether the node is never taken. */
  readonly isExcluded: boolean
  /** First step, from 0, that takes the node; Infinity where none does. */
  readonly step: number
  /** Value of each spread rule's label; empty where the node lacks the label: such nodes form one group. */
  readonly values: readonly string[]
  /** Number that is the same for nodes with the same values. */
  readonly kind: number
  /** Whether each key's selector selects the node; true for a key without selector. */
  readonly selected: readonly boolean[]
}

/** An old pod and its node, to be ordered. */
export interface Ordered {
  readonly node: { readonly name: string; readonly labels: Labels }
  readonly pod: { readonly createdAt: string }
}

/**
 * Parses the rules. An unreadable selector excludes every node in an exclusion and selects none elsewhere: an unreadable rule
 * never allows more. Rules that are larger than a BatchRelease may have exclude every node, unread: comparing them with each node
 * would stop the process.
 *
 * @param rules undefined: every node, without an order
 */
export function toNodeScope(rules: ReleaseNodeRules | undefined): NodeScope {
  if (rules === undefined) return everyNode
  if (isTooLarge(rules)) return noNode
  const text = JSON.stringify(rules)
  const known = scopes.get(text)
  if (known !== undefined) return known
  const scope = readRules(rules)
  // Usually as many as there are policies in use; facts about nodes are kept from pass to pass.
  if (scopes.size >= SCOPES_KEPT || charactersKept + text.length > CHARACTERS_KEPT) {
    scopes.clear()
    charactersKept = 0
  }
  charactersKept += text.length
  scopes.set(text, scope)
  return scope
}

/** Infinity for an unreadable duration, which validation rejects: no node is dead by the clock then. */
function deadAfterOf(text: string): number {
  const ms = durationMs(text)
  return Number.isFinite(ms) ? ms : Number.POSITIVE_INFINITY
}

function isTooLarge(rules: ReleaseNodeRules): boolean {
  const known = sizes.get(rules)
  if (known !== undefined) return known
  const isLarge = oversizes('BatchRelease', { tranche: { nodes: rules } }).lists.length > 0
  sizes.set(rules, isLarge)
  return isLarge
}

const sizes = new WeakMap<ReleaseNodeRules, boolean>()
const SCOPES_KEPT = 256
/** Maximum number of characters of their rules: users may write rules of a megabyte, and others each second. */
const CHARACTERS_KEPT = 2 * 1024 * 1024
let charactersKept = 0
const scopes = new Map<string, NodeScope>()

function readRules(rules: ReleaseNodeRules): NodeScope {
  const { order = [], exclude = [], spread = [], steps = [], notReady, room } = rules
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
    const values = spread.map(({ topologyKey }) => valueIn(labels, topologyKey) ?? '')
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
    notReady: notReady?.action ?? notReadyDefaults.action,
    exempt: notReady?.exempt ?? notReadyDefaults.exempt,
    deadAfterMs: deadAfterOf(notReady?.after ?? notReadyDefaults.after),
    checksRoom: room === 'Check',
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
  /** Whether the key's selector selects the node. */
  readonly isOf: (labels: Labels) => boolean
  readonly by: string | undefined
}

/** The first key that differs decides. A key with both a selector and an order orders the nodes that it selects. */
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

/** Compares by code unit, not by locale: the order must not depend on the machine. */
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
  notReady: notReadyDefaults.action,
  exempt: notReadyDefaults.exempt,
  deadAfterMs: deadAfterOf(notReadyDefaults.after),
  checksRoom: false,
  hasSteps: false,
  factsOf: () => anyFacts,
  keyOf: () => undefined,
  compare: asEqual,
}

const noFacts: NodeFacts = { ...anyFacts, isExcluded: true, step: Number.POSITIVE_INFINITY }

/** The scope of rules that are too large. Its digest is the same for all of them, and in practice that of no others. */
const noNode: NodeScope = { ...everyNode, digest: 'f'.repeat(16), exempt: 0, hasSteps: true, factsOf: () => noFacts }
