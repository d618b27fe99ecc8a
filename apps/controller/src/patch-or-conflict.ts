import { AppError } from '@tranche/errors'
import { isInvalid, isNotFound, type JsonPatchOperation, type KubeClient, type ResourcePath, type WriteOptions } from '@tranche/kube-client'
import { keyOf, keyText, type KubeObject } from '@tranche/kube-types'

/**
 * Sends a JSON Patch that begins with tests of what was read. A 422 means that a test failed, a 404
 * that the object is gone: both are lost races. Nothing is written, either, where other definitions have come that do not know what the
 * status remembers: they would drop it with any write (F11).
 *
 * @throws {AppError} WRITE_CONFLICT when a test failed or the object is gone
 */
export async function patchOrConflict<T>(
  client: KubeClient,
  resource: ResourcePath,
  object: KubeObject,
  patch: readonly JsonPatchOperation[],
  options: WriteOptions,
): Promise<T> {
  try {
    return await client.patch<T>(resource, keyOf(object), { type: 'json', body: [...testsOfMemory(object), ...patch] }, options)
  } catch (error) {
    if (!isInvalid(error) && !isNotFound(error)) throw error
    const details = { object: keyText(keyOf(object)), resourceVersion: object.metadata.resourceVersion }
    throw new AppError('WRITE_CONFLICT', `${resource.plural} ${details.object} changed since it was read: ${error.message}`, {
      details,
      cause: error,
    })
  }
}

/**
 * A read shows an object by the definition of the moment, also to the patch that is applied to it: a field that only ours know tells whether
 * they still stand. Each of these is the same for as long as there is something to remember.
 */
function testsOfMemory(object: KubeObject & { readonly status?: Memory }): readonly JsonPatchOperation[] {
  const { flight, stableDigest } = object.status ?? {}
  if (flight !== undefined) return [{ op: 'test', path: '/status/flight/workloadUid', value: flight.workloadUid }]
  return stableDigest === undefined ? [] : [{ op: 'test', path: '/status/stableDigest', value: stableDigest }]
}

/** What of a status OpenKruise's definitions do not know: of a BatchRelease and of a Rollout. */
interface Memory {
  readonly flight?: { readonly workloadUid: string }
  readonly stableDigest?: string
}
