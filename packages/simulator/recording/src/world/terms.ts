import type { RecordedNode, RecordedRequirement } from '../recorded-write.ts'
import { matchesAll } from './eligibility.ts'

/** What a BatchRelease says of a policy; only the fields that judges read. */
export interface RecordedTerms {
  readonly release?: string
  readonly canaryRevision?: string
  readonly maxUnavailable?: number | string
  readonly nodes?: RecordedNodeRules
  readonly failure?: {
    readonly action?: string
    readonly maxFailedNodes?: number | string
    readonly ignoreReasons?: readonly string[]
    readonly onReapply?: string
    readonly autoResume?: string
  }
  readonly retry?: string
}

/** Which nodes may be taken, in which order, and how many of a kind at a time. */
export interface RecordedNodeRules {
  readonly order?: readonly { readonly selector?: RecordedSelector; readonly by?: string }[]
  readonly exclude?: readonly RecordedSelector[]
  readonly spread?: readonly { readonly topologyKey: string; readonly maxUnavailable: number }[]
  readonly notReady?: { readonly action?: string; readonly exempt?: number | string }
  readonly steps?: readonly RecordedSelector[]
}

/** @see meta/v1 LabelSelector */
export interface RecordedSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly RecordedRequirement[]
}

/** Whether the selector selects the node; an empty one selects all. */
export function selects({ matchLabels = {}, matchExpressions = [] }: RecordedSelector, { labels = {} }: RecordedNode): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchesAll(matchExpressions, labels)
}

/** Whether the rules let the node be taken by the first `steps` steps; undefined: by any. */
export function mayBeTaken({ exclude = [], steps: bySteps }: RecordedNodeRules, node: RecordedNode, steps: number | undefined): boolean {
  if (exclude.some((selector) => selects(selector, node))) return false
  return bySteps === undefined || steps === undefined || bySteps.slice(0, steps).some((selector) => selects(selector, node))
}

/**
 * Below 0 where the rules put the pod of `a` before that of `b`, 0 where they do not say: the first key that tells two
 * apart decides; one with a selector and an order orders those that it selects.
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

/** A pod where it stands. */
export interface Placed {
  readonly node: RecordedNode
  readonly created: string
}

function compareBy(by: string | undefined, a: Placed, b: Placed): number {
  if (by === 'Name') return byText(a.node.name, b.node.name)
  if (by === 'Oldest') return byText(a.created, b.created)
  return by === 'Newest' ? byText(b.created, a.created) : 0
}

/** By code unit. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
