import type { TouchAnswer } from '@tranche/fence'
import { isInvalid, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type Pod, TOUCHED_ANNOTATION } from '@tranche/kube-types'

/** Fields of a pod that a touch needs. */
export interface TouchTarget {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * Touches a pod (F7): a merge patch guarded by the uid. It writes a value never used before, because a patch without a change would not
 * change the resourceVersion. Never throws for an error response; an unknown result is `unclear`.
 */
export async function touchPod(client: KubeClient, pod: TouchTarget, value: string, signal: AbortSignal): Promise<TouchAnswer> {
  const body = { metadata: { uid: pod.uid, annotations: { [TOUCHED_ANNOTATION]: value } } }
  try {
    const answer = await client.patch<Pod>(resourcePaths.pods, pod, { type: 'merge', body }, { signal })
    if (answer.metadata.deletionTimestamp !== undefined) return { kind: 'executed' }
    return { kind: 'standing', resourceVersion: answer.metadata.resourceVersion }
  } catch (error) {
    // 422: the uid does not match, so another pod has taken the name and this one is gone.
    if (isNotFound(error) || isUidMismatch(error)) return { kind: 'executed' }
    return { kind: 'unclear', why: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * @param identity unique among all processes that ever run
 * @returns a generator of touch values, each one different
 */
export function createTouchValues(identity: string): () => string {
  let count = 0
  return () => `${identity}-${++count}`
}

function isUidMismatch(error: unknown): boolean {
  return isInvalid(error) && error.causes.some((cause) => cause.field === 'metadata.uid')
}
