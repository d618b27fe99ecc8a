import { touchPod, type WatchedCluster, writeRecord } from '@tranche/cluster'
import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations, type DaemonSet, keyOf } from '@tranche/kube-types'
import type { ExecutorPort } from '@tranche/partition-executor'
import { type Announcement, controlledBy, strategyOf } from '@tranche/planner'

/** The executor's port over the API server and this process's own watches. `uniqueValue` never returns the same text twice. */
export function createExecutorPort(client: KubeClient, cluster: WatchedCluster, uniqueValue: () => string): ExecutorPort {
  return {
    read(key) {
      const daemonSet = cluster.newest.daemonSets.get(key)
      const control = daemonSet === undefined ? undefined : controlledBy(daemonSet)
      if (daemonSet === undefined || control === undefined) return null
      const release = cluster.newest.batchReleases.get({ namespace: key.namespace, name: control.name })
      if (release === undefined) return null
      const fleet = cluster.fleet.view(daemonSet.metadata.uid, daemonSet.spec.template.spec ?? {})
      return { announcement: toAnnouncement(daemonSet), release, fleet, podsSeen: cluster.pods.resourceVersion }
    },
    async writeRecord(release, record, signal) {
      const written = await writeRecord(client, release, record, signal)
      if (written !== null) cluster.newest.batchReleases.learn(written)
      return written !== null
    },
    async deletePod({ permit, namespace, podName }, signal) {
      const preconditions = { uid: permit.podUid, resourceVersion: permit.podResourceVersion }
      try {
        await client.delete(resourcePaths.pods, { namespace, name: podName }, { preconditions, signal })
        return true
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return false
        throw error
      }
    },
    touchPod: ({ permit, namespace, podName }, signal) =>
      touchPod(client, { namespace, name: podName, uid: permit.podUid }, uniqueValue(), signal),
  }
}

/** What a DaemonSet says to executors (rule F1). */
export function toAnnouncement(daemonSet: DaemonSet): Announcement {
  const annotations = daemonSet.metadata.annotations ?? {}
  const partition = annotations[daemonSetAnnotations.partition]
  return {
    uid: daemonSet.metadata.uid,
    generation: daemonSet.metadata.generation ?? 0,
    observedGeneration: daemonSet.status?.observedGeneration ?? 0,
    controlledBy: controlledBy(daemonSet)?.uid,
    canaryRevision: annotations[daemonSetAnnotations.canaryRevision],
    stableRevision: annotations[daemonSetAnnotations.stableRevision],
    partition: partition !== undefined && /^\d+$/.test(partition) ? Number(partition) : undefined,
    paused: daemonSetAnnotations.paused in annotations,
    strategy: strategyOf(daemonSet),
    minReadySeconds: daemonSet.spec.minReadySeconds ?? 0,
  }
}

/** Whether the executor has anything to look at on this DaemonSet. */
export function isControlled(daemonSet: DaemonSet | undefined): daemonSet is DaemonSet {
  return daemonSet !== undefined && controlledBy(daemonSet) !== undefined && keyOf(daemonSet).name !== ''
}
