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
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { fieldManagers, type Node, type Pod } from '@tranche/kube-types'
import { clearCondition } from './drain-conditions.ts'
import { type NodeWrite, readNodeOrNull, writtenNode } from './node-writes.ts'
import { READ_DEADLINE_MS, readOrNull } from './read-pod.ts'

/** Result of an attempt to cordon a node. */
export type CordonResult =
  /** The node is marked for the permit. `node`: as it is now; null if it is gone. */
  | { readonly kind: 'done'; readonly node: Node | null }
  /** Another release drains the node. */
  | { readonly kind: 'taken'; readonly by: CordonMark }
  /** The node has changed since it was read. */
  | { readonly kind: 'changed' }
  /** The permit has ended. */
  | { readonly kind: 'over' }

/** Why a node is cordoned. */
export interface NodeToCordon {
  readonly drained: DrainedPermit
  /** Whether a user made the node schedulable during its drain for an earlier permit. */
  readonly isYielded: boolean
}

/**
 * Marks and cordons a node for a permit, by a write that rests on the node as it was read. Before that it reads the permit live, because a
 * process that was frozen may know of one that has ended. A node with the mark of its permit needs no such read: the mark goes with the permit.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function cordonNode(
  client: KubeClient,
  name: string,
  { drained, isYielded }: NodeToCordon,
  signal: AbortSignal,
): Promise<CordonResult> {
  const node = await readNodeOrNull(client, name, signal)
  if (node === null) return { kind: 'done', node }
  const step: CordonStep = cordonStep(node, drained, isYielded)
  if (step.kind === 'taken') return step
  if (step.kind === 'done') return { kind: 'done', node }
  if (!(await isPermitted(client, drained, signal))) return { kind: 'over' }
  const marked = await patchNode(client, name, step.patch, signal)
  return marked === 'changed' ? { kind: 'changed' } : { kind: 'done', node: marked }
}

/**
 * Reads live whether a record is open and has the permit, and whether its pod is still to be deleted: a record keeps permits that another
 * executor has used.
 *
 * @throws {KubeStatusError | AppError} if the API server rejects the request, or gives no clear response
 */
export async function isPermitted(client: KubeClient, drained: DrainedPermit, signal: AbortSignal): Promise<boolean> {
  const { release, permit } = drained
  const limits = { signal, deadlineMs: READ_DEADLINE_MS }
  const { metadata, status } = (await readOrNull<BatchRelease>(client.get(resourcePaths.batchReleases, release, limits))) ?? {}
  const { state, permits = [] } = status?.flight ?? {}
  const isListed = metadata?.uid === release.uid && state === 'open' && permits.some((one) => isSamePermit(one, permit))
  return isListed && (await isUnused(client, drained, signal))
}

async function isUnused(client: KubeClient, { release, permit, podName }: DrainedPermit, signal: AbortSignal): Promise<boolean> {
  if (podName === undefined) return true
  const key = { namespace: release.namespace, name: podName }
  const pod = await readOrNull<Pod>(client.get(resourcePaths.pods, key, { signal, deadlineMs: READ_DEADLINE_MS }))
  return pod?.metadata.uid === permit.podUid && pod.metadata.deletionTimestamp === undefined
}

/** Attempts to change a node that kubelets and others change as well. */
const MOST_ATTEMPTS = 5

/** Permits that the caller knows to be over. */
export type SettledPermits = readonly Pick<Permit, 'podUid' | 'podResourceVersion'>[]

/**
 * Removes the mark of a node whose permit is over, and makes the node schedulable if an executor had cordoned it. It reads the record of
 * the mark live, so a permit that the caller has not seen yet keeps its cordon. A later permit has another mark, on which this write fails.
 * The condition of the drain is removed before the mark, which leads the next attempt to it. A condition that cannot be removed keeps no cordon.
 *
 * @param settled permits of the node that are over, though the record may still have them
 * @returns whether the node has no mark any more
 * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
 */
export async function uncordonNode(client: KubeClient, name: string, settled: SettledPermits, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const node = await readNodeOrNull(client, name, signal)
    const mark = node === null ? null : cordonMarkOf(node)
    if (node === null || mark === null || mark === undefined) return true
    if (!(await isOver(client, { mark, name, settled }, signal))) return false
    const cleared = await tryToClear(client, node, signal)
    if (cleared === 'changed') continue
    const patch = cleared === null ? null : uncordonPatch(cleared)
    if (patch === null || (await patchNode(client, name, patch, signal)) !== 'changed') return true
  }
  return false
}

/** A marked node, and permits of it that are over. */
interface Marked {
  readonly mark: CordonMark
  readonly name: string
  readonly settled: SettledPermits
}

/** Where the marked permit was withdrawn, the node may have another one, whose pod was deleted and is not replaced yet. */
async function isOver(client: KubeClient, { mark, name, settled }: Marked, signal: AbortSignal): Promise<boolean> {
  const release = await readOrNull<BatchRelease>(client.get(resourcePaths.batchReleases, mark, { signal, deadlineMs: READ_DEADLINE_MS }))
  if (release?.metadata.uid !== mark.uid) return true
  const isSettled = (permit: SettledPermits[number]): boolean => settled.some((one) => isSamePermit(one, permit))
  return isSettled(mark) || (release.status?.flight?.permits ?? []).every((one) => one.node !== name || isSettled(one))
}

/** @returns the node without a condition of an executor, or as it is if that cannot be removed */
async function tryToClear(client: KubeClient, node: Node, signal: AbortSignal): Promise<NodeWrite> {
  try {
    return await clearCondition(client, node, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return node
  }
}

function patchNode(client: KubeClient, name: string, body: NodePatch, signal: AbortSignal): Promise<NodeWrite> {
  // The manager distinguishes this cordon from that of a user.
  const options = { signal, deadlineMs: READ_DEADLINE_MS, fieldManager: fieldManagers.executor }
  return writtenNode(client.patch<Node>(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body }, options))
}
