import type { RoomReading } from '@tranche/fence'

/** Delay before a node without room is read again, in milliseconds: doubles each time, so that many such nodes cost little. */
const FIRST_AGAIN_MS = 15_000
const LONGEST_AGAIN_MS = 300_000

/** Maximum length of the words about a node: errors of proxies are pages, and the record has ten of them. */
const WORDS_MAX = 512

/**
 * Readings of the room on nodes. Saves requests; no guarantee depends on it, because a forgotten node is read again. It holds the nodes that
 * were due in the release of one revision.
 */
export interface RoomReadings {
  /** Records that a node has room (null) or what the new pod would lack, as read at `atMs` (monotonic). */
  add(node: string, shortage: string | null, atMs: number): void
  /** The record has the words of all readings so far. */
  recorded(): void
  /** @returns the readings made for this revision, by node name; those for another one are forgotten */
  of(revision: string | undefined): ReadonlyMap<string, RoomReading>
}

type Known = RoomReading & { readonly waitMs: number }

/** Creates an empty memory of readings. */
export function createRoomReadings(): RoomReadings {
  const known = new Map<string, Known>()
  let knownRevision: string | undefined
  return {
    add(node, found, atMs) {
      const before = known.get(node)
      const shortage = found === null ? null : found.slice(0, WORDS_MAX)
      const isNews = shortage !== null && (shortage !== before?.shortage || before.isNews)
      const isAgain = before !== undefined && before.shortage !== null && shortage !== null
      const waitMs = isAgain ? Math.min(LONGEST_AGAIN_MS, 2 * before.waitMs) : FIRST_AGAIN_MS
      known.set(node, { shortage, readAtMs: atMs, againAtMs: atMs + waitMs, waitMs, isNews })
    },
    recorded() {
      for (const [node, reading] of known) known.set(node, { ...reading, isNews: false })
    },
    of(revision) {
      if (revision !== knownRevision) known.clear()
      knownRevision = revision
      return known
    },
  }
}
