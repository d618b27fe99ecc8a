import { createRandom } from '@tranche/sim-api'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createWorkQueue, type WorkQueue } from '../machinery/work-queue.ts'
import { createDaemonSetCache } from './daemon-set-cache.ts'
import { createExpectations } from './expectations.ts'
import { createFailedPodBackoff } from './failed-pod-backoff.ts'
import { createOwnWrites } from './own-writes.ts'
import { syncDaemonSet } from './sync-daemon-set.ts'
import type { SyncPorts } from './sync-ports.ts'
import { wakeConcerned, wakeRules } from './wake-rules.ts'

const WORKERS = 2

/** Runs the DaemonSet controller, which maintains pods, revisions and status of DaemonSets. */
export function startDaemonSetController({ client, clock, seed, onError }: ControllerOptions): RunningController {
  const monotonicMs = (): number => clock.monotonicMs()
  const expectations = createExpectations(monotonicMs)
  const ownWrites = createOwnWrites(monotonicMs)
  const queueOf = (work: (key: string) => Promise<void>): WorkQueue =>
    createWorkQueue({ clock, limiter: createRateLimiter(monotonicMs), workers: WORKERS, work, onError, paused: true })
  const queue = queueOf((key) => syncDaemonSet(ports, key))
  const nodeQueue = queueOf(async (nodeName) => wakeConcerned(nodeName, cache, queue.add))
  const cache = createDaemonSetCache(
    client,
    wakeRules({ wake: queue.add, wakeAfter: queue.addAfter, nodeChanged: nodeQueue.add, expectations, ownWrites, cache: () => cache }),
  )
  const ports: SyncPorts = {
    client,
    clock,
    cache,
    expectations,
    ownWrites,
    backoff: createFailedPodBackoff(monotonicMs),
    events: createEventRecorder(client, clock, 'daemonset-controller'),
    random: createRandom(seed, 'daemonset-controller').next,
    wakeAfter: queue.addAfter,
  }
  void cache.synced.then(() => {
    queue.resume()
    nodeQueue.resume()
  })
  return {
    stop() {
      queue.stop()
      nodeQueue.stop()
      cache.stop()
    },
  }
}
