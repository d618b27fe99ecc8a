import { BY_STAMPS, type FleetNode, toFleetNode } from '@tranche/fleet'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { READ_DEADLINE_MS } from './read-pod.ts'

/**
 * Reads the current node: a GET without a resourceVersion is answered from etcd, never from a stale cache.
 *
 * @returns null if there is no such node
 * @throws {KubeStatusError | AppError} no clear response came
 */
export async function readNode(client: KubeClient, name: string, signal: AbortSignal): Promise<FleetNode | null> {
  try {
    return toFleetNode(
      await client.get<Node>(resourcePaths.nodes, { namespace: '', name }, { signal, deadlineMs: READ_DEADLINE_MS }),
      undefined,
      BY_STAMPS,
    )
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
