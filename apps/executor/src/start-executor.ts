import type { Clock, Timer } from '@tranche/clock'
import {
  createTouchValues,
  type HelperPods,
  isSameButForCounts,
  type NodeDowntimes,
  type NodeLocks,
  readPod,
  type SharedClusterCache,
  traceWrites,
  type WatchedCluster,
  watchCluster,
  watchHelperPods,
  watchNodeDowntimes,
  watchNodeLocks,
} from '@tranche/cluster'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import { createKubeClient, type KubeClient, onServerClock, resourcePaths, traceExchange } from '@tranche/kube-client'
import { fieldManagers, keyOf, keyText, NODE_LOCK_NAMESPACE, type ObjectKey, parseKey } from '@tranche/kube-types'
import { type Logger, noTracer, type Tracer } from '@tranche/telemetry'
import { createMeter, type Metrics, observing, watchLag } from '@tranche/metrics'
import {
  createDowntimeCheck,
  createDrainCheck,
  createLockCheck,
  createNodePreparer,
  createPrePullCheck,
  createRoomCheck,
  type NodePreparer,
  readsControl,
} from '@tranche/node-checks'
import { createExecutorPass, type ExecutorPort } from '@tranche/partition-executor'
import { controlledBy } from '@tranche/planner'
import { createEnqueuer, type JobQueue, type Worker } from '@tranche/queue'
import { createEventRecorder, createJobHandler, createThrottle, type EventPort, type EventRecorder } from '@tranche/reconcile'
import type { Exchange } from '@tranche/wire'
import { countPort } from './count-port.ts'
import { createExecutorPort, isControlled } from './executor-port.ts'
import { tracePort } from './trace-port.ts'

/** Options of an executor process. */
export interface ExecutorOptions {
  readonly exchange: Exchange
  /** Exchange for watches. @default exchange */
  readonly watchExchange?: Exchange
  /** Cluster cache shared with other programs of this process; its creator starts it. @default one of its own */
  readonly clusterCache?: SharedClusterCache
  readonly clock: Clock
  readonly log: Logger
  /** Unique among all executors, including past ones. */
  readonly identity: string
  /** Queue of DaemonSets to process; the executor also enqueues changes from its own watches. */
  readonly queue: JobQueue
  /** Namespaces to process, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Maximum number of DaemonSets processed concurrently, ≥ 1. @default 4 */
  readonly workers?: number
  /** Namespaces whose policies may drain nodes, because a drain evicts pods of any namespace; `*` for all. @default none */
  readonly drainNamespaces?: readonly string[]
  /** Whether nodes have the condition `DrainInProgress` while they are drained. @default false */
  readonly drainConditions?: boolean
  /** Namespaces whose policies may lock nodes, which keeps other programs off them; `*` for all. @default none */
  readonly lockNamespaces?: readonly string[]
  /** Namespace of the Leases of nodes. Without `lockNamespaces` they are not watched. @default medik8s-leases */
  readonly lockLeaseNamespace?: string
  /** Namespace of the Leases that remember the downtime of nodes. @default none: policies may not limit downtime */
  readonly downtimeNamespace?: string
  /** Failpoints, at which tests can crash or delay the process. @default none */
  readonly failpoints?: Failpoints
  /** Seed of the reconnect jitter. @default 0 */
  readonly seed?: number
  /** Version in the user agent. @default 0.1.0 */
  readonly version?: string
  /** Whether executors may create helper pods for policies with prePull, and watch them. @default false */
  readonly prePull?: boolean
  /** Whether policies may check that nodes have room, for which executors list the pods of all namespaces. @default false */
  readonly room?: boolean
  /** Metrics registry. @default no metrics */
  readonly metrics?: Metrics
  /** Tracer. @default exports no spans */
  readonly tracer?: Tracer | undefined
}

/** A running executor. */
export interface RunningExecutor {
  /** Resolves when the initial lists have arrived. */
  readonly ready: Promise<void>
  /** Resolves after `stop`; rejects with the error that ended the executor early. */
  readonly stopped: Promise<void>
  /** Shuts down gracefully: takes no more jobs and waits briefly for running passes. */
  stop(): Promise<void>
}

/** Interval at which every controlled DaemonSet is enqueued, in milliseconds; this recovers lost jobs. */
const SWEEP_MS = 30_000
const STOP_GRACE_MS = 5_000

/** Starts the partition executor against one API server. */
export function startExecutor(given: ExecutorOptions): RunningExecutor {
  const options = onServerClock(given)
  const { clock, metrics, tracer = noTracer, seed = 0 } = options
  const meter = createMeter({ metrics, clock, program: 'executor' })
  const { wrap } = options.failpoints ?? noFailpoints
  const queue = wrap('queue', options.queue)
  const log = options.log.child({ program: fieldManagers.executor, identity: options.identity })
  const userAgent = `${fieldManagers.executor}/${options.version ?? '0.1.0'}`
  const exchange = traceExchange(meter(options.exchange), tracer)
  const watchExchange = options.watchExchange === undefined ? {} : { watchExchange: meter(options.watchExchange) }
  const client = createKubeClient({ exchange, ...watchExchange, clock, userAgent, log, seed })
  const scope = options.namespaces === undefined ? {} : { namespaces: options.namespaces }
  const watched = watchCluster({
    ...{ client, clock, log, seed, withRollouts: false, ...scope },
    ...watchLag(metrics, clock, 'executor'),
    ...(options.clusterCache !== undefined && { clusterCache: options.clusterCache }),
  })
  const cluster = traceWrites(watched, tracer)
  const ending = new AbortController()
  const { preparer, helpers, locks, downtimes } = prepareNodes(options, { client, cluster, clock, log, seed })
  const real = createExecutorPort({ client, cluster, preparer, uniqueValue: createTouchValues(options.identity) })
  const port = wrap('executor', tracePort(countPort(real, metrics), tracer))
  const pass = createExecutorPass({ cluster: port, clock })
  const end = Promise.withResolvers<void>()
  const enqueuer = createEnqueuer({ queue, clock, log, tracer })
  let worker: Worker | undefined

  const ready = cluster.start(ending.signal, end.reject).then(() => {
    const enqueue = (key: ObjectKey): void => enqueuer.enqueue(keyText(key))
    wakeByWatches(cluster, clock, enqueue)
    wakeByHelpers(helpers, cluster, enqueue)
    wakeByLocks(locks, cluster, enqueue)
    helpers?.start(ending.signal, end.reject)
    locks?.start(ending.signal, end.reject)
    downtimes?.start(ending.signal, end.reject)
    sweep(clock, ending.signal, () => enqueueAll(cluster, enqueue))
    sweep(clock, ending.signal, nodeSweeper(port, log, ending.signal))
    const handler = createJobHandler({ name: 'partition-executor', reconcile: pass, clock, log, tracer, ...observing(metrics) })
    worker = queue.process(handler, { concurrency: options.workers ?? 4 })
  })
  ready.catch(end.reject)

  return {
    ready,
    stopped: end.promise,
    async stop() {
      await worker?.close(STOP_GRACE_MS)
      enqueuer.stop()
      ending.abort(new Error('the executor is stopping'))
      end.resolve()
    },
  }
}

interface Preparing {
  readonly client: KubeClient
  readonly cluster: WatchedCluster
  readonly clock: Clock
  readonly log: Logger
  readonly seed: number
}

interface PreparedNodes {
  readonly preparer: NodePreparer
  readonly helpers: HelperPods | undefined
  readonly locks: NodeLocks | undefined
  readonly downtimes: NodeDowntimes | undefined
}

/** Puts the checks of nodes together. What the installation does not allow is not watched. */
function prepareNodes(options: ExecutorOptions, { client, cluster, clock, log, seed }: Preparing): PreparedNodes {
  const {
    drainConditions: setsConditions = false,
    drainNamespaces = [],
    lockNamespaces = [],
    lockLeaseNamespace = NODE_LOCK_NAMESPACE,
  } = options
  const { namespaces, prePull, downtimeNamespace } = options
  const watching = { client, clock, log, seed }
  const helpers = prePull === true ? watchHelperPods({ ...watching, ...(namespaces && { namespaces }) }) : undefined
  const locks = lockNamespaces.length === 0 ? undefined : watchNodeLocks({ ...watching, namespace: lockLeaseNamespace })
  const downtimes = downtimeNamespace === undefined ? undefined : watchNodeDowntimes({ ...watching, namespace: downtimeNamespace })
  const controlling = (): ReadonlySet<string> => new Set(cluster.daemonSets.store.list().flatMap((one) => controlledBy(one)?.uid ?? []))
  const events = recorderFor(options, client, log)
  // A lock keeps other programs off the node before a drain cordons it.
  const preparer = createNodePreparer([
    createRoomCheck({ client, clock, log, isAllowed: options.room === true }),
    createPrePullCheck({ clock, helpers, controlling, readsControl: (release, until) => readsControl(client, release, until) }),
    createLockCheck({ cluster, clock, locks, trusted: lockNamespaces, watched: namespaces }),
    createDrainCheck({ client, cluster, clock, log, events, trusted: drainNamespaces, watched: namespaces, setsConditions }),
    // Only a deletion that comes next is remembered.
    createDowntimeCheck({ cluster, clock, downtimes, watched: namespaces, readPod: (pod, until) => readPod(client, pod, until) }),
  ])
  return { preparer, helpers, locks, downtimes }
}

/**
 * Minimum interval of wakes by pod changes, in milliseconds: 1 per 100 nodes, at most 50. A pass over a large fleet then sees many changes
 * at once. So the cost per change does not grow with the fleet.
 */
function gatherMs(cluster: WatchedCluster): number {
  return Math.min(50, Math.floor(cluster.nodes.store.size / 100))
}

/** Writes each event as a new one: executors may create events, and change none. */
function recorderFor({ identity, clock, metrics }: ExecutorOptions, client: KubeClient, log: Logger): Pick<EventRecorder, 'record'> {
  const port: EventPort = { create: async (event) => void (await client.create(resourcePaths.events, event)), repeat: async () => false }
  const recorder = createEventRecorder({ port, component: fieldManagers.executor, instance: identity, clock, log })
  return {
    record(regarding, type, reason, message) {
      metrics?.count('tranche_events_total', { type, reason })
      recorder.record(regarding, type, reason, message)
    },
  }
}

/** Enqueues a DaemonSet on every change that may affect the decision of a pass. Only pod changes are throttled. */
function wakeByWatches(cluster: WatchedCluster, clock: Clock, enqueue: (key: ObjectKey) => void): void {
  const keysByUid = new Map<string, ObjectKey>()
  const noteAndEnqueue = (key: ObjectKey): void => {
    const daemonSet = cluster.daemonSets.store.get(key)
    if (daemonSet === undefined) return
    keysByUid.set(daemonSet.metadata.uid, key)
    if (isControlled(daemonSet)) enqueue(key)
  }
  const podsChanged = createThrottle({ clock, everyMs: () => gatherMs(cluster), wake: (key) => noteAndEnqueue(parseKey(key)) })
  for (const daemonSet of cluster.daemonSets.store.list()) noteAndEnqueue(keyOf(daemonSet))
  cluster.daemonSets.subscribe({
    onChange(key, previous, current) {
      if (current === undefined && previous !== undefined) keysByUid.delete(previous.metadata.uid)
      else if (!isSameButForCounts(previous, current)) noteAndEnqueue(key)
    },
  })
  cluster.batchReleases.subscribe({
    onChange(key, previous, current) {
      const name = (current ?? previous)?.spec.workloadRef?.name
      if (name !== undefined) noteAndEnqueue({ namespace: key.namespace, name })
    },
  })
  cluster.pods.subscribe({
    onChange(_key, previous, current) {
      const pod = current ?? previous
      const key = keysByUid.get(pod?.ownerUid ?? '')
      if (key !== undefined && key.namespace === pod?.namespace) podsChanged(keyText(key))
    },
  })
  cluster.nodes.subscribe({ onChange: () => enqueueAll(cluster, enqueue) })
}

/** Enqueues the DaemonSet of a release whose helper pod has another state. */
function wakeByHelpers(helpers: HelperPods | undefined, cluster: WatchedCluster, enqueue: (key: ObjectKey) => void): void {
  helpers?.subscribe(({ namespace, release }) => {
    const name = cluster.overlay.batchReleases.get({ namespace, name: release.name })?.spec.workloadRef?.name
    if (name !== undefined && isControlled(cluster.daemonSets.store.get({ namespace, name }))) enqueue({ namespace, name })
  })
}

/** Enqueues the DaemonSet of a release that holds the lock of a node, or held it before. */
function wakeByLocks(locks: NodeLocks | undefined, cluster: WatchedCluster, enqueue: (key: ObjectKey) => void): void {
  locks?.subscribe(({ namespace, name: release }) => {
    const name = cluster.overlay.batchReleases.get({ namespace, name: release })?.spec.workloadRef?.name
    if (name !== undefined && isControlled(cluster.daemonSets.store.get({ namespace, name }))) enqueue({ namespace, name })
  })
}

/** A failed sweep is repeated by the next one. None begins before the one before has ended: an API server may answer late for hours. */
function nodeSweeper(port: Pick<ExecutorPort, 'sweepNodes'>, log: Logger, signal: AbortSignal): () => void {
  let isSweeping = false
  async function sweepOnce(): Promise<void> {
    try {
      await port.sweepNodes(signal)
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'could not undo what finished releases did on nodes')
    } finally {
      isSweeping = false
    }
  }
  return () => {
    if (isSweeping) return
    isSweeping = true
    void sweepOnce()
  }
}

function sweep(clock: Clock, signal: AbortSignal, act: () => void): void {
  let timer: Timer
  const next = (): void => {
    timer = clock.setTimer(SWEEP_MS, () => {
      act()
      next()
    })
  }
  next()
  signal.addEventListener('abort', () => timer.cancel(), { once: true })
}

function enqueueAll(cluster: WatchedCluster, enqueue: (key: ObjectKey) => void): void {
  for (const daemonSet of cluster.daemonSets.store.list()) if (isControlled(daemonSet)) enqueue(keyOf(daemonSet))
}
