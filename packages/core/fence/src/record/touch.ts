import type { FlightRecord, Permit } from '@tranche/api-schema'
import { eraseTouched } from './flight-record.ts'

/**
 * What a touch says about a permit. A touch is a patch with a new random value and the pod's uid (F7).
 *
 * - `standing`: the answer has no deletionTimestamp. No delete by the permit was or will be accepted (L13).
 * - `executed`: the answer has one, or the pod is gone, by any client. The permit stays until it has settled.
 * - `unclear`: the answer says neither; touch again.
 */
export type TouchAnswer =
  | { readonly kind: 'standing'; readonly resourceVersion: string }
  | { readonly kind: 'executed' }
  | { readonly kind: 'unclear'; readonly why: string }

/** A permit whose pod was touched. */
export interface TouchedPermit {
  readonly permit: Permit
  readonly answer: TouchAnswer
}

/**
 * F7, F8: the record after the pods of its permits were touched: those of standing pods are removed. A revoked record becomes
 * stopped only when every permit in it got a clear answer (L14).
 *
 * @param touched answers for all permits of a revoked record, or for those to withdraw from an open one
 */
export function recordTouches(record: FlightRecord, touched: readonly TouchedPermit[]): FlightRecord {
  const standing = touched.flatMap(({ permit, answer }) =>
    answer.kind === 'standing' ? [{ permit, version: answer.resourceVersion }] : [],
  )
  const clear = touched.filter(({ answer }) => answer.kind !== 'unclear').length
  const complete = clear === touched.length && touched.length === record.permits.length
  return eraseTouched(
    record,
    standing.map(({ permit }) => permit),
    standing.map(({ version }) => version),
    complete,
  )
}
