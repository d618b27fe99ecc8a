import type { Rollout } from '@tranche/api-schema'
import { isForbidden, isNotFound, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, daemonSetAnnotations, type ObjectKey, revisionsOf } from '@tranche/kube-types'
import { targetOf, type ActionFacts, type ActionTarget } from '@tranche/actions'
import { selectorText } from './selector-text.ts'
import type { ActionOrder } from './action-order.ts'

/** Limits of a read. */
export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of each request, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Reads the objects that an action is judged by, from the API server and not from a watch. */
export async function readActionFacts(
  client: KubeClient,
  order: Pick<ActionOrder, 'on' | 'key' | 'type' | 'idempotencyKey' | 'dryRun'>,
  options: ReadOptions,
): Promise<Omit<ActionFacts, 'nowMs'>> {
  if (order.on === 'DaemonSet') return factsOfDaemonSet(client, order, options)
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, order.key, options)
  // The same Idempotency-Key may be on the record of the other object.
  const asksDaemonSet = targetOf(order.type) === 'DaemonSet' || order.idempotencyKey !== undefined
  if (rollout !== undefined && order.type === 'abort' && order.dryRun === true) return previewFacts(client, rollout, options)
  if (rollout === undefined || !asksDaemonSet) return { on: 'Rollout', rollout, daemonSet: undefined, revisions: [] }
  const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workloadKey(rollout), options)
  const revisions = order.type === 'undo' ? await readRevisions(client, daemonSet, options) : []
  return { on: 'Rollout', rollout, daemonSet, revisions }
}

/** With the revisions, which say what an abort changes back. A user who may not read them can abort nevertheless. */
async function previewFacts(client: KubeClient, rollout: Rollout, options: ReadOptions): Promise<Omit<ActionFacts, 'nowMs'>> {
  try {
    const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workloadKey(rollout), options)
    return { on: 'Rollout', rollout, daemonSet, revisions: await readRevisions(client, daemonSet, options) }
  } catch (error) {
    if (isForbidden(error)) return { on: 'Rollout', rollout, daemonSet: undefined, revisions: [] }
    throw error
  }
}

/** Namespace and name of the workload of a Rollout. */
export function workloadKey({ metadata, spec }: Rollout): ObjectKey {
  return { namespace: metadata.namespace ?? '', name: spec.workloadRef.name }
}

async function factsOfDaemonSet(
  client: KubeClient,
  { key, type }: Pick<ActionOrder, 'key' | 'type'>,
  options: ReadOptions,
): Promise<Omit<ActionFacts, 'nowMs'>> {
  const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, key, options)
  const name = daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout]
  const rollout = name === undefined ? undefined : await getOrNone<Rollout>(client, resourcePaths.rollouts, { ...key, name }, options)
  return { on: 'DaemonSet', rollout, daemonSet, revisions: type === 'undo' ? await readRevisions(client, daemonSet, options) : [] }
}

/** ControllerRevisions that a DaemonSet owns; none without a DaemonSet. */
export async function readRevisions(
  client: KubeClient,
  daemonSet: DaemonSet | undefined,
  options: ReadOptions,
): Promise<readonly ControllerRevision[]> {
  if (daemonSet === undefined) return []
  const { namespace = '' } = daemonSet.metadata
  const scope = { namespace, labelSelector: selectorText(daemonSet.spec.selector) }
  const { items } = await client.list<ControllerRevision>(resourcePaths.controllerRevisions, { ...scope, ...options })
  return revisionsOf(daemonSet, items)
}

/** @returns undefined if there is no such object */
export async function getOrNone<T>(
  client: KubeClient,
  resource: ResourcePath,
  key: ObjectKey,
  options: ReadOptions,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, key, options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** @returns the resource on which an action is written */
export function resourceOf(target: ActionTarget): ResourcePath {
  return target === 'Rollout' ? resourcePaths.rollouts : resourcePaths.daemonSets
}
