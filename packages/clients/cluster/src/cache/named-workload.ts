import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, keyText, type ObjectKey } from '@tranche/kube-types'
import type { ClusterCache } from './cluster-cache.ts'

/** @returns key of a Rollout or BatchRelease in the index `workload`: the workload that it names, of any kind */
export function workloadKeys({ metadata: { namespace = '' }, spec }: Rollout | BatchRelease): string | undefined {
  const name = spec.workloadRef?.name
  return name === undefined ? undefined : keyText({ namespace, name })
}

/** @returns key of a DaemonSet in the index `rollout`: the Rollout that it is bound to */
export function bindingKeys({ metadata: { namespace = '', annotations } }: DaemonSet): string | undefined {
  const name = annotations?.[daemonSetAnnotations.rollout]
  return name === undefined ? undefined : keyText({ namespace, name })
}

/** Rollouts that name a workload, of any kind. The array is the same until one of them changes. */
export function rolloutsOfWorkload({ rollouts }: Pick<ClusterCache, 'rollouts'>, workload: ObjectKey): readonly Rollout[] {
  return rollouts.store.byIndex('workload', keyText(workload))
}

/** BatchReleases that name a workload, of any kind. */
export function releasesOfWorkload({ batchReleases }: Pick<ClusterCache, 'batchReleases'>, workload: ObjectKey): readonly BatchRelease[] {
  return batchReleases.store.byIndex('workload', keyText(workload))
}

/** DaemonSets that are bound to a Rollout, as the watch shows them. */
export function daemonSetsBoundTo({ daemonSets }: Pick<ClusterCache, 'daemonSets'>, rollout: ObjectKey): readonly DaemonSet[] {
  return daemonSets.store.byIndex('rollout', keyText(rollout))
}
