import { AppError } from '@tranche/errors'
import { isInvalid, isNotFound, type JsonPatchOperation, type KubeClient, type ResourcePath, type WriteOptions } from '@tranche/kube-client'
import { keyOf, keyText, type KubeObject } from '@tranche/kube-types'

/**
 * Sends a JSON Patch that begins with tests of what was read. A 422 means that a test failed, a 404
 * that the object is gone: both are lost races.
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
    return await client.patch<T>(resource, keyOf(object), { type: 'json', body: patch }, options)
  } catch (error) {
    if (!isInvalid(error) && !isNotFound(error)) throw error
    const details = { object: keyText(keyOf(object)), resourceVersion: object.metadata.resourceVersion }
    throw new AppError('WRITE_CONFLICT', `${resource.plural} ${details.object} changed since it was read: ${error.message}`, {
      details,
      cause: error,
    })
  }
}
