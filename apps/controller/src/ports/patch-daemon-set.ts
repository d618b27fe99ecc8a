import type { WatchedCluster } from '@tranche/cluster'
import { isAppError } from '@tranche/errors'
import { isInvalid, type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, keyOf } from '@tranche/kube-types'
import { patchOrConflict } from './patch-or-conflict.ts'

/** Dependencies of {@link patchDaemonSet}. */
export interface PatchDaemonSetParts {
  readonly client: KubeClient
  readonly overlay: WatchedCluster['overlay']
}

/**
 * Sends a JSON Patch that tests the DaemonSet as read. Lost races are common, because its controller writes the status at any moment. After
 * one, the DaemonSet is read again: without that, passes would repeat the patch until the watch has caught up.
 *
 * @returns the DaemonSet as stored
 * @throws {AppError} WRITE_CONFLICT if the DaemonSet has changed or is gone; API_REFUSED if the API server rejects the content
 */
export async function patchDaemonSet(
  { client, overlay }: PatchDaemonSetParts,
  daemonSet: DaemonSet,
  patch: readonly JsonPatchOperation[],
  signal: AbortSignal,
): Promise<DaemonSet> {
  try {
    const stored = await patchOrConflict<DaemonSet>(client, resourcePaths.daemonSets, daemonSet, patch, { signal })
    overlay.daemonSets.learn(stored)
    return stored
  } catch (error) {
    if (!isAppError(error) || error.code !== 'WRITE_CONFLICT') throw error
    const live = await readAgain({ client, overlay }, daemonSet, signal)
    // Of an unchanged object no test can have failed: the content was rejected.
    const isSame =
      live !== null && live.metadata.uid === daemonSet.metadata.uid && live.metadata.resourceVersion === daemonSet.metadata.resourceVersion
    throw isSame && isInvalid(error.cause) ? error.cause : error
  }
}

/** @returns the DaemonSet as stored; null if it could not be read, which is left to the watch */
async function readAgain({ client, overlay }: PatchDaemonSetParts, daemonSet: DaemonSet, signal: AbortSignal): Promise<DaemonSet | null> {
  try {
    const live = await client.get<DaemonSet>(resourcePaths.daemonSets, keyOf(daemonSet), { signal })
    overlay.daemonSets.learn(live)
    return live
  } catch (error) {
    if (signal.aborted) throw error
    return null
  }
}
