import type { BatchRelease } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import type { AnalysisPort } from '@tranche/controllers'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { updatedNodeNames } from '@tranche/fence'
import { patchOrConflict } from './patch-or-conflict.ts'

/** Implements the analysis port with the API server and the watches of this process. */
export function createAnalysisPort(client: KubeClient, cluster: WatchedCluster): AnalysisPort {
  return {
    read(key) {
      const release = cluster.overlay.batchReleases.get(key)
      return release === undefined ? null : { release, nodes: () => nodesOf(cluster, release) }
    },
    async patchStatus(release, patch, signal) {
      const options = { subresource: 'status', signal }
      cluster.overlay.batchReleases.learn(await patchOrConflict<BatchRelease>(client, resourcePaths.batchReleases, release, patch, options))
    },
  }
}

function nodesOf({ overlay, fleet }: WatchedCluster, { metadata, spec, status }: BatchRelease): readonly string[] {
  const daemonSet = overlay.daemonSets.get({ namespace: metadata.namespace ?? '', name: spec.workloadRef?.name ?? '' })
  const revision = spec.tranche?.canaryRevision ?? status?.updateRevision
  if (daemonSet === undefined || revision === undefined) return []
  return updatedNodeNames(fleet.view(daemonSet), revision)
}
