import type { NodeScope } from './node-scope.ts'

/** Result of reading whether a node has room for the new pod once the old one is gone. */
export interface RoomReading {
  /** Null if there is room; otherwise what the new pod would lack, or why that is unknown. */
  readonly shortage: string | null
  /** Monotonic time of the reading. */
  readonly readAtMs: number
  /** Monotonic time from which a node without room is read again before it gets a permit. */
  readonly againAtMs: number
  /** Whether its words are not in the record yet, as far as this process knows. Each reading changes the words at most once. */
  readonly isNews: boolean
}

/** Age up to which a reading decides on a deletion, in milliseconds: other pods come and go on the node. */
export const ROOM_CURRENT_MS = 10_000

/** Age up to which a reading decides on a permit, in milliseconds. The node is read again before its pod is deleted. */
const ROOM_RECENT_MS = 60_000

/** Readings of the room on nodes, and whether the policy asks for them. */
export interface KnownRoom {
  readonly rules: Pick<NodeScope, 'checksRoom'>
  /** By node name. */
  readonly readings: ReadonlyMap<string, RoomReading>
  readonly monotonicMs: number
}

/** Whether a node may get no permit for now: it had no room when it was last read, and is not yet due to be read again. */
export function lacksRoom({ rules, readings, monotonicMs }: KnownRoom, node: string): boolean {
  const reading = rules.checksRoom ? readings.get(node) : undefined
  return reading !== undefined && reading.shortage !== null && monotonicMs < reading.againAtMs
}

/** Whether a current reading says that the node of a permit has no room; such a permit is withdrawn (F7). */
export function lacksRoomNow({ rules, readings, monotonicMs }: KnownRoom, node: string): boolean {
  const reading = rules.checksRoom ? readings.get(node) : undefined
  return reading !== undefined && reading.shortage !== null && monotonicMs - reading.readAtMs < ROOM_CURRENT_MS
}

/** Whether the pod of a permit may be deleted as far as room is concerned. */
export function hasRoomNow({ rules, readings, monotonicMs }: KnownRoom, node: string): boolean {
  if (!rules.checksRoom) return true
  const reading = readings.get(node)
  return reading !== undefined && reading.shortage === null && monotonicMs - reading.readAtMs < ROOM_CURRENT_MS
}

/** Whether a node must be read before it gets a permit. */
export function isRoomUnknown({ rules, readings, monotonicMs }: KnownRoom, node: string): boolean {
  if (!rules.checksRoom) return false
  const reading = readings.get(node)
  return reading === undefined || reading.shortage !== null || monotonicMs - reading.readAtMs >= ROOM_RECENT_MS
}
