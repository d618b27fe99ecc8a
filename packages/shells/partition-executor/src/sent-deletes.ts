import type { Permit } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { permitId } from '@tranche/fence'

/**
 * Minimum time before a refused delete is sent again, in milliseconds. Usually the watch shows the reason long before; a server that
 * refuses for another reason must not leave a permit idle forever.
 */
export const REFUSED_RECHECK_MS = 5_000

/**
 * Deletes that this process has sent and whose outcome its watch has not shown yet. Saves requests; no guarantee depends on it, because
 * preconditions reject a repeated delete.
 */
export interface SentDeletes {
  add(permit: Permit): void
  /** No response: the delete may be sent again. */
  unknown(permit: Permit): void
  /** The API server refused the delete (F5): after a while the same preconditions are sent again. */
  refused(permit: Permit, atMs: number): void
  /**
   * @returns the ids of the permits that are still pending: their pod is unchanged in the view, and no refusal is older than {@link REFUSED_RECHECK_MS}
   */
  pending(fleet: FleetView, monotonicMs: number): ReadonlySet<string>
}

/** Creates an empty memory of sent deletes. */
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
