import type { BlockedReason } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { NodeCheck } from '@tranche/fence'
import { blocked } from './check.ts'

/** What one process knows of its access to the Leases of a check. */
export interface LeaseAccess {
  /**
   * @returns null once the Leases are read. Else the answer for every node: the first list takes a moment after the start of a process, and is
   *   reported once it takes longer
   */
  unread(leases: ReadableLeases): NodeCheck | null
  /** Records why a Lease could not be written. @param lease its name, or that of its node where a node has one */
  failed(lease: string, message: string): void
  /** Records that a Lease was written. */
  written(lease: string): void
  /** @returns that reason for a minute; then null, and the Lease is written again. Without it, a node would get a permit for each attempt */
  failureOn(lease: string): string | null
  /** Whether the last attempt to write this Lease failed, or that of another one did in the last ten minutes, and none was written since. */
  mayFail(lease: string): boolean
}

/** Leases of one namespace, from a watch. */
export interface ReadableLeases {
  readonly namespace: string
  isSynced(): boolean
}

/** Delay if the record or the Lease has changed meanwhile, in milliseconds. */
export const CHANGED_AGAIN_MS = 1_000

/** Time after which Leases that cannot be read are reported, in milliseconds. */
const UNREAD_MS = 30_000

/** Delay before a node is asked again while they cannot be read, in milliseconds. That costs no request. */
const UNREAD_AGAIN_MS = 15_000

/** Delay before a Lease that could not be written is written again, in milliseconds. */
const FAILED_AGAIN_MS = 60_000

/** Time after which a failure says nothing about other Leases, in milliseconds. */
const FORGOTTEN_AFTER_MS = 600_000

/** @param reason of nodes whose Leases cannot be read */
export function createLeaseAccess(clock: Clock, reason: BlockedReason): LeaseAccess {
  /** By name of a Lease. */
  const failures = new Map<string, { readonly message: string; readonly atMs: number }>()
  let writtenAtMs = Number.NEGATIVE_INFINITY
  /** Since when (monotonic) the Leases have not been read; null if they are. */
  let unreadFromMs: number | null = null
  return {
    unread(leases) {
      const nowMs = clock.monotonicMs()
      unreadFromMs = leases.isSynced() ? null : (unreadFromMs ?? nowMs)
      if (unreadFromMs === null) return null
      if (nowMs - unreadFromMs < UNREAD_MS) return { kind: 'pending', againInMs: CHANGED_AGAIN_MS }
      return { ...blocked(reason, `the Leases of namespace ${leases.namespace} cannot be read`), againInMs: UNREAD_AGAIN_MS }
    },
    failed(lease, message) {
      const nowMs = clock.monotonicMs()
      for (const [known, { atMs }] of failures) if (nowMs - atMs >= FORGOTTEN_AFTER_MS) failures.delete(known)
      failures.set(lease, { message, atMs: nowMs })
    },
    written(lease) {
      failures.delete(lease)
      writtenAtMs = clock.monotonicMs()
    },
    failureOn(lease) {
      const failure = failures.get(lease)
      return failure !== undefined && clock.monotonicMs() - failure.atMs < FAILED_AGAIN_MS ? failure.message : null
    },
    mayFail(lease) {
      const sinceMs = Math.max(writtenAtMs, clock.monotonicMs() - FORGOTTEN_AFTER_MS)
      return failures.has(lease) || [...failures.values()].some(({ atMs }) => atMs > sinceMs)
    },
  }
}
