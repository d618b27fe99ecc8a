import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { recordPatch } from '@tranche/flight'
import { isInvalid, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyOf, keyText } from '@tranche/kube-types'

/**
 * Writes a permit record by compare-and-swap on uid, epoch and seq.
 *
 * @returns the BatchRelease as stored; null when it is no longer the one that was read
 * @throws {AppError} CRD_OUTDATED when the cluster has not kept the record
 */
export async function writeRecord(
  client: KubeClient,
  release: BatchRelease,
  record: FlightRecord,
  signal: AbortSignal,
): Promise<BatchRelease | null> {
  const patch = { type: 'json', body: recordPatch(release, record) } as const
  try {
    return kept(await client.patch<BatchRelease>(resourcePaths.batchReleases, keyOf(release), patch, { subresource: 'status', signal }))
  } catch (error) {
    if (isInvalid(error) || isNotFound(error)) return null
    throw error
  }
}

/** A record that is pruned permits nothing, and writing it again and again would help nobody. */
function kept(written: BatchRelease): BatchRelease {
  if (written.status?.flight !== undefined) return written
  const name = keyText(keyOf(written))
  const hint = 'Apply the CustomResourceDefinitions of this version of Tranche.'
  throw new AppError('CRD_OUTDATED', `the cluster has not kept the permit record of BatchRelease ${name}`, {
    details: { batchRelease: name },
    hint,
  })
}
