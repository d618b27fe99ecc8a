import type { Clock } from '@tranche/clock'
import { type SharedClusterCache, traceWrites, watchCluster, type WatchedCluster } from '@tranche/cluster'
import type { JudgePort } from '@tranche/controllers'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import { createKubeClient, type KubeClient, onServerClock, traceExchange } from '@tranche/kube-client'
import { fieldManagers, keyOf, keyText, LEASE_NAME, LEASE_NAMESPACE } from '@tranche/kube-types'
import { type Logger, noTracer, type Tracer } from '@tranche/telemetry'
import { createMeter, type Metrics, watchLag } from '@tranche/metrics'
import { createEgressClient, type HostRule, type EgressClient } from '@tranche/egress'
import { createEnqueuer, type Enqueuer, type JobQueue } from '@tranche/queue'
import { createEventRecorder, createLeaderElector, type EventRecorder, type LeaderElector } from '@tranche/reconcile'
import type { Exchange } from '@tranche/wire'
import { enqueueOnChange, enqueueWaiting } from './enqueue.ts'
import { createEventPort } from './ports/event-port.ts'
import type { GroupSettings } from './ports/group-port.ts'
import { createLeasePort, createLeaseWatch } from './ports/lease-port.ts'
import { countEvents } from './metrics/count-events.ts'
import { exportReleaseMetrics } from './metrics/export-release-metrics.ts'
import { createSchemaWatch } from './schema/schema-watch.ts'
import { createTerm, type Term } from './term.ts'
import { wakeAll, wakeAtFirst, wakeByWatches, type Woken } from './wake.ts'

/**
 * How DaemonSet updates are admitted: `none`, by this process (`inProcess`), by admission policies that the API server evaluates, or by
 * a webhook.
 */
export type AdmissionMode = 'none' | 'inProcess' | 'policy' | 'webhook'

/** Options of a controller process. */
export interface ControllerOptions {
  readonly exchange: Exchange
  /** Exchange for watches. @default exchange */
  readonly watchExchange?: Exchange
  /** Cluster cache shared with other programs of this process; its creator starts it. @default one of its own */
  readonly clusterCache?: SharedClusterCache
  /** Exchange for the Lease, so that renewals do not wait for other calls. @default exchange */
  readonly leaseExchange?: Exchange
  readonly clock: Clock
  readonly log: Logger
  /** Unique among all controllers, including past ones. */
  readonly identity: string
  /** `none`: the strategy becomes OnDelete when a Rollout is bound; otherwise admission sets it when a release begins. */
  readonly admission: AdmissionMode
  /** Whether to take part in leader election and act only as leader. */
  readonly leaderElection: boolean
  /** Queue to executors; without one, executors wake only by their own watches. */
  readonly queue?: JobQueue
  /** Namespaces to reconcile, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Namespace of the Lease. @default kube-system */
  readonly leaseNamespace?: string
  /** Where the Leases of groups of releases are. @default policies cannot name a group */
  readonly groups?: GroupSettings | undefined
  /** Whether policies may check that nodes have room. @default unknown, so no policy is reported */
  readonly room?: boolean
  /** Whether the executors of the installation may create helper pods. @default unknown, so no policy is reported */
  readonly prePull?: boolean
  /** Namespaces whose policies may drain nodes; `*` for all. @default unknown, so no policy is reported */
  readonly drainNamespaces?: readonly string[] | undefined
  /** Namespaces whose policies may lock nodes; `*` for all. @default unknown, so no policy is reported */
  readonly lockNamespaces?: readonly string[] | undefined
  /** Whether policies may limit downtime. @default true */
  readonly downtime?: boolean | undefined
  /** Durations of leader election. */
  readonly leaseTimes?: LeaseTimes
  /** Minimum interval of passes that only update counts, in milliseconds. @default 100; in a large fleet 1 per 20 nodes, at most 500 */
  readonly countingEveryMs?: number
  /** Hosts that policies may use. @see parseHostRule @default none */
  readonly allowHosts?: readonly HostRule[]
  /** Whether to read which ConfigMaps of templates are immutable. @default false */
  readonly readConfig?: boolean
  /** Whether policies may pin config; requires the policy for pods and permission to write ConfigMaps. @default false */
  readonly pinConfig?: boolean
  /** Name of the MutatingAdmissionPolicy for pods, and of its binding. @default tranche-pods */
  readonly podPolicy?: string | undefined
  /** Namespaces whose Secrets the controller may copy, where policies pin config; `*` for all. @default none */
  readonly pinSecretNamespaces?: readonly string[]
  /** Client for requests to these hosts. @default one that allows only `allowHosts` */
  readonly egress?: EgressClient
  /** Evaluates answers of metric systems. @default in this thread, which is only suitable for simulated clusters */
  readonly judge?: JudgePort
  /** Failpoints, at which tests can crash or delay the process. @default none */
  readonly failpoints?: Failpoints
  /** Seed of the reconnect jitter. @default 0 */
  readonly seed?: number
  /** Version in the user agent. @default 0.1.0 */
  readonly version?: string
  /** Metrics registry. @default no metrics */
  readonly metrics?: Metrics
  /** Tracer. @default exports no spans */
  readonly tracer?: Tracer | undefined
}

/** Durations of leader election, in milliseconds. @see createLeaderElector for the defaults */
export interface LeaseTimes {
  /** A multiple of 1,000. */
  readonly leaseDurationMs?: number
  /** Less than `leaseDurationMs`. */
  readonly renewDeadlineMs?: number
  readonly retryPeriodMs?: number
}

/** A running controller. */
export interface RunningController {
  /** Resolves when the initial lists have arrived. */
  readonly ready: Promise<void>
  /** Resolves after `stop`; rejects with the error that ended the controller early. */
  readonly stopped: Promise<void>
  /** Whether it acts now: it leads, or runs without leader election. */
  isLeading(): boolean
  /** Whether it acts and the served CRDs are complete; a write under other CRDs would drop stored fields. */
  mayWrite(): boolean
  /** Shuts down gracefully: starts no more passes, waits briefly for running ones, releases the Lease. */
  stop(): Promise<void>
}

/** Time for running passes at shutdown, in milliseconds; the next leader waits for them. */
const STOP_GRACE_MS = 1_000
/** Time for running passes after losing the Lease, in milliseconds; no other process leads before it has expired. */
const LOST_GRACE_MS = 5_000

/** Starts the Rollout and BatchRelease reconcilers against one API server. */
export function startController(given: ControllerOptions): RunningController {
  const log = given.log.child({ program: fieldManagers.controller, identity: given.identity })
  const options = { ...onServerClock(given), log }
  const { clock, metrics, tracer = noTracer } = options
  const { wrap } = options.failpoints ?? noFailpoints
  const client = clientFor(options)
  const cluster = traceWrites(watchedCluster(options, client), tracer)
  const events = countEvents(recorderFor(options, client), metrics)
  const queue = options.queue === undefined ? undefined : wrap('queue', options.queue)
  const onOutage = (): void => wakeReleases(cluster, term.woken)
  const enqueuer = queue === undefined ? null : createEnqueuer({ queue, clock, log, tracer, onOutage })
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
  const term = createTerm(options, { client, cluster, events, schemas, egress, queueOutage: () => enqueuer?.outage() ?? null })
  const elector = electorFor(options, term, () => isStopping)
  let isStopping = false
  let isSeen = false
  const isLeading = (): boolean => (options.leaderElection ? elector.isLeader() : isSeen && !ending.signal.aborted)
  if (metrics !== undefined) exportReleaseMetrics({ metrics, cluster, clock, log, schemas, isLeading })
  const ready = cluster.start(ending.signal, end.reject).then(async () => {
    await schemas.start(ending.signal)
    followCluster({ cluster, woken: term.woken, enqueuer, clock }, ending.signal)
    if (options.leaderElection) elector.start()
    else term.begin()
    isSeen = true
  })
  ready.catch(end.reject)
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
      ending.abort(new Error('the controller is stopping'))
      await egress.close()
      end.resolve()
    },
  }
}

function clientFor(options: ControllerOptions): KubeClient {
  const { clock, log, metrics, tracer = noTracer, seed = 0 } = options
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

function watchedCluster(options: ControllerOptions, client: KubeClient): WatchedCluster {
  const { clock, log, metrics, seed = 0, namespaces, clusterCache } = options
  return watchCluster({
    ...{ client, clock, log, seed, withRollouts: true },
    ...(namespaces !== undefined && { namespaces }),
    ...watchLag(metrics, clock, 'controller'),
    ...(clusterCache !== undefined && { clusterCache }),
  })
}

function recorderFor({ identity, clock, log, failpoints = noFailpoints }: ControllerOptions, client: KubeClient): EventRecorder {
  const port = failpoints.wrap('events', createEventPort(client))
  return createEventRecorder({ port, component: fieldManagers.controller, instance: identity, clock, log })
}

/** Wakes all releases when the queue fails or recovers, so that their status shows it. */
function wakeReleases({ batchReleases }: WatchedCluster, woken: Woken): void {
  for (const release of batchReleases.store.list()) woken.release(keyText(keyOf(release)))
}

function electorFor(options: ControllerOptions, term: Term, isStopping: () => boolean): LeaderElector {
  const { clock, log, identity, failpoints = noFailpoints, seed = 0 } = options
  const leaseKey = { namespace: options.leaseNamespace ?? LEASE_NAMESPACE, name: LEASE_NAME }
  const client = clientFor({ ...options, exchange: options.leaseExchange ?? options.exchange })
  return createLeaderElector({
    port: failpoints.wrap('lease', createLeasePort(client, leaseKey)),
    watch: createLeaseWatch({ client, clock, log, seed }, leaseKey),
    ...options.leaseTimes,
    identity,
    clock,
    log,
    onStarted: () => term.begin(),
    onStopped: () => term.end(isStopping() ? STOP_GRACE_MS : LOST_GRACE_MS),
  })
}

interface Followers {
  readonly cluster: WatchedCluster
  readonly woken: Woken
  readonly enqueuer: Enqueuer | null
  readonly clock: Clock
}

/** Wakes reconcilers and executors on changes of the synced cluster. */
function followCluster({ cluster, woken, enqueuer, clock }: Followers, signal: AbortSignal): void {
  wakeByWatches(cluster, woken)
  wakeWhenPoliciesAreSeen(cluster, woken, signal)
  if (enqueuer === null) return
  enqueueOnChange(cluster, enqueuer)
  enqueueWaiting(cluster, enqueuer, clock, signal)
}

/** Wakes everything once policies are synced, because the CRD of ReleasePolicy may be served later than the controller starts. */
function wakeWhenPoliciesAreSeen(cluster: WatchedCluster, woken: Woken, signal: AbortSignal): void {
  if (cluster.policies.synced) return
  cluster.policies.whenSynced(signal).then(
    () => wakeAll(cluster, woken),
    () => {},
  )
}
