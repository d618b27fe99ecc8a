import type { BatchRelease, FlightRecord } from '@tranche/api-schema'

/**
 * When a release began: pods of its revision that are no older belong to it. It survives the BatchRelease that began it (F11).
 *
 * @returns RFC 3339 by the clock of the API server; undefined for an object that is not stored
 */
export function begunAt({ metadata, status }: Partial<Pick<BatchRelease, 'metadata' | 'status'>>): string | undefined {
  return status?.flight?.begunAt ?? metadata?.creationTimestamp
}

/**
 * F11: the record of a BatchRelease that continues a release begun at `at` (RFC 3339): one of an earlier BatchRelease, or its own, whose record
 * was lost.
 */
export function continueSince(record: FlightRecord, at: string): FlightRecord {
  return { ...record, seq: record.seq + 1, begunAt: at }
}
