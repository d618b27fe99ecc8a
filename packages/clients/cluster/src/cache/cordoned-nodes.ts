import { type CordonMark, isMarkOf, parseCordonMark } from '@tranche/drain'
import type { FleetNode } from '@tranche/fleet'
import type { ClusterCache } from './cluster-cache.ts'

/** A node that an executor has marked for a drain. */
export interface CordonedNode {
  readonly node: string
  readonly mark: CordonMark
}

/** Index key of every marked node. */
const EVERY = ''
/** Index key of every node with a condition of a drain, and without a mark. */
const LEFT = 'condition'

/** @returns keys of a node in the index `cordon`: the uid of the BatchRelease of its mark, or the key of conditions without a mark */
export function cordonKeys({ cordonMark, drainCondition }: FleetNode): readonly string[] {
  const mark = cordonMark === undefined ? undefined : parseCordonMark(cordonMark)
  if (mark === undefined) return drainCondition === true ? [LEFT] : []
  return [EVERY, mark.uid]
}

/** @returns names of the nodes with a condition of a drain that has ended, as the watch shows them, without a request */
export function leftConditions({ nodes }: Pick<ClusterCache, 'nodes'>): readonly string[] {
  return nodes.store.byIndex('cordon', LEFT).map(({ name }) => name)
}

/**
 * Marked nodes as the watch shows them, without a request.
 *
 * @param release BatchRelease of the mark; without it, any
 */
export function cordonedNodes({ nodes }: Pick<ClusterCache, 'nodes'>, release?: Parameters<typeof isMarkOf>[1]): readonly CordonedNode[] {
  return nodes.store.byIndex('cordon', release?.uid ?? EVERY).flatMap(({ name, cordonMark = '' }) => {
    const mark = parseCordonMark(cordonMark)
    const isWanted = mark !== undefined && (release === undefined || isMarkOf(mark, release))
    return isWanted ? [{ node: name, mark }] : []
  })
}
