import type { WatchedCluster } from '@tranche/cluster'
import type { Reflector } from '@tranche/kube-client'
import { compareResourceVersions, keyText, type ObjectKey } from '@tranche/kube-types'
import { workloadKey } from '@tranche/release-client'
import type { ReleaseReads } from '../cluster/release-reads.ts'
import type { StreamedEvent, StreamSource } from './stream-hub.ts'
import type { KeptEvent } from '../cluster/events-watch.ts'
import { boundRolloutOf } from '../cluster/watched-reads.ts'

/** Dependencies of {@link createWatchedStreamSource}. */
export interface WatchedStreamParts {
  readonly cluster: WatchedCluster
  readonly events: Reflector<KeptEvent>
  readonly reads: ReleaseReads
}

/** Reads changes from the watches of this process. */
export function createWatchedStreamSource({ cluster, events, reads }: WatchedStreamParts): StreamSource {
  const { rollouts, batchReleases, daemonSets, revisions, pods, nodes } = cluster
  // Event ids contain the positions in this order, and other replicas read them. Events are last.
  const watches: readonly Pick<Reflector<unknown>, 'resourceVersion' | 'whenReached'>[] = [
    rollouts,
    batchReleases,
    daemonSets,
    revisions,
    pods,
    nodes,
    events,
  ]

  function streamed({ namespace, object, report, resourceVersion }: KeptEvent): readonly StreamedEvent[] {
    const [kind = '', name = ''] = object.split('/')
    const about = kind === 'DaemonSet' ? boundRolloutOf(cluster, { namespace, name }) : { namespace, name }
    return (about === undefined ? [] : [about]).map((key) => ({ key, event: report, resourceVersion }))
  }

  return {
    keys: reads.keys,
    summary: reads.summary,
    positions: () => watches.map(({ resourceVersion }) => resourceVersion),
    async whenReached(positions, signal) {
      const late = watches.filter((watch, at) => !isReached(watch, positions[at]))
      await Promise.all(late.map((watch) => watch.whenReached(positions[watches.indexOf(watch)] ?? '0', signal)))
    },
    events: () => [...events.store.list()].sort((a, b) => compareResourceVersions(a.resourceVersion, b.resourceVersion)).flatMap(streamed),
    subscribe(changed, happened) {
      const uids = new Map<string, ObjectKey>()
      const ofDaemonSet = (key: ObjectKey): void => rolloutsOf(cluster, key).forEach(changed)
      const note = (uid: string, key: ObjectKey): void => void uids.set(uid, key)
      for (const { metadata } of daemonSets.store.list()) note(metadata.uid, { namespace: metadata.namespace ?? '', name: metadata.name })
      const ends = [
        rollouts.subscribe({ onChange: (key) => changed(key) }),
        batchReleases.subscribe({ onChange: (key) => changed(key) }),
        daemonSets.subscribe({
          onChange(key, previous, current) {
            if (previous !== undefined) uids.delete(previous.metadata.uid)
            if (current !== undefined) note(current.metadata.uid, key)
            ofDaemonSet(key)
          },
        }),
        pods.subscribe({
          onChange({ namespace }, previous, current) {
            const key = uids.get((current ?? previous)?.ownerUid ?? '')
            const rollout = key === undefined || key.namespace !== namespace ? undefined : boundRolloutOf(cluster, key)
            if (rollout !== undefined) changed(rollout)
          },
        }),
        nodes.subscribe({ onChange: (_key, previous, current) => previous !== current && changed(null) }),
        events.subscribe({ onChange: (_key, _previous, current) => current !== undefined && streamed(current).forEach(happened) }),
      ]
      return () => ends.forEach((end) => end())
    },
  }
}

/** A watch without access has no position and blocks no reader. */
function isReached({ resourceVersion }: Pick<Reflector<unknown>, 'resourceVersion'>, position: string | undefined): boolean {
  return resourceVersion === '' || position === undefined || compareResourceVersions(resourceVersion, position) >= 0
}

/** Rollouts that name the DaemonSet: normally one, but a second is possible. */
function rolloutsOf({ rollouts }: WatchedCluster, daemonSet: ObjectKey): readonly ObjectKey[] {
  const text = keyText(daemonSet)
  return rollouts.store
    .list()
    .filter((rollout) => keyText(workloadKey(rollout)) === text)
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }))
}
