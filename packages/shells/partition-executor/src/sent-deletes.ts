import type { Permit } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { permitId } from '@tranche/flight'

/**
 * How long (ms) a refused delete is not sent again. The watch shows why long before, as a rule; a server that refuses for a
 * reason of its own must not keep a permit idle for ever.
 */
export const REFUSED_RECHECK_MS = 5_000

/**
 * Deletes this process has sent and whose outcome its own watch has not shown yet. Saves requests, guards nothing: a
 * delete sent twice is refused by its preconditions.
 */
export interface SentDeletes {
  add(permit: Permit): void
  /** No answer: it may be sent again. */
  unknown(permit: Permit): void
  /** The API server refused it (F5): what is sent again after a while are the same preconditions. */
  refused(permit: Permit, atMs: number): void
  /** @returns the ids of the permits that still matter: their pod is in the view as it was, and they were not refused a while ago */
  pending(fleet: FleetView, monotonicMs: number): ReadonlySet<string>
}

/** Builds an empty memory of sent deletes. */
export function createSentDeletes(): SentDeletes {
  const sent = new Map<string, { readonly permit: Permit; readonly refusedMs: number | null }>()
  return {
    add: (permit) => void sent.set(permitId(permit), { permit, refusedMs: null }),
    unknown: (permit) => void sent.delete(permitId(permit)),
    refused: (permit, refusedMs) => void sent.set(permitId(permit), { permit, refusedMs }),
    pending(fleet, monotonicMs) {
      for (const [id, { permit, refusedMs }] of sent) {
        const isLongAgo = refusedMs !== null && monotonicMs - refusedMs >= REFUSED_RECHECK_MS
        if (isLongAgo || !standsAsPermitted(permit, fleet)) sent.delete(id)
      }
      return new Set(sent.keys())
    },
  }
}

function standsAsPermitted(permit: Permit, fleet: FleetView): boolean {
  const pod = nodeInView(fleet, permit.node)?.pods.find(({ uid }) => uid === permit.podUid)
  return pod !== undefined && !pod.terminating && pod.resourceVersion === permit.podResourceVersion
}
