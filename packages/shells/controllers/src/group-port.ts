import type { BatchRelease } from '@tranche/api-schema'
import type { Lease } from '@tranche/kube-types'
import type { GroupHolder, GroupMember } from '@tranche/planner'

/** Access to the Leases of groups (G13). Writes throw WRITE_CONFLICT if another write came first. */
export interface GroupPort {
  /** Reads a Lease from the API server itself; null if it does not exist. */
  readLease(name: string, signal: AbortSignal): Promise<Lease | null>
  /** Names the release as the holder of a Lease that has none, or which the release gives up. */
  takeLease(name: string, lease: Lease | null, release: BatchRelease, signal: AbortSignal): Promise<void>
  /** Marks a Lease whose holder may not open its record any more. */
  markLeaving(lease: Lease, signal: AbortSignal): Promise<void>
  /** Deletes a Lease in exactly this version. */
  deleteLease(lease: Lease, signal: AbortSignal): Promise<void>
  /** Reads the BatchRelease that a Lease names from the API server itself; undefined if none has this uid. */
  readHolder(holder: GroupHolder, signal: AbortSignal): Promise<GroupMember | undefined>
}
