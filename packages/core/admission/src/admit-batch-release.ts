import type { BatchRelease } from '@tranche/api-schema'
import { adviseBatchRelease, checkBatchRelease, problemText } from '@tranche/validation'
import { type Admission, type AdmissionOperation, allow, isOurWrite } from './admission.ts'
import { deny } from './deny.ts'
import { isSameAsSent } from './same-json.ts'
import { withoutStatus } from './without-status.ts'

/** A write to a BatchRelease (not to its status). */
export interface BatchReleaseRequest {
  readonly operation: AdmissionOperation
  /** The stored object; null for CREATE. */
  readonly oldObject: BatchRelease | null
  /** The object to store; null for DELETE. */
  readonly newObject: BatchRelease | null
  /** `options.fieldManager` of the request; writes by Tranche itself pass. */
  readonly fieldManager?: string | undefined
}

/**
 * Decides whether a BatchRelease may be written: a hand-written one must follow the rules. One of another workload kind passes with
 * a warning. Writes that keep the spec, and writes to an object being deleted, pass.
 */
export function admitBatchRelease({ operation, oldObject, newObject, fieldManager }: BatchReleaseRequest): Admission {
  if (operation === 'DELETE' || newObject === null || newObject.metadata.deletionTimestamp !== undefined) return allow()
  if (isOurWrite(fieldManager) || (oldObject !== null && isSameAsSent(oldObject.spec, newObject.spec))) return allow()
  const { object, problems, isOversized } = checkBatchRelease(withoutStatus(newObject))
  if (object === null && isOversized !== true) return allow()
  if (problems.length > 0) return deny(`BatchRelease ${newObject.metadata.name} is invalid`, problems)
  return allow(adviseBatchRelease(newObject).map(problemText))
}
