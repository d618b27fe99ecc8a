import type { Clock } from '@tranche/clock'
import { isAlreadyExists, isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Lease, ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { rejectionText } from '../rejection-text.ts'

/** Settings of a watch of Leases. */
export interface LeaseWatchOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Seed for the jitter of reconnects. @default 0 */
  readonly seed?: number
  /** Namespace of the Leases. */
  readonly namespace: string
}

/** Result of a write of a Lease. */
export type LeaseWrite =
  | { readonly kind: 'done' }
  /** Another process has written the Lease meanwhile. */
  | { readonly kind: 'changed' }
  /** The API server does not accept it: the namespace or a right is missing, or a policy rejects it. */
  | { readonly kind: 'rejected'; readonly message: string }

/** Lease to write. */
export interface LeaseToWrite {
  readonly key: ObjectKey
  /** Whether a Lease was read: the body then names its resourceVersion, and changes it. */
  readonly exists: boolean
  readonly body: { readonly metadata: object; readonly spec: object }
}

/** Creates a Lease, or changes the version that was read. One request. */
export async function writeLease(client: KubeClient, { key, exists, body }: LeaseToWrite, signal: AbortSignal): Promise<Lease> {
  const limits = { signal, deadlineMs: WRITE_DEADLINE_MS }
  if (exists) return client.patch<Lease>(resourcePaths.leases, key, { type: 'merge', body }, limits)
  const metadata = { ...body.metadata, ...key }
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: body.spec }
  return (await client.create(resourcePaths.leases, lease as never, limits)) as unknown as Lease
}

/**
 * Reads the error of {@link writeLease}.
 *
 * @param existed whether the write was to change a Lease
 * @throws the error if the API server may have accepted the write, or may accept it later
 */
export function toLeaseWrite(error: unknown, existed: boolean): LeaseWrite {
  if (isAlreadyExists(error) || isConflict(error) || (isNotFound(error) && existed)) return { kind: 'changed' }
  return { kind: 'rejected', message: rejectionText(error) }
}

/** A Lease as it was read. */
export interface LeaseVersion {
  readonly uid: string
  readonly resourceVersion: string
}

/**
 * Deletes this version of a Lease. One request.
 *
 * @returns whether it is gone; false if another process has written it
 * @throws if there is no clear response
 */
export async function deleteLease(client: KubeClient, key: ObjectKey, version: LeaseVersion, signal: AbortSignal): Promise<boolean> {
  const { uid, resourceVersion } = version
  try {
    await client.delete(resourcePaths.leases, key, { preconditions: { uid, resourceVersion }, signal, deadlineMs: WRITE_DEADLINE_MS })
    return true
  } catch (error) {
    if (isConflict(error)) return false
    if (isNotFound(error)) return true
    throw error
  }
}

/** Deadline of a write, in milliseconds; short, because a pass that waits for it deletes no pods. */
const WRITE_DEADLINE_MS = 5_000
