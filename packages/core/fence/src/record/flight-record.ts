import type { BlockedNode, FlightRecord, Hold, Permit } from '@tranche/api-schema'
import { newerResourceVersion } from '@tranche/kube-types'
import type { Allowance, RecordedAllowance } from './allowance.ts'

/** Maximum number of permits in force, whatever maxUnavailable says; keeps the record small (F3). */
export const MAX_LIMIT = 1000

/** Number of permits a record may hold beyond its limit, so that executing the next one needs no write (F3). */
export function permitSlack(limit: number): number {
  return Math.max(8, Math.ceil(limit / 8))
}

/** Changes to the permits in one write by an executor. */
export interface PermitChange {
  /** Permits to remove: settled, left or dead (F5, F6), or withdrawn after a touch (F7). */
  readonly remove: readonly Permit[]
  /** Permits to append (F3). */
  readonly append: readonly Permit[]
  /** resourceVersion of every pod that the change rests on (F2). */
  readonly restsOn: readonly string[]
  /** New list of blocked nodes. @default that of the record */
  readonly blocked?: readonly BlockedNode[]
}

/** @returns the newest permit of each node: its `wasBad` is the one that counts */
export function lastPermits(permits: readonly Permit[]): readonly Permit[] {
  return [...new Map(permits.map((permit) => [permit.node, permit])).values()]
}

/** First record of a BatchRelease; allows nothing until it is opened. `watermark`: highest version of a live pod list (F2). */
export function createRecord(allowance: Allowance, watermark: string): FlightRecord {
  return { ...allowanceOf(allowance), epoch: 1, seq: 1, state: 'stopped', holds: [], watermark, permits: [] }
}

/** F3, F5, F6, F7: removes and appends permits in one write. The remaining ones keep their order (L4). */
export function changePermits(record: FlightRecord, change: PermitChange): FlightRecord {
  const gone = new Set(change.remove.map(permitId))
  return {
    ...record,
    seq: record.seq + 1,
    watermark: change.restsOn.reduce(newerResourceVersion, record.watermark),
    permits: [...record.permits.filter((permit) => !gone.has(permitId(permit))), ...change.append],
    ...(change.blocked !== undefined && { blocked: change.blocked }),
  }
}

/**
 * F8: whether the record is being revoked. This version still writes `voiding`: in the middle of an upgrade an earlier controller,
 * which knows no other name, may lead again. The next version writes `revoking`.
 */
export function isRevoking({ state }: Pick<FlightRecord, 'state'>): boolean {
  return state === 'voiding' || state === 'revoking'
}

/** F8: revokes the allowance. The new epoch makes every append in flight fail; permits stay until their pods are touched. See L14. */
export function revokeRecord(record: FlightRecord, holds: readonly Hold[]): FlightRecord {
  return { ...record, epoch: record.epoch + 1, seq: record.seq + 1, state: 'voiding', holds }
}

/**
 * F8: removes the `erased` permits, whose pods were touched and are standing. When `complete`, the pod of every remaining permit is
 * terminating or gone, and the record is stopped (L14).
 */
export function eraseTouched(
  record: FlightRecord,
  erased: readonly Permit[],
  versions: readonly string[],
  complete: boolean,
): FlightRecord {
  const changed = changePermits(record, { remove: erased, append: [], restsOn: versions })
  return complete && isRevoking(record) ? { ...changed, state: 'stopped' } : changed
}

/** F8, F9: replaces the holds of a stopped record. */
export function withHolds(record: FlightRecord, holds: readonly Hold[]): FlightRecord {
  return { ...record, seq: record.seq + 1, holds }
}

/**
 * F9: opens a stopped record for `allowance`. Permits executed before stay until they have settled (F11). `seen` is the
 * highest pod resourceVersion in the view of the process that opens it; executors with an older view do not act on the record
 * (F2, L16).
 */
export function openRecord(record: FlightRecord, allowance: Allowance, seen: string): FlightRecord {
  const watermark = newerResourceVersion(record.watermark, seen)
  const emptied = { ...record, ...allowanceOf(allowance), blocked: undefined }
  return { ...emptied, epoch: record.epoch + 1, seq: record.seq + 1, state: 'open', holds: [], watermark }
}

/** F9, F10: a change that only allows more, or only follows the generation; one write, no new epoch. See L9 for a lower limit. */
export function widenRecord(record: FlightRecord, allowance: RecordedAllowance): FlightRecord {
  return { ...record, ...allowanceOf(allowance), seq: record.seq + 1 }
}

/** Identity of a permit within its record: each pod version is permitted once. */
export function permitId(permit: Permit): string {
  return `${permit.podUid}@${permit.podResourceVersion}`
}

/** One operation of a JSON Patch. @see RFC 6902 */
export type PatchOperation =
  | { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** The BatchRelease that holds the record, as it was read. */
export interface RecordHome {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string }
  readonly status?: { readonly flight?: FlightRecord | undefined } | undefined
}

/**
 * The write of a record: a JSON Patch on `/status`. It tests the BatchRelease's uid and the epoch and seq that were read. The
 * first record has neither, so its patch tests the resourceVersion. A failed test is a 422: read and decide again. See L17.
 */
export function recordPatch(home: RecordHome, after: FlightRecord): readonly PatchOperation[] {
  const sameObject: PatchOperation = { op: 'test', path: '/metadata/uid', value: home.metadata.uid }
  const before = home.status?.flight
  if (before === undefined) {
    const asRead: PatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: home.metadata.resourceVersion }
    const parent: PatchOperation[] = home.status === undefined ? [{ op: 'add', path: '/status', value: {} }] : []
    return [sameObject, asRead, ...parent, { op: 'add', path: '/status/flight', value: after }]
  }
  return [
    sameObject,
    { op: 'test', path: '/status/flight/epoch', value: before.epoch },
    { op: 'test', path: '/status/flight/seq', value: before.seq },
    { op: 'replace', path: '/status/flight', value: after },
  ]
}

/** What a record allows, without its permits. An undefined `scope` or `outside` removes that of the record. */
export function allowanceOf<A extends RecordedAllowance>(allowance: A) {
  const { workloadUid, generation, revision, size, outside, partition, limit, scope } = allowance
  return { workloadUid, generation, revision, size: size as A['size'], outside, partition, limit, scope }
}
