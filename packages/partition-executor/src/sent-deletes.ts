import type { Permit } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { permitId } from '@tranche/flight'

/**
 * Deletes this process has sent and whose outcome its own watch has not shown yet. Saves requests, guards nothing: a
 * delete sent twice is refused by its preconditions.
 */
export interface SentDeletes {
  add(permit: Permit): void
  /** No answer: it may be sent again. */
  unknown(permit: Permit): void
  /** @returns the ids of the permits that still matter: their pod is in the view as it was */
  pending(fleet: FleetView): ReadonlySet<string>
}

/** Builds an empty memory of sent deletes. */
export function createSentDeletes(): SentDeletes {
  const sent = new Map<string, Permit>()
  return {
    add: (permit) => void sent.set(permitId(permit), permit),
    unknown: (permit) => void sent.delete(permitId(permit)),
    pending(fleet) {
      for (const [id, permit] of sent) if (!standsAsPermitted(permit, fleet)) sent.delete(id)
      return new Set(sent.keys())
    },
  }
}

function standsAsPermitted(permit: Permit, fleet: FleetView): boolean {
  const pod = nodeInView(fleet, permit.node)?.pods.find(({ uid }) => uid === permit.podUid)
  return pod !== undefined && !pod.terminating && pod.resourceVersion === permit.podResourceVersion
}
