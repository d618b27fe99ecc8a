import { nodeInView, type NodeView } from '@tranche/fleet'
import { isInSteps, scopeInRecord } from '../nodes/batch-scope.ts'
import { hasOldPod, isInReach } from '../old-nodes.ts'
import { fullValues } from '../release/spread-text.ts'
import { type Candidate, firstCandidates } from './candidate-order.ts'
import { executablePermits } from './executable-permits.ts'
import type { PassView } from './pass-view.ts'
import { namesDown } from './places.ts'
import { isUnsettled, nodesBeingTaken, readScene, type Scene } from './scene.ts'

/** What decides when one node is taken, by the rules of a pass; whether the record is open is another question. */
export type Prospect =
  /** It is no desired node. */
  | { readonly kind: 'notDesired' }
  /** It runs no old pod: its turn is over. */
  | { readonly kind: 'taken' }
  /** The policy excludes it. */
  | { readonly kind: 'excluded' }
  /** A later step, from 0, is the first that takes it; Infinity: none before the end does. */
  | { readonly kind: 'laterStep'; readonly step: number }
  /** It is NotReady, and out of reach. */
  | { readonly kind: 'notReady' }
  /** Its pod has a permit; `isNext`: which may be used now. */
  | { readonly kind: 'permitted'; readonly isNext: boolean }
  /** The batch takes others: `ahead` come before it, and one of cumulative size `size` would take it, as things stand. */
  | { readonly kind: 'laterBatch'; readonly ahead: number; readonly size: number }
  /** As many nodes with its value of the label are down as may be. */
  | { readonly kind: 'spread'; readonly key: string; readonly value: string; readonly limit: number; readonly down: readonly string[] }
  /** As many nodes are down as may be. */
  | { readonly kind: 'budget'; readonly ahead: number; readonly limit: number; readonly down: readonly string[] }
  /** The budget has places left, for those that come before it. */
  | { readonly kind: 'order'; readonly ahead: number; readonly limit: number; readonly down: readonly string[] }
  /** It is among the next to be taken. */
  | { readonly kind: 'next' }

/** Says of one node when it is taken, as planPass would take it. Null while nobody has said what is allowed, by the rules of now. */
export function prospectOf(view: PassView, name: string): Prospect | null {
  const { record } = view
  if (record === undefined || scopeInRecord(record.scope, view.nodes) === null) return null
  const scene = readScene(view, record)
  const node = nodeInView(view.fleet, name)
  if (node?.desired !== true) return { kind: 'notDesired' }
  if (!hasOldPod(node, record.revision)) return { kind: 'taken' }
  return prospectByRules(scene, node) ?? prospectByPermit(scene, node) ?? prospectInOrder(scene, node)
}

function prospectByRules({ scope, revisions }: Scene, node: NodeView): Prospect | null {
  const { isExcluded, step } = scope.rules.factsOf(node.labels)
  if (isExcluded) return { kind: 'excluded' }
  if (!isInSteps(scope, node)) return { kind: 'laterStep', step }
  return isInReach(node, revisions) ? null : { kind: 'notReady' }
}

function prospectByPermit(scene: Scene, { name }: NodeView): Prospect | null {
  if (!nodesBeingTaken(scene.permits).has(name)) return null
  return { kind: 'permitted', isNext: executablePermits(scene).some(({ permit }) => permit.node === name) }
}

function prospectInOrder(scene: Scene, node: NodeView): Prospect {
  const { lack, size } = scene
  const ahead = candidatesInOrder(scene).findIndex((candidate) => candidate.node.name === node.name)
  if (ahead >= lack) return { kind: 'laterBatch', ahead, size: size - lack + ahead + 1 }
  const spread = spreadOver(scene, node)
  if (spread !== null) return spread
  const down = downByAll(scene)
  const { limit } = scene.record
  if (down.has(node.name)) return { kind: 'next' }
  if (down.size >= limit) return { kind: 'budget', ahead, limit, down: [...down] }
  return ahead < limit - down.size ? { kind: 'next' } : { kind: 'order', ahead, limit, down: [...down] }
}

/** Every old pod without a permit that the batch may take, in the order in which pods are permitted. */
function candidatesInOrder({ tally, permits, revisions, scope }: Scene): readonly Candidate[] {
  const permitted = nodesBeingTaken(permits)
  const free = tally.old.filter(({ name }) => !permitted.has(name))
  return firstCandidates(free, { ...revisions, scope }, free.length)
}

/** Nodes that use the budget up: what is down, and what permits are about to take down. */
function downByAll(scene: Scene): ReadonlySet<string> {
  const down = namesDown(scene)
  for (const flown of scene.permits) if (isUnsettled(flown)) down.add(flown.permit.node)
  return down
}

function spreadOver(scene: Scene, node: NodeView): Prospect | null {
  const rules = scene.view.nodes?.spread ?? []
  if (rules.length === 0) return null
  const down = [...downByAll(scene)].flatMap((name) => nodeInView(scene.view.fleet, name) ?? [])
  for (const rule of rules) {
    const value = node.labels[rule.topologyKey] ?? ''
    const full = fullValues(rule, down).find((one) => one.value === value)
    if (full !== undefined && !full.nodes.includes(node.name))
      return { kind: 'spread', key: full.key, value, limit: full.limit, down: full.nodes }
  }
  return null
}
