import type { WatchedCluster } from '@tranche/cluster'
import type { Announcer } from '@tranche/queue'

/** Announces a DaemonSet to executors when its record may allow something new. Executors wake themselves all the same. */
export function announceByWatches(cluster: WatchedCluster, announcer: Announcer): void {
  cluster.batchReleases.subscribe({
    onChange(key, _previous, current) {
      const name = current?.spec.workloadRef?.name
      if (name === undefined || current?.status?.flight?.state !== 'open') return
      announcer.announce(`${key.namespace}/${name}`)
    },
  })
}
