import type { BatchRelease } from '@tranche/api-schema'
import { adviseBatchRelease, checkBatchRelease, problemText } from '@tranche/validation'
import { type Admission, type AdmissionOperation, allow, isOurWrite } from './admission.ts'
import { deny } from './deny.ts'
import { isSameAsSent } from './same-json.ts'
import { withoutStatus } from './without-status.ts'

/** A write to a BatchRelease (not to its status). */
export interface BatchReleaseRequest {
  readonly operation: AdmissionOperation
  /** What is stored; null for CREATE. */
  readonly oldObject: BatchRelease | null
  /** What would be stored; null for DELETE. */
  readonly newObject: BatchRelease | null
  /** `options.fieldManager` of the request; our own writes pass. */
  readonly fieldManager?: string | undefined
}

/**
 * Decides whether a BatchRelease may be written: one that a person wrote has to be in order. One of another workload kind
 * passes with a warning; so does everything that leaves the spec as it is, and everything on one that is going.
 */
export function admitBatchRelease({ operation, oldObject, newObject, fieldManager }: BatchReleaseRequest): Admission {
  if (operation === 'DELETE' || newObject === null || newObject.metadata.deletionTimestamp !== undefined) return allow()
  if (isOurWrite(fieldManager) || (oldObject !== null && isSameAsSent(oldObject.spec, newObject.spec))) return allow()
  const { object, problems } = checkBatchRelease(withoutStatus(newObject))
  if (object === null) return allow()
  if (problems.length > 0) return deny(`BatchRelease ${newObject.metadata.name} cannot be carried out`, problems)
  return allow(adviseBatchRelease(newObject).map(problemText))
}
