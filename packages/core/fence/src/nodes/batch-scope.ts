import type { ReleaseNodeRules } from '@tranche/api-schema'
import type { NodeView } from '@tranche/fleet'
import { nodeScopeText, parseNodeScope } from '../record/allowance.ts'
import { type NodeScope, toNodeScope } from './node-scope.ts'

/** The nodes that one batch may take: the rules, and how many leading steps apply. */
export interface BatchScope {
  readonly rules: NodeScope
  /** Number of leading steps whose nodes may be taken; Infinity: every node that is not excluded. */
  readonly steps: number
}

/** @param batch from 0; null for the last, which takes every node that is not excluded */
export function batchScope(rules: ReleaseNodeRules | undefined, batch: number | null): BatchScope {
  const scope = toNodeScope(rules)
  return { rules: scope, steps: batch === null || !scope.hasSteps ? Number.POSITIVE_INFINITY : batch + 1 }
}

/** @returns the `scope` text of a record; undefined without rules */
export function scopeTextOf({ rules, steps }: BatchScope): string | undefined {
  if (rules.digest === '') return undefined
  return nodeScopeText({ digest: rules.digest, steps: Number.isFinite(steps) ? steps : null })
}

/** @returns the scope that a record allows under the given rules; null where it was written for other rules (F1) */
export function scopeInRecord(scope: string | undefined, rules: ReleaseNodeRules | undefined): BatchScope | null {
  const seen = toNodeScope(rules)
  const said = parseNodeScope(scope)
  if ((said?.digest ?? '') !== seen.digest) return null
  return { rules: seen, steps: said?.steps ?? Number.POSITIVE_INFINITY }
}

/** Whether the steps so far take the node, excluded or not. */
export function isInSteps({ rules, steps }: BatchScope, { labels }: Pick<NodeView, 'labels'>): boolean {
  return steps === Number.POSITIVE_INFINITY || rules.factsOf(labels).step < steps
}

/** Whether the batch may take the node once its kubelet answers. */
export function isInScope(scope: BatchScope, node: Pick<NodeView, 'labels'>): boolean {
  if (scope.rules.digest === '') return true
  return isInSteps(scope, node) && !scope.rules.factsOf(node.labels).isExcluded
}

/** Whether two scopes decide the same for every node. */
export function isSameScope(a: BatchScope, b: BatchScope): boolean {
  return a.rules === b.rules && a.steps === b.steps
}
