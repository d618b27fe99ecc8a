import type { FlightRecord } from '@tranche/api-schema'
import { allowanceOf } from './flight-record.ts'

/**
 * F9: whether two looks have decided the same: both lead from the same epoch to the same allowance. The watermark is no part of it,
 * nor are the permits: pods that keep changing must not keep a release from opening.
 */
export function isSameDecision(a: FlightRecord, b: FlightRecord): boolean {
  const decided = (record: FlightRecord): string => JSON.stringify([record.state, record.epoch, record.holds, allowanceOf(record)])
  return decided(a) === decided(b)
}
