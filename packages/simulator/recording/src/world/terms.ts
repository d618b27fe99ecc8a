import { ownValue } from './own-value.ts'
import type { RecordedNode, RecordedRequirement } from '../record/recorded-write.ts'
import { matchesAll } from './eligibility.ts'

/** Policy terms in a BatchRelease, limited to the fields that judges read. */
export interface RecordedTerms {
  readonly release?: string
  readonly canaryRevision?: string
  readonly stableRevision?: string
  readonly maxUnavailable?: number | string
  readonly nodes?: RecordedNodeRules
  readonly prePull?: { readonly timeout?: string; readonly onFailure?: string }
  readonly failure?: {
    readonly action?: string
    readonly maxFailedNodes?: number | string
    readonly ignoreReasons?: readonly string[]
    readonly onReapply?: string
    readonly autoResume?: string
  }
  readonly downtime?: { readonly group?: string; readonly nodeLock?: string; readonly perDay?: string }
  readonly retry?: string
  readonly drain?: RecordedDrain
}

/** Which pods must leave a node before its agent. */
export interface RecordedDrain {
  readonly cordon?: boolean
  readonly consumers?: readonly RecordedConsumer[]
  readonly timeout?: string
  readonly onTimeout?: string
}

/** Pods that use the agent: one of the fields. */
export interface RecordedConsumer {
  readonly selector?: RecordedSelector
  readonly csiDriver?: string
  readonly extendedResource?: string
}

/** Node rules: which nodes may be updated, in which order, and how many per topology value at a time. */
export interface RecordedNodeRules {
  readonly order?: readonly { readonly selector?: RecordedSelector; readonly by?: string }[]
  readonly exclude?: readonly RecordedSelector[]
  readonly spread?: readonly { readonly topologyKey: string; readonly maxUnavailable: number }[]
  readonly notReady?: { readonly action?: string; readonly exempt?: number | string; readonly after?: string }
  readonly room?: string
  readonly steps?: readonly RecordedSelector[]
}

/** @see meta/v1 LabelSelector */
export interface RecordedSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly RecordedRequirement[]
}

/** Whether the selector matches the node; an empty selector matches all nodes. */
export function selects({ matchLabels = {}, matchExpressions = [] }: RecordedSelector, { labels = {} }: RecordedNode): boolean {
  return Object.entries(matchLabels).every(([key, value]) => ownValue(labels, key) === value) && matchesAll(matchExpressions, labels)
}

/** Whether the rules include the node in the first `steps` steps; undefined: in any step. */
export function mayBeTaken({ exclude = [], steps: bySteps }: RecordedNodeRules, node: RecordedNode, steps: number | undefined): boolean {
  if (exclude.some((selector) => selects(selector, node))) return false
  return bySteps === undefined || steps === undefined || bySteps.slice(0, steps).some((selector) => selects(selector, node))
}

/**
 * Compares by the rules: below 0 when the pod of `a` comes before that of `b`, 0 when the rules do not say. The first key that tells them
 * apart decides. A key with a selector and an order sorts the nodes that it selects.
 */
export function compareByRules({ order = [] }: RecordedNodeRules, a: Placed, b: Placed): number {
  for (const { selector, by } of order) {
    const [isA, isB] = [a, b].map(({ node }) => selector === undefined || selects(selector, node))
    if (isA !== isB) return isA ? -1 : 1
    const difference = isA ? compareBy(by, a, b) : 0
    if (difference !== 0) return difference
  }
  return 0
}

/** Pod and its node. */
export interface Placed {
  readonly node: RecordedNode
  readonly created: string
}

function compareBy(by: string | undefined, a: Placed, b: Placed): number {
  if (by === 'Name') return byText(a.node.name, b.node.name)
  if (by === 'Oldest') return byText(a.created, b.created)
  return by === 'Newest' ? byText(b.created, a.created) : 0
}

/** Compares by UTF-16 code unit. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @returns milliseconds. @param text duration such as `90s`, `5m` or `1h30m` */
export function millisecondsOf(text: string): number {
  const unit: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
  return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce((sum, [, number, of]) => sum + Number(number) * (unit[of!] ?? 0), 0)
}
