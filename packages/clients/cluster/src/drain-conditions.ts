import { cordonMarkOf, drainConditionPatch, type DrainedPermit, noDrainConditionPatch, type NodeStatusPatch } from '@tranche/drain'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { fieldManagers, type Node } from '@tranche/kube-types'
import { type NodeWrite, readNodeOrNull, writtenNode } from './node-writes.ts'
import { READ_DEADLINE_MS } from './read-pod.ts'

/** Attempts to set a condition in one look: kubelets change nodes as well. A later look tries again. */
const MOST_ATTEMPTS = 2

/**
 * Sets the condition of a drain on a node that has the mark of its permit. The write rests on the node as it was read, so none comes after the
 * undo of the mark. Sends nothing if the node has the condition, or that of another program.
 *
 * @param node as it was read or written last
 * @param nowMs epoch milliseconds
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function setCondition(
  client: KubeClient,
  node: Node,
  drained: DrainedPermit,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  let read: Node | null = node
  for (let attempt = 1; read !== null; attempt++) {
    const patch = drainConditionPatch(read, drained, now)
    if (patch === null || (await patchStatus(client, read, patch, signal)) !== 'changed' || attempt === MOST_ATTEMPTS) return
    read = await readNodeOrNull(client, node.metadata.name, signal)
  }
}

/**
 * Removes the condition of a drain, if the node has one of an executor.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects the request, or gives no clear response
 */
export async function clearCondition(client: KubeClient, node: Node, signal: AbortSignal): Promise<NodeWrite> {
  const patch = noDrainConditionPatch(node)
  return patch === null ? node : patchStatus(client, node, patch, signal)
}

/**
 * Removes the condition of a drain from a node without a mark: its removal failed when the drain was undone.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function removeLeftCondition(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const node = await readNodeOrNull(client, name, signal)
  const mark = node === null ? null : cordonMarkOf(node)
  // An unreadable mark leads no executor to the node.
  if (node !== null && (mark === null || mark === undefined)) await clearCondition(client, node, signal)
}

function patchStatus(client: KubeClient, { metadata }: Node, body: NodeStatusPatch, signal: AbortSignal): Promise<NodeWrite> {
  const options = { subresource: 'status', signal, deadlineMs: READ_DEADLINE_MS, fieldManager: fieldManagers.executor }
  return writtenNode(client.patch<Node>(resourcePaths.nodes, { namespace: '', name: metadata.name }, { type: 'strategic', body }, options))
}
