import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { releasesOfWorkload, rolloutsOfWorkload, type WatchedCluster } from '@tranche/cluster'
import { type DaemonSet, daemonSetAnnotations, type ObjectKey } from '@tranche/kube-types'
import { controlledBy } from '@tranche/planner'
import { comesBefore, isDaemonSetRef, mayHold } from '@tranche/validation'

/** The Rollout that holds a DaemonSet which no Rollout is bound to, by the Rollouts that name the DaemonSet. */
const firstOf = new WeakMap<readonly Rollout[], Rollout | null>()

/**
 * Finds the Rollout that holds a DaemonSet: all others that name it wait (`WorkloadTaken`). Users may create any number of those, so
 * the answer costs nothing until one of them changes.
 *
 * @param boundTo name of the Rollout that the DaemonSet is bound to; undefined without one
 */
export function workloadHolder(cluster: RolloutsOnly, daemonSet: ObjectKey, boundTo: string | undefined): Rollout | undefined {
  const bound = boundTo === undefined ? undefined : cluster.rollouts.store.get({ namespace: daemonSet.namespace, name: boundTo })
  if (bound !== undefined && bound.spec.workloadRef.name === daemonSet.name && isCandidate(bound)) return bound
  const rollouts = rolloutsOfWorkload(cluster, daemonSet)
  const known = firstOf.get(rollouts)
  if (known !== undefined) return known ?? undefined
  const [first, ...others] = rollouts.filter(isCandidate)
  const holder = first && others.reduce((best, one) => (comesBefore(one, best, null) ? one : best), first)
  firstOf.set(rollouts, holder ?? null)
  return holder
}

/**
 * Whether a change of one Rollout gave its DaemonSet another holder.
 *
 * @param rollout the Rollout before and after the change, of which the watch shows the latter
 */
export function isHolderChanged(
  cluster: RolloutsOnly,
  daemonSet: ObjectKey,
  [previous, current]: readonly [Rollout | undefined, Rollout | undefined],
  boundTo: string | undefined,
): boolean {
  const holder = workloadHolder(cluster, daemonSet, boundTo)
  const name = (previous ?? current)?.metadata.name
  const holdsNow = holder !== undefined && holder.metadata.name === name
  return held(previous, daemonSet, { now: holdsNow ? undefined : holder, boundTo }) !== holdsNow
}

/** Whether a Rollout held the DaemonSet before, if `now` does instead. */
function held(
  previous: Rollout | undefined,
  daemonSet: ObjectKey,
  { now, boundTo }: { readonly now: Rollout | undefined; readonly boundTo: string | undefined },
): boolean {
  if (previous === undefined || previous.spec.workloadRef.name !== daemonSet.name || !isCandidate(previous)) return false
  return now === undefined || comesBefore(previous, now, boundTo ?? null)
}

/**
 * Names of the Rollouts that a change of a DaemonSet, its pods or its nodes affects. They are the holder, the one that it is bound to, and
 * those that have a BatchRelease for it. Others can do nothing.
 */
export function actingOn(cluster: ActingParts, daemonSet: ObjectKey): ReadonlySet<string> {
  const boundTo = bindingOf(cluster.daemonSets.store.get(daemonSet))
  const holder = workloadHolder(cluster, daemonSet, boundTo)?.metadata.name
  const releasing = releasesActingOn(cluster, daemonSet).map(({ metadata }) => metadata.name)
  return new Set([holder, boundTo, ...releasing].filter((name) => name !== undefined))
}

/**
 * BatchReleases that a change of the DaemonSet's pods or nodes affects: the one in control, and those with permits. The others wait until
 * it is gone, and each of their passes costs a request.
 */
export function releasesActingOn(cluster: ActingParts, daemonSet: ObjectKey): readonly BatchRelease[] {
  const all = releasesOfWorkload(cluster, daemonSet)
  if (all.length < 2) return all
  const watched = cluster.daemonSets.store.get(daemonSet)
  const uid = watched && controlledBy(watched)?.uid
  if (!all.some(({ metadata }) => metadata.uid === uid)) return all
  return all.filter(({ metadata, status }) => metadata.uid === uid || (status?.flight?.permits.length ?? 0) > 0)
}

/** @returns name of the Rollout that a DaemonSet is bound to; undefined without one */
export function bindingOf(daemonSet: DaemonSet | undefined): string | undefined {
  return daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout]
}

type RolloutsOnly = Pick<WatchedCluster, 'rollouts'>
type ActingParts = Pick<WatchedCluster, 'rollouts' | 'daemonSets' | 'batchReleases'>

function isCandidate(rollout: Rollout): boolean {
  return isDaemonSetRef(rollout.spec.workloadRef) && mayHold(rollout)
}
