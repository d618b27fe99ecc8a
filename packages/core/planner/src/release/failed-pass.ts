import type { BatchRelease, BatchReleaseSpec, FlightRecord } from '@tranche/api-schema'
import { revokeRecord } from '@tranche/fence'

/** Reason of the stop of a release that a controller fails to plan; its event has the same one. */
const PASS_FAILED = 'PassFailed'

/** Text of that stop. The error may quote objects, so only the log of the controller has it. */
export const PASS_FAILED_TEXT =
  'the controller repeatedly failed to plan this release and stopped it; its log says why, and the release continues after a pass that succeeds'

/**
 * G9: stops a release whose Rollout cannot be planned, because a pass that fails carries out no pause either. The next pass that succeeds
 * writes the spec again, without this hold.
 *
 * @returns the spec to write; null where the release is stopped already, or is being deleted
 */
export function specAfterFailedPasses({ metadata, spec }: BatchRelease): BatchReleaseSpec | null {
  if (metadata.deletionTimestamp !== undefined || spec.tranche?.hold !== undefined) return null
  const hold = { reason: PASS_FAILED, id: PASS_FAILED, message: PASS_FAILED_TEXT }
  return { ...spec, tranche: { ...spec.tranche, paused: true, hold } }
}

/**
 * F8: revokes the record of a BatchRelease that cannot be planned. Its permits stay unusable until a pass that succeeds touches their pods
 * and opens the record again.
 *
 * @returns the record to write; null where no executor may use it already
 */
export function recordAfterFailedPasses({ metadata, status }: BatchRelease): FlightRecord | null {
  const record = status?.flight
  return record?.state === 'open' ? revokeRecord(record, [{ reason: PASS_FAILED, id: metadata.uid }]) : null
}
