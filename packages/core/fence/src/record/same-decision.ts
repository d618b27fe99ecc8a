import type { FlightRecord } from '@tranche/api-schema'
import { allowanceOf } from './flight-record.ts'

/**
 * F9: whether two decisions are the same: both lead from the same epoch to the same allowance. The watermark and the permits
 * do not count. See L24.
 */
export function isSameDecision(a: FlightRecord, b: FlightRecord): boolean {
  const decided = (record: FlightRecord): string => JSON.stringify([record.state, record.epoch, record.holds, allowanceOf(record)])
  return decided(a) === decided(b)
}
