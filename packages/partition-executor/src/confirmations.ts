import type { FlightRecord, Permit } from '@tranche/api-schema'
import { permitId } from '@tranche/flight'
import type { Confirmation, PodToConfirm } from '@tranche/planner'

/** How soon a pod is read again that was read in vain, in milliseconds: doubled each time, so that no failure becomes a storm. */
const FIRST_AGAIN_MS = 1_000
const LONGEST_AGAIN_MS = 30_000

/**
 * What this process has read of pods that only the clock made available (F6). Saves requests, guards nothing: what is
 * forgotten is read again. It holds no more than the permits of one record.
 */
export interface Confirmations {
  /** A live read has shown that these permits have settled. */
  confirmed(permits: readonly Permit[]): void
  /** The pod was read in vain at `atMs` (monotonic). */
  open(asked: PodToConfirm, atMs: number): void
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
    open({ pod, permits }, atMs) {
      for (const id of permits.map(permitId)) {
        const waitMs = Math.min(LONGEST_AGAIN_MS, 2 * (known.get(id)?.waitMs ?? FIRST_AGAIN_MS / 2))
        known.set(id, { kind: 'open', podVersion: pod.resourceVersion, againAtMs: atMs + waitMs, waitMs })
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
