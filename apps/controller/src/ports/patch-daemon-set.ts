import type { WatchedCluster } from '@tranche/cluster'
import { type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { patchOrRejection } from './patch-or-conflict.ts'

/** Dependencies of {@link patchDaemonSet}. */
export interface PatchDaemonSetParts {
  readonly client: KubeClient
  readonly overlay: WatchedCluster['overlay']
}

/**
 * Sends a JSON Patch that tests the DaemonSet as read. Lost races are common, because its controller writes the status at any moment.
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
  const stored = await patchOrRejection(client, resourcePaths.daemonSets, daemonSet, patch, {
    signal,
    learn: (live) => overlay.daemonSets.learn(live),
    isSame: ({ metadata }) => metadata.resourceVersion === daemonSet.metadata.resourceVersion,
  })
  overlay.daemonSets.learn(stored)
  return stored
}
