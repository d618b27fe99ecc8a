import type { Need } from '@tranche/api-schema'
import { nodeInView, type NodeView } from '@tranche/fleet'
import { firstNodes } from '@tranche/planner'
import { type Outline, progressOf } from './outline.ts'

/** @returns revision that the standing pod of the node runs, if it is blocked and has failed, or its pod is not ready; else undefined */
export function badRevisionOn({ facts: { rollout } }: Outline, { pods }: NodeView): string | undefined {
  const standing = pods.filter(({ terminating }) => !terminating)
  const hash = standing[0]?.hash
  const held = rollout.status?.heldRevisions?.find(({ revision }) => revision === hash)
  if (held === undefined || (held.reason !== 'Failed' && standing.some(({ ready }) => ready))) return undefined
  return hash
}

/** @returns revision that an excluded node keeps, as text: it is not always the stable one */
export function keptRevision(outline: Outline, node: NodeView): string {
  const bad = badRevisionOn(outline, node)
  return bad === undefined ? 'the old revision' : `revision ${bad}, which is blocked`
}

/** Asks for a decision about excluded nodes that keep a bad version: nothing that Tranche does ends that. Undefined without such nodes. */
export function excludedNeed(outline: Outline): Need | undefined {
  const nodes = progressOf({ ...outline, batch: null }).excluded.flatMap((name) => {
    const node = nodeInView(outline.fleet, name)
    const revision = node && badRevisionOn(outline, node)
    return revision === undefined ? [] : [{ name, revision }]
  })
  if (nodes.length === 0) return undefined
  const byRevision = Object.entries(Object.groupBy(nodes, ({ revision }) => revision))
  const kept = byRevision.map(([revision, alike = []]) => `${revision}, which is blocked (${firstNodes(alike.map(({ name }) => name))})`)
  const message = `nodes that the policy excludes keep revision ${kept.join(', and ')}: exclude fewer nodes, or delete their pods`
  return { reason: 'NodesExcluded', message, actions: [] }
}
