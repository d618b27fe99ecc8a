import type { FlightRecord, Permit } from '@tranche/api-schema'
import { permitId } from '@tranche/flight'
import type { Confirmation } from '@tranche/planner'

/** How soon a pod or node is read again that was read in vain, in milliseconds: doubled each time, so that no failure becomes a storm. */
const FIRST_AGAIN_MS = 1_000
const LONGEST_AGAIN_MS = 30_000

/**
 * What this process has read of pods that only the clock made available, and of nodes that its view did not have (F6). Saves
 * requests, guards nothing: what is forgotten is read again. It holds no more than the permits of one record.
 */
export interface Confirmations {
  /** A live read has shown that these permits have settled, or left. */
  confirmed(permits: readonly Permit[]): void
  /** The node of these permits, or its pod, which was of `podVersion` in our view, was read in vain at `atMs` (monotonic). */
  open(permits: readonly Permit[], podVersion: string | null, atMs: number): void
  /** @returns what is known of the permits in `record`, by permit id; all else is forgotten */
  of(record: FlightRecord | undefined): ReadonlyMap<string, Confirmation>
}

type Known = Confirmation & { readonly waitMs: number }

/** Builds an empty memory of reads. */
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
