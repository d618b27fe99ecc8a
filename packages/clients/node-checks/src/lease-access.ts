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
  /** Records why the Lease of the node could not be written. */
  failed(node: string, message: string): void
  /** Records that the Lease of the node was written. */
  written(node: string): void
  /** @returns that reason for a minute; then null, and the Lease is written again. Without it, a node would get a permit for each attempt */
  failureOn(node: string): string | null
  /** Whether the Lease of any node could not be written lately, and has not been written since: that of another one may fail as well. */
  mayFail(): boolean
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

/** Time after which a failure says nothing any more, in milliseconds: its node is not asked about. */
const FORGOTTEN_AFTER_MS = 600_000

/** @param reason of nodes whose Leases cannot be read */
export function createLeaseAccess(clock: Clock, reason: BlockedReason): LeaseAccess {
  const failures = new Map<string, { readonly message: string; readonly atMs: number }>()
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
    failed(node, message) {
      failures.set(node, { message, atMs: clock.monotonicMs() })
    },
    written: (node) => void failures.delete(node),
    failureOn(node) {
      const failure = failures.get(node)
      return failure !== undefined && clock.monotonicMs() - failure.atMs < FAILED_AGAIN_MS ? failure.message : null
    },
    mayFail() {
      for (const [node, { atMs }] of failures) if (clock.monotonicMs() - atMs >= FORGOTTEN_AFTER_MS) failures.delete(node)
      return failures.size > 0
    },
  }
}
