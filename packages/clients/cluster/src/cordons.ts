import type { BatchRelease, Permit } from '@tranche/api-schema'
import {
  type CordonMark,
  cordonMarkOf,
  type CordonStep,
  cordonStep,
  type DrainedPermit,
  isSamePermit,
  type NodePatch,
  uncordonPatch,
} from '@tranche/drain'
import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { fieldManagers, type Node } from '@tranche/kube-types'
import { READ_DEADLINE_MS, readOrNull } from './read-pod.ts'

/** Result of an attempt to cordon a node. */
export type CordonResult =
  /** The node is marked for the permit, or is gone. */
  | { readonly kind: 'done' }
  /** Another release drains the node. */
  | { readonly kind: 'taken'; readonly by: CordonMark }
  /** The node has changed since it was read. */
  | { readonly kind: 'changed' }
  /** The permit has ended. */
  | { readonly kind: 'over' }

/**
 * Marks and cordons a node for a permit, by a write that rests on the node as it was read. Before that it reads the permit live, because a
 * process that was frozen may know of one that has ended. A node with the mark of its permit needs no such read: the mark goes with the permit.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function cordonNode(client: KubeClient, name: string, drained: DrainedPermit, signal: AbortSignal): Promise<CordonResult> {
  const node = await readNodeOrNull(client, name, signal)
  if (node === null) return { kind: 'done' }
  const step: CordonStep = cordonStep(node, drained)
  if (step.kind !== 'mark') return step
  if (!(await isPermitted(client, drained, signal))) return { kind: 'over' }
  return (await patchNode(client, name, step.patch, signal)) ? { kind: 'done' } : { kind: 'changed' }
}

/**
 * Reads live whether a record is open and has the permit.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects the request, or gives no clear response
 */
export async function isPermitted(client: KubeClient, { release, permit }: DrainedPermit, signal: AbortSignal): Promise<boolean> {
  const limits = { signal, deadlineMs: READ_DEADLINE_MS }
  const { metadata, status } = (await readOrNull<BatchRelease>(client.get(resourcePaths.batchReleases, release, limits))) ?? {}
  const { state, permits = [] } = status?.flight ?? {}
  return metadata?.uid === release.uid && state === 'open' && permits.some((one) => isSamePermit(one, permit))
}

/** Attempts to change a node that kubelets and others change as well. */
const MOST_ATTEMPTS = 5

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
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const node = await readNodeOrNull(client, name, signal)
    const mark = node === null ? null : cordonMarkOf(node)
    const patch = node === null ? null : uncordonPatch(node)
    if (mark === null || mark === undefined || patch === null) return true
    if (!(await isOver(client, mark, settled, signal))) return false
    if (await patchNode(client, name, patch, signal)) return true
  }
  return false
}

async function isOver(client: KubeClient, mark: CordonMark, settled: SettledPermits, signal: AbortSignal): Promise<boolean> {
  const release = await readOrNull<BatchRelease>(client.get(resourcePaths.batchReleases, mark, { signal, deadlineMs: READ_DEADLINE_MS }))
  if (release?.metadata.uid !== mark.uid) return true
  const isMarked = (one: SettledPermits[number]): boolean => isSamePermit(one, mark)
  return settled.some(isMarked) || !(release.status?.flight?.permits ?? []).some(isMarked)
}

/** @returns false if the node has changed since the patch was made */
async function patchNode(client: KubeClient, name: string, body: NodePatch, signal: AbortSignal): Promise<boolean> {
  try {
    // The manager distinguishes this cordon from that of a user.
    const options = { signal, deadlineMs: READ_DEADLINE_MS, fieldManager: fieldManagers.executor }
    await client.patch<Node>(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body }, options)
    return true
  } catch (error) {
    if (isNotFound(error)) return true
    if (isConflict(error)) return false
    throw error
  }
}

function readNodeOrNull(client: KubeClient, name: string, signal: AbortSignal): Promise<Node | null> {
  return readOrNull(client.get(resourcePaths.nodes, { namespace: '', name }, { signal, deadlineMs: READ_DEADLINE_MS }))
}
