import { BY_STAMPS, type FleetNode, toFleetNode } from '@tranche/fleet'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Node } from '@tranche/kube-types'
import { READ_DEADLINE_MS } from './read-pod.ts'

/**
 * Reads the current nodes of these names by one request. Without a resourceVersion, a GET and a list are answered from etcd, never from a
 * stale cache.
 *
 * @returns those that exist
 * @throws {KubeStatusError | AppError} no clear response came
 */
export async function readNodes(
  client: KubeClient,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FleetNode>> {
  const [name] = names
  if (name !== undefined && names.size === 1) {
    const node = await readNode(client, name, signal)
    return new Map(node === null ? [] : [[name, node]])
  }
  const transform = (node: KubeObject): FleetNode | null =>
    names.has(node.metadata.name) ? toFleetNode(node as Node, undefined, BY_STAMPS) : null
  const { items } = await client.list<FleetNode>(resourcePaths.nodes, { transform, signal })
  return new Map(items.map((node) => [node.name, node]))
}

async function readNode(client: KubeClient, name: string, signal: AbortSignal): Promise<FleetNode | null> {
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
