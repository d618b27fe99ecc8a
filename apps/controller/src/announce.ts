import type { WatchedCluster } from '@tranche/cluster'
import type { Logger } from '@tranche/log'
import type { JobQueue } from '@tranche/queue'

/** Announces a DaemonSet to executors when its record may allow something new. Executors wake themselves all the same. */
export function announceByWatches(cluster: WatchedCluster, queue: JobQueue, log: Logger): void {
  cluster.batchReleases.subscribe({
    onChange(key, _previous, current) {
      const name = current?.spec.workloadRef?.name
      if (name === undefined || current?.status?.flight?.state !== 'open') return
      const job = `${key.namespace}/${name}`
      queue.announce(job).catch((error: unknown) => log.warn({ err: error, daemonSet: job }, 'could not announce'))
    },
  })
}
