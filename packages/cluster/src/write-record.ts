import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { recordPatch } from '@tranche/flight'
import { isInvalid, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyOf } from '@tranche/kube-types'

/**
 * Writes a permit record by compare-and-swap on uid, epoch and seq.
 *
 * @returns the BatchRelease as stored; null when it is no longer the one that was read
 */
export async function writeRecord(
  client: KubeClient,
  release: BatchRelease,
  record: FlightRecord,
  signal: AbortSignal,
): Promise<BatchRelease | null> {
  const patch = { type: 'json', body: recordPatch(release, record) } as const
  try {
    return await client.patch<BatchRelease>(resourcePaths.batchReleases, keyOf(release), patch, { subresource: 'status', signal })
  } catch (error) {
    if (isInvalid(error) || isNotFound(error)) return null
    throw error
  }
}
