import { toFleetPod } from '@tranche/fleet'
import type { LivePod } from '@tranche/flight'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { ObjectKey, Pod } from '@tranche/kube-types'

/** A pass waits for a live read, and whoever waits takes no pod: one that hangs is given up early. In milliseconds. */
export const READ_DEADLINE_MS = 5_000

/**
 * Reads a pod as it is now: a GET without a resourceVersion is answered from the store itself, never from a cache that lags.
 *
 * @returns null where there is no such pod, or none that a DaemonSet controls
 * @throws {KubeStatusError | AppError} no clear answer came
 */
export async function readPod(client: KubeClient, key: ObjectKey, signal: AbortSignal): Promise<LivePod | null> {
  try {
    const pod = await client.get<Pod>(resourcePaths.pods, key, { signal, deadlineMs: READ_DEADLINE_MS })
    return toFleetPod(pod, undefined, { nowMs: 0, monotonicMs: 0 })
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
