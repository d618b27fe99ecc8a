import { nodeInView, type NodeView } from '@tranche/fleet'
import { isInSteps, scopeInRecord } from '../nodes/batch-scope.ts'
import { hasOldPod, isInReach } from '../nodes/old-nodes.ts'
import { fullValues, valueOn } from '../nodes/full-values.ts'
import { type Candidate, firstCandidates } from './candidate-order.ts'
import { executablePermits } from './executable-permits.ts'
import type { PassView } from './pass-view.ts'
import { namesDown } from './budget.ts'
import { isUnsettled, permittedNodes, toFenceState, type FenceState } from './fence-state.ts'

/** What decides when a node is taken, by the rules of a pass; it does not say whether the record is open. */
export type NodeOutlook =
  /** The node is not desired. */
  | { readonly kind: 'notDesired' }
  /** The node runs no old pod: it is done. */
  | { readonly kind: 'taken' }
  /** The policy excludes the node. */
  | { readonly kind: 'excluded' }
  /** First step, from 0, that takes the node; Infinity: none before the end. */
  | { readonly kind: 'laterStep'; readonly step: number }
  /** The node is out of reach: NotReady, or in maintenance. */
  | { readonly kind: 'notReady' }
  /** The pod has a permit; `isNext`: it may be used now. */
  | { readonly kind: 'permitted'; readonly isNext: boolean }
  /** The batch takes other nodes: `ahead` come first; a batch of cumulative size `size` would take it now. */
  | { readonly kind: 'laterBatch'; readonly ahead: number; readonly size: number }
  /** As many nodes with its value of the label are down as the rule allows. */
  | { readonly kind: 'spread'; readonly key: string; readonly value: string; readonly limit: number; readonly down: readonly string[] }
  /** As many nodes are down as the limit allows. */
  | { readonly kind: 'budget'; readonly ahead: number; readonly limit: number; readonly down: readonly string[] }
  /** The budget has room, but other nodes come first. */
  | { readonly kind: 'order'; readonly ahead: number; readonly limit: number; readonly down: readonly string[] }
  /** The node is among the next to be taken. */
  | { readonly kind: 'next' }

/** Predicts when one node is taken, by the rules of planPass. Null while no allowance is published under the current rules. */
export function nodeOutlook(view: PassView, name: string): NodeOutlook | null {
  const { record } = view
  if (record === undefined || scopeInRecord(record.scope, view.nodes) === null) return null
  const fence = toFenceState(view, record)
  const node = nodeInView(view.fleet, name)
  if (node?.desired !== true) return { kind: 'notDesired' }
  if (!hasOldPod(node, record.revision)) return { kind: 'taken' }
  return outlookByRules(fence, node) ?? outlookByPermit(fence, node) ?? outlookInOrder(fence, node)
}

function outlookByRules({ scope, revisions }: FenceState, node: NodeView): NodeOutlook | null {
  const { isExcluded, step } = scope.rules.factsOf(node.labels)
  if (isExcluded) return { kind: 'excluded' }
  if (!isInSteps(scope, node)) return { kind: 'laterStep', step }
  return isInReach(node, revisions) ? null : { kind: 'notReady' }
}

function outlookByPermit(fence: FenceState, { name }: NodeView): NodeOutlook | null {
  if (!permittedNodes(fence.permits).has(name)) return null
  return { kind: 'permitted', isNext: executablePermits(fence).some(({ permit }) => permit.node === name) }
}

function outlookInOrder(fence: FenceState, node: NodeView): NodeOutlook {
  const { lack, size } = fence
  const ahead = candidatesInOrder(fence).findIndex((candidate) => candidate.node.name === node.name)
  if (ahead >= lack) return { kind: 'laterBatch', ahead, size: size - lack + ahead + 1 }
  const spread = spreadOver(fence, node)
  if (spread !== null) return spread
  const down = downByAll(fence)
  const { limit } = fence.record
  if (down.has(node.name)) return { kind: 'next' }
  if (down.size >= limit) return { kind: 'budget', ahead, limit, down: [...down] }
  return ahead < limit - down.size ? { kind: 'next' } : { kind: 'order', ahead, limit, down: [...down] }
}

/** Old pods without a permit that the batch may take, in the order in which they are permitted. */
function candidatesInOrder({ tally, permits, revisions, scope }: FenceState): readonly Candidate[] {
  const permitted = permittedNodes(permits)
  const free = tally.old.filter(({ name }) => !permitted.has(name))
  return firstCandidates(free, { ...revisions, scope }, free.length)
}

/** Nodes that use the budget: those down, and those that permits are about to take down. */
function downByAll(fence: FenceState): ReadonlySet<string> {
  const down = namesDown(fence)
  for (const tracked of fence.permits) if (isUnsettled(tracked)) down.add(tracked.permit.node)
  return down
}

function spreadOver(fence: FenceState, node: NodeView): NodeOutlook | null {
  const rules = fence.view.nodes?.spread ?? []
  if (rules.length === 0) return null
  const down = [...downByAll(fence)].flatMap((name) => nodeInView(fence.view.fleet, name) ?? [])
  for (const rule of rules) {
    const value = valueOn(node, rule.topologyKey)
    const full = fullValues(rule, down).find((one) => one.value === value)
    if (full !== undefined && !full.nodes.includes(node.name))
      return { kind: 'spread', key: full.key, value, limit: full.limit, down: full.nodes }
  }
  return null
}
