import type { TouchAnswer } from '@tranche/flight'
import { isInvalid, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type Pod, TOUCHED_ANNOTATION } from '@tranche/kube-types'

/** A pod as it is touched. */
export interface TouchTarget {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * Touches a pod (F7): a merge patch with a value never used before, guarded by the uid. A patch that changes nothing
 * would not move resourceVersion, hence the value. Never throws for an answer of the server; what cannot be told is `unclear`.
 */
export async function touchPod(client: KubeClient, pod: TouchTarget, value: string, signal: AbortSignal): Promise<TouchAnswer> {
  const body = { metadata: { uid: pod.uid, annotations: { [TOUCHED_ANNOTATION]: value } } }
  try {
    const answer = await client.patch<Pod>(resourcePaths.pods, pod, { type: 'merge', body }, { signal })
    if (answer.metadata.deletionTimestamp !== undefined) return { kind: 'executed' }
    return { kind: 'standing', resourceVersion: answer.metadata.resourceVersion }
  } catch (error) {
    // 422: the uid does not match, so another pod has taken the name and ours is gone.
    if (isNotFound(error) || isUidMismatch(error)) return { kind: 'executed' }
    return { kind: 'unclear', why: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * @param identity unique among all processes that ever run
 * @returns makes values for touches, each another
 */
export function createTouchValues(identity: string): () => string {
  let count = 0
  return () => `${identity}-${++count}`
}

function isUidMismatch(error: unknown): boolean {
  return isInvalid(error) && error.causes.some((cause) => cause.field === 'metadata.uid')
}
