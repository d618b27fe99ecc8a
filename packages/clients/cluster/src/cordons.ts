import type { BatchRelease, Permit } from '@tranche/api-schema'
import {
  type CordonMark,
  cordonMarkOf,
  type CordonStep,
  cordonStep,
  type DrainedPermit,
  type NodePatch,
  uncordonPatch,
} from '@tranche/drain'
import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { READ_DEADLINE_MS } from './read-pod.ts'

/** Attempts to change a node that kubelets and others change as well. */
const MOST_ATTEMPTS = 5

/**
 * Marks and cordons a node for a permit, by a write that rests on the node as it was read.
 *
 * @returns null once the node is marked, or is gone; else the release that drains it
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function cordonNode(
  client: KubeClient,
  name: string,
  drained: DrainedPermit,
  signal: AbortSignal,
): Promise<CordonMark | null> {
  const taken = await changeNode(client, name, signal, async (node) => {
    const step: CordonStep = cordonStep(node, drained)
    if (step.kind === 'mark') return step.patch
    return step.kind === 'taken' ? step.by : null
  })
  return taken
}

/** Permits that the caller knows to be over. */
export type SettledPermits = readonly Pick<Permit, 'podUid' | 'podResourceVersion'>[]

/**
 * Removes the mark of a node whose permit is over, and makes the node schedulable if an executor had cordoned it. It reads the record of
 * the mark live, so a permit that the caller has not seen yet keeps its cordon. A later permit has another mark, on which this write fails.
 *
 * @param settled permits of the node that are over, though the record may still have them
 * @returns whether the node has no mark any more
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function uncordonNode(client: KubeClient, name: string, settled: SettledPermits, signal: AbortSignal): Promise<boolean> {
  const kept = await changeNode(client, name, signal, async (node) => {
    const mark = cordonMarkOf(node)
    if (mark === null || mark === undefined) return null
    return (await isOver(client, mark, settled, signal)) ? uncordonPatch(node) : mark
  })
  return kept === null
}

async function isOver(client: KubeClient, mark: CordonMark, settled: SettledPermits, signal: AbortSignal): Promise<boolean> {
  const release = await readOrNull<BatchRelease>(client.get(resourcePaths.batchReleases, mark, { signal, deadlineMs: READ_DEADLINE_MS }))
  if (release?.metadata.uid !== mark.uid) return true
  const isMarked = (one: SettledPermits[number]): boolean =>
    one.podUid === mark.podUid && one.podResourceVersion === mark.podResourceVersion
  return settled.some(isMarked) || !(release.status?.flight?.permits ?? []).some(isMarked)
}

/**
 * Reads a node and patches it as `decide` says, again if it has changed meanwhile. Ends with the mark that `decide` returns, or with null
 * where there is nothing to change.
 */
async function changeNode(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
  decide: (node: Node) => Promise<NodePatch | CordonMark | null>,
): Promise<CordonMark | null> {
  for (let attempt = 1; ; attempt++) {
    const limits = { signal, deadlineMs: READ_DEADLINE_MS }
    const node = await readOrNull<Node>(client.get(resourcePaths.nodes, { namespace: '', name }, limits))
    const decision = node === null ? null : await decide(node)
    if (decision === null || !('metadata' in decision)) return decision
    try {
      await client.patch<Node>(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: decision }, limits)
      return null
    } catch (error) {
      if (isNotFound(error)) return null
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

async function readOrNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
