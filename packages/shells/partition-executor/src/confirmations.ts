import type { FlightRecord, Permit } from '@tranche/api-schema'
import { permitId, type Confirmation } from '@tranche/fence'

/** First retry delay of an inconclusive read of a pod or node, in milliseconds; doubles each time to avoid a storm. */
const FIRST_AGAIN_MS = 1_000
const LONGEST_AGAIN_MS = 30_000

/**
 * Results of live reads of pods that only the clock made available, and of nodes that the cache did not have (F6). Saves requests; no
 * guarantee depends on it, because forgotten results are read again. It holds at most the permits of one record.
 */
export interface Confirmations {
  /** Records that a live read showed these permits as settled or left. */
  confirmed(permits: readonly Permit[]): void
  /**
   * Records that the live read at `atMs` (monotonic) of the node of these permits, or of its pod at `podVersion` in the cache, was
   * inconclusive.
   */
  open(permits: readonly Permit[], podVersion: string | null, atMs: number): void
  /** @returns what is known of the permits in `record`, by permit id; everything else is forgotten */
  of(record: FlightRecord | undefined): ReadonlyMap<string, Confirmation>
}

type Known = Confirmation & { readonly waitMs: number }

/** Creates an empty memory of reads. */
export function createConfirmations(): Confirmations {
  const known = new Map<string, Known>()
  return {
    confirmed(permits) {
      for (const permit of permits) known.set(permitId(permit), { kind: 'confirmed', waitMs: 0 })
    },
    open(permits, podVersion, atMs) {
      for (const id of permits.map(permitId)) {
        const waitMs = Math.min(LONGEST_AGAIN_MS, 2 * (known.get(id)?.waitMs ?? FIRST_AGAIN_MS / 2))
        known.set(id, { kind: 'open', podVersion, againAtMs: atMs + waitMs, waitMs })
      }
    },
    of(record) {
      if (known.size === 0) return known
      const permitted = new Set(record?.permits.map(permitId))
      for (const id of known.keys()) if (!permitted.has(id)) known.delete(id)
      return known
    },
  }
}
