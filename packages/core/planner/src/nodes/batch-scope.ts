import type { ReleaseNodeRules } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { nodeScopeText, parseNodeScope } from '@tranche/flight'
import { type NodeScope, toNodeScope } from './node-scope.ts'

/** The nodes that one batch may take: the rules, and how many of the first steps say so. */
export interface BatchScope {
  readonly rules: NodeScope
  /** Nodes of so many first steps; Infinity: of all of them, and every other. */
  readonly steps: number
}

/** @param batch from 0; null for the last, which takes every node that is not excluded */
export function batchScope(rules: ReleaseNodeRules | undefined, batch: number | null): BatchScope {
  const scope = toNodeScope(rules)
  return { rules: scope, steps: batch === null || !scope.hasSteps ? Number.POSITIVE_INFINITY : batch + 1 }
}

/** @returns what a record says as `scope`; undefined where there are no rules */
export function scopeTextOf({ rules, steps }: BatchScope): string | undefined {
  if (rules.digest === '') return undefined
  return nodeScopeText({ digest: rules.digest, steps: Number.isFinite(steps) ? steps : null })
}

/** @returns what a record's scope allows by the rules that are seen; null where it is of other rules (F1) */
export function scopeInRecord(scope: string | undefined, rules: ReleaseNodeRules | undefined): BatchScope | null {
  const seen = toNodeScope(rules)
  const said = parseNodeScope(scope)
  if ((said?.digest ?? '') !== seen.digest) return null
  return { rules: seen, steps: said?.steps ?? Number.POSITIVE_INFINITY }
}

/** The steps so far take the node, whether it is excluded or not. */
export function isInSteps({ rules, steps }: BatchScope, { labels }: Pick<NodeView, 'labels'>): boolean {
  return steps === Number.POSITIVE_INFINITY || rules.factsOf(labels).step < steps
}

/** The batch may take the node, once its kubelet answers. */
export function isInScope(scope: BatchScope, node: Pick<NodeView, 'labels'>): boolean {
  if (scope.rules.digest === '') return true
  return isInSteps(scope, node) && !scope.rules.factsOf(node.labels).isExcluded
}

/** Two scopes say the same of every node. */
export function isSameScope(a: BatchScope, b: BatchScope): boolean {
  return a.rules === b.rules && a.steps === b.steps
}
