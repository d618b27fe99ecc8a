import { createRoomReader, readNode, readPod, touchPod, type WatchedCluster, writeRecord } from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import type { ExecutorPort } from '@tranche/partition-executor'
import { controlledBy, toPublishedTarget } from '@tranche/planner'

/** Implements the executor port with the API server and the watches of this process. `uniqueValue` is unique across all processes. */
export function createExecutorPort(client: KubeClient, cluster: WatchedCluster, clock: Clock, uniqueValue: () => string): ExecutorPort {
  const rooms = createRoomReader(client, clock)
  return {
    read(key) {
      const daemonSet = cluster.overlay.daemonSets.get(key)
      const control = daemonSet === undefined ? undefined : controlledBy(daemonSet)
      if (daemonSet === undefined || control === undefined) return null
      const release = cluster.overlay.batchReleases.get({ namespace: key.namespace, name: control.name })
      if (release === undefined) return null
      const placement = daemonSet.spec.template.spec ?? {}
      const fleet = cluster.fleet.view(daemonSet)
      return { published: toPublishedTarget(daemonSet), release, fleet, placement, podsSeen: cluster.pods.positionOf(key.namespace) }
    },
    async writeRecord(release, record, signal) {
      const written = await writeRecord(client, release, record, signal)
      if (written !== null) cluster.overlay.batchReleases.learn(written)
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
    readPod: (pod, signal) => readPod(client, pod, signal),
    readNode: (name, signal) => readNode(client, name, signal),
    async readRoom(key, node, signal) {
      const daemonSet = cluster.overlay.daemonSets.get(key)
      return daemonSet === undefined ? 'the DaemonSet is gone' : rooms.read(daemonSet, node, signal)
    },
  }
}

/** Whether a BatchRelease controls the DaemonSet, by its control-info annotation. */
export function isControlled(daemonSet: DaemonSet | undefined): daemonSet is DaemonSet {
  return daemonSet !== undefined && controlledBy(daemonSet) !== undefined
}
