import type { Clock } from '@tranche/clock'
import { type SharedClusterCache, traceWrites, watchCluster } from '@tranche/cluster'
import type { JudgePort } from '@tranche/controllers'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import { createKubeClient, type KubeClient, onServerClock, traceExchange } from '@tranche/kube-client'
import { fieldManagers, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'
import { createMeter, type Metrics, watchLag } from '@tranche/metrics'
import { createEgressClient, type HostRule, type EgressClient } from '@tranche/egress'
import { createEnqueuer, type JobQueue } from '@tranche/queue'
import { createEventRecorder, createLeaderElector } from '@tranche/reconcile'
import { noTracer, type Tracer } from '@tranche/tracing'
import type { Exchange } from '@tranche/wire'
import { enqueueOnChange, enqueueWaiting } from './enqueue.ts'
import { createEventPort } from './event-port.ts'
import { createLeasePort, createLeaseWatch } from './lease-port.ts'
import { countEvents } from './metrics/count-events.ts'
import { exportReleaseMetrics } from './metrics/export-release-metrics.ts'
import { createSchemaWatch } from './schema-watch.ts'
import { createTerm } from './term.ts'
import { wakeAll, wakeAtFirst, wakeByWatches } from './wake.ts'

/**
 * Who sees an update of a DaemonSet before it is stored: nobody, this process, policies that the API server evaluates, or a webhook
 * that it asks.
 */
export type AdmissionMode = 'none' | 'inProcess' | 'policy' | 'webhook'

/** What a controller process is given. */
export interface ControllerOptions {
  readonly exchange: Exchange
  /** Carries watches. @default exchange */
  readonly watchExchange?: Exchange
  /** What other programs of this process read of the cluster too; whoever has made it starts it. @default one of its own */
  readonly clusterCache?: SharedClusterCache
  /** Carries reads and renewals of the Lease, which must not wait for other calls. @default exchange */
  readonly leaseExchange?: Exchange
  readonly clock: Clock
  readonly log: Logger
  /** Unique among all controllers that ever run. */
  readonly identity: string
  /** `none`: the strategy is flipped when a Rollout is bound; otherwise admission flips it when a release begins. */
  readonly admission: AdmissionMode
  /** Whether to stand for election and act only as leader. */
  readonly leaderElection: boolean
  /** Where DaemonSets are announced to executors; without one they wake themselves. */
  readonly queue?: JobQueue
  /** Whose Rollouts are reconciled, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Namespace of the Lease. @default kube-system */
  readonly leaseNamespace?: string
  /** How long others wait for a leader that has gone silent, and how often one tells that it is there. */
  readonly leaseTimes?: LeaseTimes
  /** Time between two passes that mere counting asks for, in milliseconds. @default 100; in a large fleet 1 for every twenty nodes, at most 500 */
  readonly countingEveryMs?: number
  /** Hosts that policies may name, as `parseHostRule` reads them. @default none */
  readonly allowHosts?: readonly HostRule[]
  /** What carries requests to them. @default sockets, to `allowHosts` alone */
  readonly egress?: EgressClient
  /** Judges answers of metric systems. @default this thread: for clusters that are simulated, where nobody else waits */
  readonly judge?: JudgePort
  /** Where the process can be ended or held up. @default nowhere */
  readonly failpoints?: Failpoints
  /** Decides the jitter of reconnects. @default 0 */
  readonly seed?: number
  /** A version to name in the user agent. @default 0.1.0 */
  readonly version?: string
  /** Where it is counted what happens. @default nowhere */
  readonly metrics?: Metrics
  /** Where it is told how what happens hangs together. @default nowhere */
  readonly tracer?: Tracer | undefined
}

/** @see createLeaderElector, which has the defaults. Milliseconds. */
export interface LeaseTimes {
  /** Whole seconds. */
  readonly leaseDurationMs?: number
  /** Less than `leaseDurationMs`. */
  readonly renewDeadlineMs?: number
  readonly retryPeriodMs?: number
}

/** A program that runs until it is stopped. */
export interface RunningController {
  /** Resolves when the first lists have arrived. */
  readonly ready: Promise<void>
  /** Resolves at the end; rejects with what ended it before its time. */
  readonly stopped: Promise<void>
  /** Whether it acts at this moment: leads, or runs without leader election. */
  isLeading(): boolean
  /** Whether this process leads, and the API server keeps every field of ours: a write under other definitions would drop what is stored. */
  mayWrite(): boolean
  /** Takes no more work, lets what runs end for a moment, gives leadership up, then ends. */
  stop(): Promise<void>
}

/** Name of the Lease that controllers share. */
export const LEASE_NAME = 'tranche-controller'
/** Namespace of the Lease, unless told otherwise. */
export const LEASE_NAMESPACE = 'kube-system'

/** How long passes may go on when the process is asked to end, in milliseconds: the next leader waits for them. */
const STOP_GRACE_MS = 1_000
/** The same when the Lease was lost: nobody else leads before it has expired. */
const LOST_GRACE_MS = 5_000

/** Starts the Rollout and BatchRelease reconcilers against one API server. */
export function startController(given: ControllerOptions): RunningController {
  const options = onServerClock(given)
  const log = options.log.child({ program: fieldManagers.controller, identity: options.identity })
  const { wrap } = options.failpoints ?? noFailpoints
  const { clock, metrics, tracer = noTracer } = options
  const client = clientFor(options, log)
  const scope = options.namespaces === undefined ? {} : { namespaces: options.namespaces }
  const watched = watchCluster({
    ...{ client, clock, log, seed: options.seed ?? 0, withRollouts: true, ...scope },
    ...watchLag(metrics, clock, 'controller'),
    ...(options.clusterCache !== undefined && { clusterCache: options.clusterCache }),
  })
  const cluster = traceWrites(watched, tracer)
  const recorder = createEventRecorder({
    port: wrap('events', createEventPort(client)),
    component: fieldManagers.controller,
    instance: options.identity,
    clock,
    log,
  })
  const events = countEvents(recorder, metrics)
  const queue = options.queue === undefined ? undefined : wrap('queue', options.queue)
  const enqueuer = queue === undefined ? null : createEnqueuer({ queue, clock, log, tracer, onOutage: wakeReleases })
  const ending = new AbortController()
  const end = Promise.withResolvers<void>()
  const schemas = createSchemaWatch({
    ...{ client, clock, log },
    watches: [cluster.rollouts, cluster.batchReleases],
    onChange() {
      wakeAll(cluster, term.woken)
      wakeAtFirst(cluster, term.woken)
    },
  })
  const egress = options.egress ?? createEgressClient({ clock, allowHosts: options.allowHosts ?? [], userAgent: userAgentOf(options) })
  const term = createTerm({ ...options, log }, { client, cluster, events, schemas, egress, queueOutage: () => enqueuer?.outage() ?? null })
  const leaseKey = { namespace: options.leaseNamespace ?? LEASE_NAMESPACE, name: LEASE_NAME }
  const leaseClient = clientFor({ ...options, exchange: options.leaseExchange ?? options.exchange }, log)
  const elector = createLeaderElector({
    port: wrap('lease', createLeasePort(leaseClient, leaseKey)),
    watch: createLeaseWatch({ client: leaseClient, clock, log, seed: options.seed ?? 0 }, leaseKey),
    ...options.leaseTimes,
    identity: options.identity,
    clock: options.clock,
    log,
    onStarted: () => term.begin(),
    onStopped: () => term.end(isStopping ? STOP_GRACE_MS : LOST_GRACE_MS),
  })

  let isStopping = false
  let isSeen = false
  const isLeading = (): boolean => (options.leaderElection ? elector.isLeader() : isSeen && !ending.signal.aborted)
  if (metrics !== undefined) exportReleaseMetrics({ metrics, cluster, clock, schemas, isLeading })
  const ready = cluster.start(ending.signal, end.reject).then(async () => {
    await schemas.start(ending.signal)
    wakeByWatches(cluster, term.woken)
    wakeWhenPoliciesAreSeen()
    if (enqueuer !== null) {
      enqueueOnChange(cluster, enqueuer)
      enqueueWaiting(cluster, enqueuer, clock, ending.signal)
    }
    if (options.leaderElection) elector.start()
    else term.begin()
    isSeen = true
  })
  ready.catch(end.reject)

  /** Releases that wait say so, and no longer when the queue is back. */
  function wakeReleases(): void {
    for (const release of cluster.batchReleases.store.list()) term.woken.release(keyText(keyOf(release)))
  }

  /** Definitions that are served later than we start: who names a policy hears of it, also when there is none. */
  function wakeWhenPoliciesAreSeen(): void {
    if (cluster.policies.synced) return
    cluster.policies.whenSynced(ending.signal).then(
      () => wakeAll(cluster, term.woken),
      () => {},
    )
  }

  return {
    ready,
    stopped: end.promise,
    isLeading,
    mayWrite: () => isLeading() && schemas.gap() === undefined,
    async stop() {
      isStopping = true
      if (options.leaderElection) await elector.stop()
      else await term.end(STOP_GRACE_MS)
      enqueuer?.stop()
      ending.abort(new Error('the controller stops'))
      await egress.close()
      end.resolve()
    },
  }
}

function clientFor(options: ControllerOptions, log: Logger): KubeClient {
  const { clock, metrics, tracer = noTracer, seed = 0 } = options
  const meter = createMeter({ metrics, clock, program: 'controller' })
  const watchExchange = options.watchExchange === undefined ? {} : { watchExchange: meter(options.watchExchange) }
  return createKubeClient({
    exchange: traceExchange(meter(options.exchange), tracer),
    ...watchExchange,
    clock,
    userAgent: userAgentOf(options),
    log,
    seed,
  })
}

function userAgentOf({ version = '0.1.0' }: ControllerOptions): string {
  return `${fieldManagers.controller}/${version}`
}
