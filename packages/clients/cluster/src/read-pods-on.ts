import { type CallOptions, type KubeClient, type ListOptions, resourcePaths } from '@tranche/kube-client'
import type { Pod } from '@tranche/kube-types'
import { READ_DEADLINE_MS } from './read-pod.ts'

/**
 * Reads all pods that are bound to a node, of every namespace.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects the request, or gives no clear response
 */
export async function readPodsOn(
  client: KubeClient,
  node: string,
  options: Pick<ListOptions<Pod>, 'mayBeOld'> & Pick<CallOptions, 'signal'>,
): Promise<readonly Pod[]> {
  const fieldSelector = `spec.nodeName=${node}`
  return (await client.list<Pod>(resourcePaths.pods, { ...options, fieldSelector, deadlineMs: READ_DEADLINE_MS })).items
}
