import type { BatchRelease } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { keyOf, type ObjectKey } from '@tranche/kube-types'
import { QUEUE_UNAVAILABLE } from '@tranche/planner'
import type { Enqueuer } from '@tranche/queue'

/** How often executors are asked again for a release that waits for them, in milliseconds: a queue that is away is noticed by it. */
const ASK_AGAIN_MS = 10_000
/** What a release waits for, as its status says, where it is the turn of executors. */
const executorWaitReasons: readonly string[] = ['Upgrading', QUEUE_UNAVAILABLE]

/** Announces a DaemonSet to executors when its record may allow something new. Executors wake themselves all the same. */
export function enqueueOnChange(cluster: WatchedCluster, enqueuer: Enqueuer): void {
  cluster.batchReleases.subscribe({ onChange: (key, _previous, current) => enqueueOpen(enqueuer, key, current) })
}

/** Announces again and again what waits for executors, until the signal aborts. */
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
