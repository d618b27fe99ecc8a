import type { BlockedNode } from '@tranche/api-schema'
import type { Outline } from './outline.ts'
import { presentWait } from './present-message.ts'

/**
 * Nodes that keep their old pod because of a check, or while executors prepare them, without those that the text of the present wait is about.
 * Other nodes proceed meanwhile.
 */
export function keptNodesOf(outline: Outline): readonly BlockedNode[] {
  const { blocked = [], state } = outline.release?.status?.flight ?? {}
  const wait = presentWait(outline)
  return state === 'open' && !blocked.some(({ reason }) => reason === wait?.reason) ? blocked : []
}
