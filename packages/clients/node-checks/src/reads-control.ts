import type { BatchRelease } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import { isInCharge } from '@tranche/planner'

/** Name of a BatchRelease, and the uid by which it is known. */
interface KnownRelease {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Time limit of a read in milliseconds. */
const DEADLINE_MS = 5_000

/**
 * Reads live whether a BatchRelease controls its DaemonSet. A DaemonSet that does not name its release yet, in a watch that is behind, looks
 * like one that does not name it any more.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function readsControl(client: KubeClient, { namespace, name, uid }: KnownRelease, signal: AbortSignal): Promise<boolean> {
  async function find<T extends KubeObject>(
    path: (typeof resourcePaths)[keyof typeof resourcePaths],
    named: string,
  ): Promise<T | undefined> {
    // Executors may list these objects, but not get them.
    const options = { namespace, fieldSelector: `metadata.name=${named}`, signal, deadlineMs: DEADLINE_MS }
    return (await client.list<T>(path, options)).items[0]
  }
  const release = await find<BatchRelease>(resourcePaths.batchReleases, name)
  const workload = release?.spec.workloadRef?.name
  if (release?.metadata.uid !== uid || workload === undefined) return false
  return isInCharge({ release }, await find<DaemonSet>(resourcePaths.daemonSets, workload))
}
