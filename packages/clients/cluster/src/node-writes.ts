import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { READ_DEADLINE_MS, readOrNull } from './read-pod.ts'

/** The node as written; null if it is gone; `changed` if it has changed since it was read. */
export type NodeWrite = Node | null | 'changed'

/** @returns the result of a write that rests on the node as it was read */
export async function writtenNode(write: Promise<Node>): Promise<NodeWrite> {
  try {
    return await write
  } catch (error) {
    if (isNotFound(error)) return null
    if (isConflict(error)) return 'changed'
    throw error
  }
}

/** @returns the current node; null if it is gone */
export function readNodeOrNull(client: KubeClient, name: string, signal: AbortSignal): Promise<Node | null> {
  return readOrNull(client.get(resourcePaths.nodes, { namespace: '', name }, { signal, deadlineMs: READ_DEADLINE_MS }))
}
