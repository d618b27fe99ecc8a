import type { NodeWithoutRoom } from '@tranche/api-schema'
import { compareText } from '../nodes/node-scope.ts'
import { type FenceState, isOldNode, permittedNodes } from './fence-state.ts'

/** Maximum number of nodes in the record's list of nodes without room. */
const LISTED = 10

/**
 * The record's list of nodes without room, as it should be: by name, the first {@link LISTED}. A node leaves the list only with a permit, or
 * once it is not old. A reading with room is not enough: two processes that read at different times would undo each other's writes.
 *
 * @param taken nodes that get a permit in the same write
 */
export function nodesWithoutRoom({ view, record, scope, permits }: FenceState, taken: readonly string[]): readonly NodeWithoutRoom[] {
  if (!scope.rules.checksRoom) return []
  const permitted = permittedNodes(permits)
  const read = [...view.room].flatMap(([node, { shortage }]) => (shortage === null ? [] : [{ node, message: shortage }]))
  return [...new Map([...(record.noRoom ?? []), ...read].map((entry) => [entry.node, entry])).values()]
    .filter(({ node }) => !permitted.has(node) && !taken.includes(node) && isOldNode(view, record, node))
    .toSorted((a, b) => compareText(a.node, b.node))
    .slice(0, LISTED)
}

/** Whether the record's list is up to date: the same nodes, with the words of readings that are news. */
export function isUpToDate({ record: { noRoom = [] }, view }: FenceState, list: readonly NodeWithoutRoom[]): boolean {
  const isSame = ({ node, message }: NodeWithoutRoom, at: number): boolean =>
    node === noRoom[at]?.node && (message === noRoom[at]?.message || view.room.get(node)?.isNews !== true)
  return list.length === noRoom.length && list.every(isSame)
}

/**
 * When (monotonic) the first node without room is due to be read again; null without one, or while the batch lacks no node. A due one has a
 * permit that is not executable, which no clock changes.
 */
export function nextRoomReadMs({ view, scope, record, lack }: FenceState): number | null {
  if (!scope.rules.checksRoom || lack <= 0) return null
  const times = [...view.room].flatMap(([node, { shortage, againAtMs }]) =>
    shortage !== null && againAtMs > view.monotonicMs && isOldNode(view, record, node) ? [againAtMs] : [],
  )
  return times.length === 0 ? null : Math.min(...times)
}
