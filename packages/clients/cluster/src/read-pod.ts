import { BY_STAMPS, toFleetPod } from '@tranche/fleet'
import type { LivePod } from '@tranche/fence'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { ObjectKey, Pod } from '@tranche/kube-types'

/** Deadline of a live read in milliseconds; short, because a pass that waits for it deletes no pods. */
export const READ_DEADLINE_MS = 5_000

/**
 * Reads the current pod: a GET without a resourceVersion is answered from etcd, never from a stale cache.
 *
 * @returns null if there is no such pod, or no DaemonSet controls it
 * @throws {KubeStatusError | AppError} no clear response came
 */
export async function readPod(client: KubeClient, key: ObjectKey, signal: AbortSignal): Promise<LivePod | null> {
  try {
    const pod = await client.get<Pod>(resourcePaths.pods, key, { signal, deadlineMs: READ_DEADLINE_MS })
    return toFleetPod(pod, undefined, BY_STAMPS)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** @returns what was read; null if the object does not exist */
export async function readOrNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
