import type { BatchRelease } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { keyOf, type ObjectKey } from '@tranche/kube-types'
import { QUEUE_UNAVAILABLE } from '@tranche/planner'
import type { Enqueuer } from '@tranche/queue'

/** Interval at which releases that wait for executors are enqueued again, in milliseconds; also detects a queue outage. */
const ASK_AGAIN_MS = 10_000
/** `status.waiting.reason` of releases that wait for executors. */
const executorWaitReasons: readonly string[] = ['Upgrading', QUEUE_UNAVAILABLE]

/** Enqueues a DaemonSet for executors when its BatchRelease changes. Executors also wake by their own watches. */
export function enqueueOnChange(cluster: WatchedCluster, enqueuer: Enqueuer): void {
  cluster.batchReleases.subscribe({ onChange: (key, _previous, current) => enqueueOpen(enqueuer, key, current) })
}

/** Enqueues waiting releases every 10 s until the signal aborts. */
export function enqueueWaiting(cluster: WatchedCluster, enqueuer: Enqueuer, clock: Clock, signal: AbortSignal): void {
  let timer: Timer
  const next = (): void => {
    timer = clock.setTimer(ASK_AGAIN_MS, () => {
      for (const release of cluster.batchReleases.store.list()) {
        if (executorWaitReasons.includes(release.status?.waiting?.reason ?? '')) enqueueOpen(enqueuer, keyOf(release), release)
      }
      next()
    })
  }
  next()
  signal.addEventListener('abort', () => timer.cancel(), { once: true })
}

function enqueueOpen(enqueuer: Enqueuer, { namespace }: ObjectKey, release: BatchRelease | undefined): void {
  const name = release?.spec.workloadRef?.name
  if (name === undefined || release?.status?.flight?.state !== 'open') return
  enqueuer.enqueue(`${namespace}/${name}`)
}
