import type { LeftCause, LeftNodes } from '@tranche/api-schema'
import { type BatchProgress, leftNodes, namesLeft, nodesNotDone } from '@tranche/planner'
import { acceptedBefore, isAfterEnd, isWayBack, judgedNodes } from '@tranche/verdict'
import { lastPermits } from '@tranche/fence'
import { nodeInView } from '@tranche/fleet'
import { type Outline, permitsOf, progressOf, skippedNodes } from './outline.ts'

/**
 * Nodes that the release leaves for now, by cause, as observed now. While it runs, they are those that it skips; once it is over, those
 * that it left behind.
 */
export function leftNodesIn(outline: Outline): readonly LeftNodes[] {
  const { fleet, release } = outline
  const isOver = isOverButForNodes(outline)
  const progress = progressOf(isOver ? { ...outline, batch: null } : outline)
  const names = isOver ? namesLeft(nodesNotDone(fleet, progress, release?.status?.flight)) : skippedNodes(progress)
  return groupsOf(outline, [...names, ...(isOver || outline.failure?.stops !== true ? acceptedIn(outline, progress) : [])])
}

/**
 * Nodes that a release does not wait for any more, because a retry accepted their failure: they have an updated pod that is not available.
 */
function acceptedIn({ release }: Outline, { unwell }: BatchProgress): readonly string[] {
  if (release === undefined) return []
  const accepted = new Set(acceptedBefore(release))
  return unwell.flatMap(({ node }) => (accepted.has(node) ? [node] : []))
}

/** Whether the release is over but for nodes that it left behind. */
export function isOverButForNodes(outline: Outline): boolean {
  if (outline.release?.status?.waiting?.reason === 'NodesLeft') return true
  // A failure on one of them, or a pause, is what it waits for then.
  return isEnded(outline) && outline.facts.rollout.status?.phase === 'Healthy'
}

/** Whether the release updates nothing but nodes that it left. The spec of a rollback names none: no failure stops it. */
function isEnded({ release, facts: { rollout } }: Outline): boolean {
  if (release === undefined) return false
  return isAfterEnd(release) || (isWayBack(release) && rollout.status?.phase === 'Healthy')
}

/**
 * Whether a node that the release left is being updated: its old pod is deleted, and the new one is not available yet. A node does not count
 * where the new pod has failed, or cannot become available by itself.
 */
export function isUpdatingLeft(outline: Outline): boolean {
  const { release, fleet, failure } = outline
  const permits = lastPermits(permitsOf(outline))
  if (release === undefined || permits.length === 0 || !isEnded(outline)) return false
  const judged = judgedNodes(release)
  const known = new Set([...(failure?.nodes ?? []), ...acceptedBefore(release)])
  const { unwell, between } = progressOf({ ...outline, batch: null })
  const started = new Map(unwell.map(({ node, pod }) => [node, pod]))
  return permits.some(({ node: name, wasBad }) => {
    if ((!started.has(name) && !between.includes(name)) || known.has(name) || judged?.has(name) === false) return false
    // No deadline applies to a node that was broken before, and nothing judges a rollback that has ended: a person has to look at it.
    if ((wasBad === true || isWayBack(release)) && started.get(name)?.trouble !== undefined) return false
    const node = nodeInView(fleet, name)
    return node?.ready === true && node.maintenance === undefined
  })
}

/** @returns the cause for which the release leaves a node, or would leave it if it were over now */
export function leftCauseOf(outline: Outline, name: string): LeftCause | undefined {
  return groupsOf(outline, [name])[0]?.cause
}

function groupsOf(outline: Outline, names: readonly string[]): readonly LeftNodes[] {
  const { fleet, canary, release, failure } = outline
  const blocked = release?.status?.flight?.blocked ?? []
  const accepted = release === undefined ? [] : acceptedBefore(release)
  const known = failure ?? (accepted.length === 0 ? undefined : { nodes: [] })
  const judged = known && { ...known, accepted }
  return leftNodes(names, { fleet, progress: progressOf(outline), revision: canary, blocked, failure: judged })
}
