import { countText } from '../../../format/duration.ts'
import type { UnwellGroup } from '../nodes/group-unwell.ts'

/** A node that is not well, for a table. */
export interface UnwellNode {
  readonly node: string
  readonly reason: string
  /** Container, exit code, restarts and last message, as far as they are known. */
  readonly details: string
}

/** Nodes that fit on a printed report. */
export const PRINTED_NODES_MAX = 40

/** @returns nodes by group, those that failed first; at most {@link PRINTED_NODES_MAX}, and the number of the others */
export function printedNodes(
  groups: readonly UnwellGroup[],
  details: ReadonlyMap<string, UnwellGroup['example']>,
): { readonly nodes: readonly UnwellNode[]; readonly more: number } {
  const all = groups.flatMap(({ title, nodes }) =>
    nodes.map(({ name }) => ({ node: name, reason: title, details: detailText(details.get(name)) })),
  )
  return { nodes: all.slice(0, PRINTED_NODES_MAX), more: Math.max(0, all.length - PRINTED_NODES_MAX) }
}

function detailText(detail: UnwellGroup['example']): string {
  if (detail === undefined) return ''
  const { container, exitCode, restarts, message } = detail
  const parts = [
    container === undefined ? undefined : `container ${container}`,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
    restarts === undefined ? undefined : countText(restarts, 'restart'),
    message,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}
