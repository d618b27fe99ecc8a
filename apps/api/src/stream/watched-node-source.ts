import type { Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { controllerKeyOf as revisionOwner, type DaemonSet, keyText, type ObjectKey, ownerKeyOf } from '@tranche/kube-types'
import { reportNodesUntil } from '@tranche/reports'
import { watchedFacts, workloadKey } from '@tranche/release-client'
import { unboundWorkload } from '../cluster/watched-reads.ts'
import type { NodeSource } from './node-feed.ts'

/** Reads the nodes of Rollouts from the watches of this process, bound to the Rollout or not. */
export function createWatchedNodeSource(cluster: WatchedCluster, clock: Clock): NodeSource {
  const { rollouts, batchReleases, daemonSets, revisions, pods, nodes } = cluster

  function daemonSetOf(key: ObjectKey): DaemonSet | undefined {
    const rollout: Rollout | undefined = rollouts.store.get(key)
    return rollout && daemonSets.store.get(workloadKey(rollout))
  }

  return {
    read(key) {
      const facts = watchedFacts(cluster, clock, key)
      return facts && { ...reportNodesUntil(facts), unbound: unboundWorkload(cluster, key) }
    },
    subscribe(key, changed) {
      const text = keyText(key)
      const ifSame = (other: ObjectKey): void => void (keyText(other) === text && changed())
      const isOurs = (owner: string | undefined): boolean => {
        const daemonSet = daemonSetOf(key)
        return daemonSet !== undefined && owner === ownerKeyOf(daemonSet)
      }
      const ends = [
        rollouts.subscribe({ onChange: ifSame }),
        batchReleases.subscribe({ onChange: ifSame }),
        daemonSets.subscribe({
          onChange(other) {
            const rollout = rollouts.store.get(key)
            if (rollout !== undefined && keyText(workloadKey(rollout)) === keyText(other)) changed()
          },
        }),
        revisions.subscribe({ onChange: (_key, previous, current) => isOurs(revisionOwner(current ?? previous!)) && changed() }),
        pods.subscribe({ onChange: (_key, previous, current) => isOurs(podOwner(current ?? previous!)) && changed() }),
        nodes.subscribe({ onChange: (_key, previous, current) => previous !== current && changed() }),
      ]
      return () => ends.forEach((end) => end())
    },
  }
}

function podOwner({ namespace, ownerUid }: { readonly namespace: string; readonly ownerUid: string }): string {
  return ownerKeyOf({ metadata: { namespace, uid: ownerUid } })
}
