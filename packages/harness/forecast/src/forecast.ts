import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { resolveLimit, templateText } from '@tranche/planner'
import { parseInjectedFaults, withDeadNodes } from './injected-faults.ts'
import { createTimeline, revisionOf } from './timeline.ts'
import { approveSteps, changeDaemonSet, killMachines, quietMs, untilOver } from './drive-release.ts'
import { type Manifests, plannedDaemonSet, withPlannedRules } from './planned/planned-change.ts'
import { createLives } from './pod-lives.ts'
import { isSimulated, measurePods } from './pod-times.ts'
import { withPlannedPins } from './planned/planned-pins.ts'
import { reportedHolds } from './planned/reported-holds.ts'
import type { ForecastPrograms, ForecastCache } from './programs.ts'
import { simulateCluster } from './simulated-cluster.ts'
import { toForecast } from './to-forecast.ts'

/** Options of a forecast. */
export interface ForecastOptions {
  /** Planned manifests. @default the objects of the cluster */
  readonly manifests?: Manifests
  /** Cancels the forecast: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Progress callback with the number of updated nodes. */
  readonly onProgress?: (done: number, total: number) => void
}

/**
 * Runs the release in virtual time on a copy of the cluster, with the same programs, until it ends, stops, or cannot continue by itself.
 * Approves steps that wait for a user after `approveAfterSeconds`. Reads and writes nothing outside the copy.
 *
 * @throws AppError FORECAST_INVALID when the request names something that does not exist; WORKLOAD_NOT_FOUND without a DaemonSet
 */
export async function forecast<R extends ForecastCache>(
  snapshot: ClusterSnapshot,
  request: ForecastRequest,
  programs: ForecastPrograms<R>,
  options: ForecastOptions = {},
): Promise<Forecast> {
  const { signal, manifests = {} } = options
  signal?.throwIfAborted()
  const injectedFaults = parseInjectedFaults(request.if ?? [], snapshot.nodes)
  const ruled = withPlannedRules(snapshot, manifests)
  const current = { ...ruled, nodes: withDeadNodes(ruled.nodes, injectedFaults) }
  const { daemonSet } = current
  if (daemonSet === undefined) throw workloadNotFound(current)
  const planned = withPlannedPins(plannedDaemonSet(daemonSet, request, manifests), { snapshot, policy: current.policy })
  const isOvertaken = templateText(planned.spec.template) !== templateText(daemonSet.spec.template)
  const holds = reportedHolds(snapshot, manifests, isOvertaken)
  const limit = resolveLimit(daemonSet, snapshot.pods.length, snapshot.policy?.spec.maxUnavailable)
  const times = measurePods({ snapshot, daemonSet, planned, limit })
  let nowMs = (): number => 0
  let done = 0
  const timeline = createTimeline({
    ...current,
    daemonSet,
    isOvertaken,
    minReadyMs: (planned.spec.minReadySeconds ?? 0) * 1000,
    nowMs: () => nowMs(),
    onUpdated: () => options.onProgress?.(Math.min(++done, current.pods.length), current.pods.length),
  })
  const crashing = new Set(injectedFaults.flatMap(({ kind, nodes }) => (kind === 'Crashes' ? [...nodes] : [])))
  const lives = createLives({
    times,
    pods: current.pods,
    takenAtMs: current.takenAtMs,
    nowMs: () => nowMs(),
    crashes: (pod) => crashing.has(pod.spec?.nodeName ?? '') && revisionOf(pod) === timeline.canary,
    simulated: new Set(current.nodes.filter(isSimulated).map(({ metadata }) => metadata.name)),
  })
  const cluster = await simulateCluster(current, {
    ...{ programs, holds },
    lives,
    onWrite: (write) => timeline.take(write),
    rollout: () => timeline.rollout,
    release: () => timeline.release,
    onClock: (clock) => (nowMs = () => clock.monotonicMs()),
  })
  try {
    await changeDaemonSet(cluster, daemonSet, planned)
    approveSteps(cluster, timeline, request)
    const mishaps = killMachines(cluster, timeline, injectedFaults)
    await untilOver(cluster, timeline, { quietMs: quietMs(current, request), ...(signal && { signal }) })
    const { immutable = [] } = manifests
    return toForecast({ snapshot: current, daemonSet: planned, request, timeline, times, holds, mishaps, immutable })
  } finally {
    await cluster.end()
  }
}

/**
 * Checks everything that {@link forecast} rejects, without a simulation.
 *
 * @throws as forecast
 */
export function checkForecast(snapshot: ClusterSnapshot, request: ForecastRequest): void {
  parseInjectedFaults(request.if ?? [], snapshot.nodes)
  if (snapshot.daemonSet === undefined) throw workloadNotFound(snapshot)
  plannedDaemonSet(snapshot.daemonSet, request, {})
}

function workloadNotFound({ rollout }: ClusterSnapshot): AppError {
  const { namespace = '', name } = rollout.metadata
  const { name: workload } = rollout.spec.workloadRef
  return new AppError('WORKLOAD_NOT_FOUND', `DaemonSet ${namespace}/${workload} of Rollout ${namespace}/${name} does not exist`, {
    hint: 'Create it, or name the right one in spec.workloadRef.name.',
  })
}
