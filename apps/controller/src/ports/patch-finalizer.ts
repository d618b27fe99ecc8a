import { isNotFound, type KubeClient, type ResourcePath } from '@tranche/kube-client'
import { keyOf, type KubeObject } from '@tranche/kube-types'

/** A finalizer to add (`present`) or remove. */
export interface FinalizerChange {
  readonly finalizer: string
  readonly present: boolean
  readonly signal: AbortSignal
}

/**
 * Adds or removes one finalizer, with the resourceVersion as precondition.
 *
 * @returns the object as stored; undefined if it is gone after removing the finalizer
 */
export async function patchFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: ResourcePath,
  object: T,
  { finalizer, present, signal }: FinalizerChange,
): Promise<T | undefined> {
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
  const body = { metadata: { resourceVersion: object.metadata.resourceVersion, finalizers: present ? [...others, finalizer] : others } }
  try {
    return await client.patch<T>(resource, keyOf(object), { type: 'merge', body }, { signal })
  } catch (error) {
    if (!present && isNotFound(error)) return undefined
    throw error
  }
}
