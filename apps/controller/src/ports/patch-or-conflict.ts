import { AppError, isAppError } from '@tranche/errors'
import { isInvalid, isNotFound, type JsonPatchOperation, type KubeClient, type ResourcePath, type WriteOptions } from '@tranche/kube-client'
import { keyOf, keyText, type KubeObject } from '@tranche/kube-types'

/**
 * Sends a JSON Patch that starts with tests of the object as read. A 422 means that a test failed, a 404 that the object is gone: both are
 * lost races. The patch also fails if other CRDs are served that lack our status fields, because any write would drop them (F11).
 *
 * @throws {AppError} WRITE_CONFLICT if a test failed or the object is gone
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

/** What {@link patchOrRejection} needs besides the patch. */
export interface Reread<T> {
  readonly signal: AbortSignal
  /** Takes an object that was read live into the caches of this process. */
  readonly learn: (live: T) => void
  /** Whether no test of the patch can fail on the live object. */
  readonly isSame: (live: T) => boolean
}

/**
 * As {@link patchOrConflict}. After a lost race the object is read again: without that, passes would repeat the patch until the watch has caught
 * up. Of an unchanged object no test can have failed, so its content was rejected.
 *
 * @throws {AppError} WRITE_CONFLICT if the object has changed or is gone; API_REFUSED if the API server rejects the content
 */
export async function patchOrRejection<T extends KubeObject>(
  client: KubeClient,
  resource: ResourcePath,
  object: T,
  patch: readonly JsonPatchOperation[],
  { signal, learn, isSame }: Reread<T>,
): Promise<T> {
  try {
    return await patchOrConflict<T>(client, resource, object, patch, { signal })
  } catch (error) {
    if (!isAppError(error) || error.code !== 'WRITE_CONFLICT') throw error
    const live = await readAgain(client, resource, object, signal)
    if (live !== null) learn(live)
    const isUnchanged = live !== null && live.metadata.uid === object.metadata.uid && isSame(live)
    throw isUnchanged && isInvalid(error.cause) ? error.cause : error
  }
}

/** @returns the object as stored; null if it could not be read, which is left to the watch */
async function readAgain<T extends KubeObject>(
  client: KubeClient,
  resource: ResourcePath,
  object: T,
  signal: AbortSignal,
): Promise<T | null> {
  try {
    return await client.get<T>(resource, keyOf(object), { signal })
  } catch (error) {
    if (signal.aborted) throw error
    return null
  }
}

/**
 * Tests one field that only our CRDs have: the API server applies a patch to the object as decoded with the current CRD, so the test
 * fails under other CRDs. Each tested field is constant while the status has something to remember.
 */
function testsOfMemory(object: KubeObject & { readonly status?: Memory }): readonly JsonPatchOperation[] {
  const { flight, stableDigest } = object.status ?? {}
  if (flight !== undefined) return [{ op: 'test', path: '/status/flight/workloadUid', value: flight.workloadUid }]
  return stableDigest === undefined ? [] : [{ op: 'test', path: '/status/stableDigest', value: stableDigest }]
}

/** Status fields that OpenKruise's CRDs lack: `flight` of a BatchRelease, `stableDigest` of a Rollout. */
interface Memory {
  readonly flight?: { readonly workloadUid: string }
  readonly stableDigest?: string
}
