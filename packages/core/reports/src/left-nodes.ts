import type { LeftCause, LeftNodes } from '@tranche/api-schema'
import { leftNodes, namesLeft, nodesNotDone } from '@tranche/planner'
import { isAfterEnd } from '@tranche/verdict'
import { type Outline, progressOf, skippedNodes } from './outline.ts'

/**
 * Nodes that the release leaves for now, by cause, as observed now. While it runs, they are those that it skips; once it is over, those
 * that it left behind.
 */
export function leftNodesIn(outline: Outline): readonly LeftNodes[] {
  const { fleet, release } = outline
  const isOver = isOverButForNodes(outline)
  const progress = progressOf(isOver ? { ...outline, batch: null } : outline)
  const names = isOver ? namesLeft(nodesNotDone(fleet, progress, release?.status?.flight)) : skippedNodes(progress)
  return groupsOf(outline, names)
}

/** Whether the release is over but for nodes that it left behind. */
export function isOverButForNodes({ release, facts: { rollout } }: Outline): boolean {
  if (release?.status?.waiting?.reason === 'NodesLeft') return true
  // A failure on one of them, or a pause, is what it waits for then.
  return release !== undefined && isAfterEnd(release) && rollout.status?.phase === 'Healthy'
}

/** @returns the cause for which the release leaves a node, or would leave it if it were over now */
export function leftCauseOf(outline: Outline, name: string): LeftCause | undefined {
  return groupsOf(outline, [name])[0]?.cause
}

function groupsOf(outline: Outline, names: readonly string[]): readonly LeftNodes[] {
  const { fleet, canary, release, failure } = outline
  const blocked = release?.status?.flight?.blocked ?? []
  return leftNodes(names, { fleet, progress: progressOf(outline), revision: canary, blocked, failure })
}
