import { readNodes, readPod, touchPod, type WatchedCluster, writeRecord } from '@tranche/cluster'
import { isConflict, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, ObjectKey } from '@tranche/kube-types'
import type { CheckTarget, NodePreparer } from '@tranche/node-checks'
import type { ExecutorPort } from '@tranche/partition-executor'
import { controlledBy, toPublishedTarget } from '@tranche/planner'

/** Dependencies of {@link createExecutorPort}. */
export interface PortParts {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly preparer: NodePreparer
  /** @returns a value that is unique across all processes */
  uniqueValue(): string
}

/** Implements the executor port with the API server and the watches of this process. */
export function createExecutorPort({ client, cluster, preparer, uniqueValue }: PortParts): ExecutorPort {
  function targetOf(key: ObjectKey): CheckTarget | null {
    const daemonSet = cluster.overlay.daemonSets.get(key)
    const control = daemonSet === undefined ? undefined : controlledBy(daemonSet)
    if (daemonSet === undefined || control === undefined) return null
    const release = cluster.overlay.batchReleases.get({ namespace: key.namespace, name: control.name })
    return release === undefined ? null : { daemonSet, release }
  }

  return {
    read(key) {
      const target = targetOf(key)
      if (target === null) return null
      const { daemonSet, release } = target
      const placement = daemonSet.spec.template.spec ?? {}
      const fleet = cluster.fleet.view(daemonSet)
      const podsSeen = cluster.pods.positionOf(key.namespace)
      return { published: toPublishedTarget(daemonSet), release, fleet, placement, podsSeen, ...preparer.read({ daemonSet, release }) }
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
    readNodes: (names, signal) => readNodes(client, names, signal),
    async checkNode(key, node, purpose, signal) {
      const target = targetOf(key)
      if (target === null) return { kind: 'blocked', reason: 'CheckFailed', message: 'the DaemonSet is gone' }
      return preparer.check(target, { node, purpose }, signal)
    },
    async undoPreparation(key, prepared, signal) {
      const target = targetOf(key)
      if (target !== null) await preparer.undo(target, prepared, signal)
    },
    async renewPreparation(key, prepared, signal) {
      const target = targetOf(key)
      if (target !== null) await preparer.renew(target, prepared, signal)
    },
    sweepNodes: (signal) => preparer.sweep(signal),
  }
}

/** Whether a BatchRelease controls the DaemonSet, by its control-info annotation. */
export function isControlled(daemonSet: DaemonSet | undefined): daemonSet is DaemonSet {
  return daemonSet !== undefined && controlledBy(daemonSet) !== undefined
}
