import type { BatchRelease } from '@tranche/api-schema'
import type { ClusterCache } from './cluster-cache.ts'

/** A group by its name in the policies of one namespace, or by the Lease that releases name in their status. */
export type GroupReference = { readonly namespace: string; readonly group: string } | { readonly lease: string }

/**
 * A status may name any text as its Lease, also a group of another namespace; Leases have no slash in their names, and groups have one.
 *
 * @returns keys of a release in the index `group`: the group of its policy, and the Lease of its status
 */
export function groupKeys({ metadata: { namespace = '' }, spec, status }: BatchRelease): readonly string[] {
  const group = spec.tranche?.downtime?.group
  const lease = status?.groupLease
  return [
    ...(group === undefined ? [] : [keyText({ namespace, group })]),
    ...(lease === undefined || lease.includes('/') ? [] : [keyText({ lease })]),
  ]
}

/** Releases of a group as the watch shows them. The cost depends on their number, not on that of all releases. */
export function releasesOfGroup({ batchReleases }: Pick<ClusterCache, 'batchReleases'>, group: GroupReference): readonly BatchRelease[] {
  return batchReleases.store.byIndex('group', keyText(group))
}

function keyText(group: GroupReference): string {
  return 'lease' in group ? group.lease : `${group.namespace}/${group.group}`
}
