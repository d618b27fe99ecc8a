import type { FlightRecord } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { permitId } from '@tranche/flight'

/**
 * Deletes this process has sent and whose outcome its own watch has not shown yet. Saves requests, guards nothing: a
 * delete sent twice is refused by its preconditions.
 */
export interface SentDeletes {
  add(id: string): void
  /** No answer: it may be sent again. */
  unknown(id: string): void
  /** @returns those that still matter: their permit stands in the record and their pod in the view as it was */
  pending(record: FlightRecord | undefined, fleet: FleetView): ReadonlySet<string>
}

/** Builds an empty memory of sent deletes. */
export function createSentDeletes(): SentDeletes {
  const ids = new Set<string>()
  return {
    add: (id) => void ids.add(id),
    unknown: (id) => void ids.delete(id),
    pending(record, fleet) {
      const standing = new Set((record?.permits ?? []).filter((permit) => standsAsPermitted(permit, fleet)).map(permitId))
      for (const id of ids) if (!standing.has(id)) ids.delete(id)
      return ids
    },
  }
}

function standsAsPermitted(permit: FlightRecord['permits'][number], fleet: FleetView): boolean {
  const pod = nodeInView(fleet, permit.node)?.pods.find(({ uid }) => uid === permit.podUid)
  return pod !== undefined && !pod.terminating && pod.resourceVersion === permit.podResourceVersion
}
