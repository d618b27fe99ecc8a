import type { FlightRecord, NodeWithoutRoom } from '@tranche/api-schema'
import { compareText } from '../nodes/node-scope.ts'
import type { KnownRoom } from '../nodes/room-reading.ts'
import { type FenceState, isOldNode } from './fence-state.ts'

/** Maximum number of nodes in the record's list of nodes without room. */
const LISTED = 10

/** @returns the readings of the room on nodes in a pass */
export function knownRoom({ view, scope }: Pick<FenceState, 'view' | 'scope'>): KnownRoom {
  return { rules: scope.rules, readings: view.room, monotonicMs: view.monotonicMs }
}

/**
 * The record's list of nodes without room, as it should be: by name, the first {@link LISTED}. A node that this process has not read yet
 * stays listed while it is old, because another process may have read it.
 */
export function nodesWithoutRoom({ view, record, scope }: FenceState): readonly NodeWithoutRoom[] {
  if (!scope.rules.checksRoom) return []
  const listed = (record.noRoom ?? []).filter(({ node }) => !view.room.has(node))
  const read = [...view.room].flatMap(([node, { shortage }]) => (shortage === null ? [] : [{ node, message: shortage }]))
  return [...listed, ...read]
    .filter(({ node }) => isOldNode(view, record, node))
    .toSorted((a, b) => compareText(a.node, b.node))
    .slice(0, LISTED)
}

/** Whether two lists name the same nodes; other words about a node are not worth a write of the record. */
export function isSameList(a: FlightRecord['noRoom'] = [], b: FlightRecord['noRoom'] = []): boolean {
  return a.length === b.length && a.every(({ node }, at) => node === b[at]?.node)
}

/** When (monotonic) the first node without room is due to be read again; null without one, or while the batch lacks no node. */
export function nextRoomReadMs({ view, scope, record, lack }: FenceState): number | null {
  if (!scope.rules.checksRoom || lack <= 0) return null
  const times = [...view.room].flatMap(([node, { shortage, againAtMs }]) =>
    shortage !== null && isOldNode(view, record, node) ? [againAtMs] : [],
  )
  return times.length === 0 ? null : Math.min(...times)
}
