import type { Rollout } from '@tranche/api-schema'
import { isNotFound, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, daemonSetAnnotations, type ObjectKey, revisionsOf } from '@tranche/kube-types'
import { targetOf, type WishFacts, type WishTarget } from '@tranche/wishes'
import { selectorText } from './selector-text.ts'
import type { WishOrder } from './wish-order.ts'

/** Limits of a read. */
export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** For each request, in milliseconds. @default 15000 */
  readonly deadlineMs?: number | undefined
}

/** Reads what a wish is judged by, afresh: no watch lags behind it. */
export async function readWishFacts(
  client: KubeClient,
  order: Pick<WishOrder, 'on' | 'key' | 'type' | 'idempotencyKey'>,
  options: ReadOptions,
): Promise<Omit<WishFacts, 'nowMs'>> {
  if (order.on === 'DaemonSet') return factsOfDaemonSet(client, order, options)
  const rollout = await getOrNone<Rollout>(client, resourcePaths.rollouts, order.key, options)
  // The same Idempotency-Key may stand on the record of the other object.
  const asksDaemonSet = targetOf(order.type) === 'DaemonSet' || order.idempotencyKey !== undefined
  if (rollout === undefined || !asksDaemonSet) return { rollout, daemonSet: undefined, revisions: [] }
  const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, workloadKey(rollout), options)
  return { rollout, daemonSet, revisions: order.type === 'undo' ? await readRevisions(client, daemonSet, options) : [] }
}

/** Namespace and name of the workload of a Rollout. */
export function workloadKey({ metadata, spec }: Rollout): ObjectKey {
  return { namespace: metadata.namespace ?? '', name: spec.workloadRef.name }
}

async function factsOfDaemonSet(
  client: KubeClient,
  { key, type }: Pick<WishOrder, 'key' | 'type'>,
  options: ReadOptions,
): Promise<Omit<WishFacts, 'nowMs'>> {
  const daemonSet = await getOrNone<DaemonSet>(client, resourcePaths.daemonSets, key, options)
  const name = daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout]
  const rollout = name === undefined ? undefined : await getOrNone<Rollout>(client, resourcePaths.rollouts, { ...key, name }, options)
  return { rollout, daemonSet, revisions: type === 'undo' ? await readRevisions(client, daemonSet, options) : [] }
}

/** The ControllerRevisions that a DaemonSet owns; none of no DaemonSet. */
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

/** @returns undefined where there is no such object */
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

/** @returns the resource that a wish is written on */
export function resourceOf(target: WishTarget): ResourcePath {
  return target === 'Rollout' ? resourcePaths.rollouts : resourcePaths.daemonSets
}
