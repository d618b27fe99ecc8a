import type { WatchedCluster } from '@tranche/cluster'
import { isAppError } from '@tranche/errors'
import { type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
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
 * @throws {AppError} WRITE_CONFLICT if the DaemonSet has changed or is gone
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
    if (isAppError(error) && error.code === 'WRITE_CONFLICT') await readAgain({ client, overlay }, daemonSet, signal)
    throw error
  }
}

/** A failure is left to the watch. */
async function readAgain({ client, overlay }: PatchDaemonSetParts, daemonSet: DaemonSet, signal: AbortSignal): Promise<void> {
  try {
    overlay.daemonSets.learn(await client.get<DaemonSet>(resourcePaths.daemonSets, keyOf(daemonSet), { signal }))
  } catch (error) {
    if (signal.aborted) throw error
  }
}
