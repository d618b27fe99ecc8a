import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { recordPatch } from '@tranche/fence'
import { isInvalid, isNotFound, type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { keyOf, keyText } from '@tranche/kube-types'

/**
 * Writes a permit record by compare-and-swap on uid, epoch and seq.
 *
 * @param exact tests the resourceVersion of the BatchRelease too, and makes these changes in the same write
 * @returns the BatchRelease as stored; null if it has changed since it was read
 * @throws {AppError} CRD_OUTDATED if the API server dropped the record
 */
export async function writeRecord(
  client: KubeClient,
  release: BatchRelease,
  record: FlightRecord,
  signal: AbortSignal,
  exact?: readonly JsonPatchOperation[],
): Promise<BatchRelease | null> {
  const asRead = { op: 'test', path: '/metadata/resourceVersion', value: release.metadata.resourceVersion } as const
  const body = exact === undefined ? recordPatch(release, record) : [asRead, ...recordPatch(release, record), ...exact]
  const patch = { type: 'json', body } as const
  try {
    return kept(await client.patch<BatchRelease>(resourcePaths.batchReleases, keyOf(release), patch, { subresource: 'status', signal }))
  } catch (error) {
    if (isInvalid(error) || isNotFound(error)) return null
    throw error
  }
}

/** Rejects a pruned record: it permits nothing, and writing it again would not help. */
function kept(written: BatchRelease): BatchRelease {
  if (written.status?.flight !== undefined) return written
  const name = keyText(keyOf(written))
  const hint = 'Apply the CustomResourceDefinitions of this version of Tranche.'
  throw new AppError('CRD_OUTDATED', `the cluster dropped the permit record of BatchRelease ${name}`, {
    details: { batchRelease: name },
    hint,
  })
}
