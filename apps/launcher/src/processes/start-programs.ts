import { randomInt } from 'node:crypto'
import type { ApiOptions, RunningApi } from '@tranche/api'
import { VERSION } from '@tranche/cli'
import { type Clock, systemClock } from '@tranche/clock'
import type { SharedClusterCache } from '@tranche/cluster'
import {
  createThreadJudge,
  type RunningController,
  type RunningWebhook,
  startChangeObserver,
  startController,
  startWebhook,
} from '@tranche/controller'
import type { HostRule } from '@tranche/egress'
import { type RunningExecutor, startExecutor } from '@tranche/executor'
import type { Failpoints } from '@tranche/failpoints'
import type { UndiciExchange } from '@tranche/kube-client'
import { fieldManagers, LEASE_NAME, LEASE_NAMESPACE } from '@tranche/kube-types'
import type { LogFields, Logger, Tracer } from '@tranche/telemetry'
import { createMetrics, exportJobMetrics, type Metrics, waiting } from '@tranche/metrics'
import { createInProcessQueue, type JobQueue } from '@tranche/queue'
import type { RedisSettings } from '@tranche/queue-bullmq'
import type { Exchange } from '@tranche/wire'
import { findDashboard } from '../dashboard/find-dashboard.ts'
import { followHealth, type ProgramHealth } from '../health/program-health.ts'
import { startMetrics } from '../health/start-metrics.ts'
import type { ApiProcessOptions } from '../options/api-process-options.ts'
import type { ProcessOptions } from '../options/process-options.ts'
import type { WebhookProcessOptions } from '../options/webhook-options.ts'
import { shareCluster } from './share-cluster.ts'
import { shrinkHeap } from './shrink-heap.ts'

/** Program of a process, as in its logs and health probes. */
export type ProgramName = 'controller' | 'webhook' | 'executor' | 'api'

/** @returns the programs that run with these options */
export function programsOf({ command, webhook, api }: ProcessOptions): readonly ProgramName[] {
  const main: readonly ProgramName[] = command === 'all-in-one' ? ['controller', 'executor'] : command === 'api' ? [] : [command]
  return [...main, ...(webhook === null ? [] : (['webhook'] as const)), ...(api === null ? [] : (['api'] as const))]
}

/** Options of the process, and parts that exist before the programs start. */
export interface ProgramsOptions extends ProcessOptions {
  readonly redisSettings: RedisSettings | null
  readonly failpoints: Failpoints
  readonly hostRules: readonly HostRule[]
  readonly log: Logger
  /** Health by program; each entry is replaced when its program has started. */
  readonly healthOf: Map<ProgramName | 'redis', ProgramHealth>
  /** Identity of the process. */
  readonly identity: string
  readonly tracer: Tracer
}

/** Time for jobs in progress to finish after a stop, in milliseconds. */
const QUEUE_CLOSE_MS = 1_000

/**
 * Starts the programs. Their identities are random, because touches of pods are distinguished by identity across restarts.
 *
 * @returns the programs; each rejects `stopped` with the error that ended it early
 */
export async function startPrograms(
  options: ProgramsOptions,
  sockets: UndiciExchange,
  cleanup: AsyncDisposableStack,
): Promise<readonly Pick<Running, 'stopped'>[]> {
  const { tracer } = options
  const started = new StartedPrograms(options)
  const common = await createCommon(options, sockets)
  const queue = cleanup.adopt(await createQueue(options, { ...common, withTraces: tracer.isOn }), (open) => open.close(QUEUE_CLOSE_MS))
  await serveMetrics(options, common, cleanup)
  const shared = startSharedCache({ options, common, cleanup, started })
  // In parallel, so that the shutdown times do not add up.
  cleanup.defer(() => started.stop())
  const parts = { options, common, shared, queue, cleanup, started, leaseExchange: sockets.urgentExchange }
  const runs = new Set(programsOf(options))
  if (runs.has('controller')) await startControllers(parts)
  if (runs.has('executor')) startExecutors(parts)
  if (options.api !== null) {
    const api = await startApiProgram({ ...common, ...shared, leaseNamespace: options.scope.leaseNamespace }, options.api)
    started.keep('api', api, { url: api.url })
  }
  started.shrinkOnceReady()
  return started.programs
}

type Running = Pick<RunningController | RunningWebhook | RunningExecutor | RunningApi, 'ready' | 'stopped' | 'stop'>

/** Programs that have started. */
class StartedPrograms {
  readonly #options: ProgramsOptions
  readonly #programs: Pick<Running, 'stopped'>[] = []
  readonly #stops: (() => Promise<void>)[] = []
  readonly #readies: Promise<unknown>[] = []

  constructor(options: ProgramsOptions) {
    this.#options = options
  }

  get programs(): readonly Pick<Running, 'stopped'>[] {
    return this.#programs
  }

  /** Logs the start, and exports the health of the program. */
  keep(name: ProgramName, program: Running & Pick<ProgramHealth, 'isLeading'>, fields: LogFields = {}): void {
    const { log, healthOf, identity } = this.#options
    const identityFields = { program: name === 'webhook' ? fieldManagers.controller : fieldManagers[name], identity: `${identity}_${name}` }
    log.info({ ...identityFields, ...fields }, 'started')
    this.watch(program)
    this.#readies.push(program.ready)
    this.stopLater(() => program.stop().then(() => log.info(identityFields, 'stopped')))
    healthOf.set(name, followHealth(program))
  }

  /** Adds a part whose failure ends the process. */
  watch(program: Pick<Running, 'stopped'>): void {
    this.#programs.push(program)
  }

  stopLater(stop: () => Promise<void>): void {
    this.#stops.push(stop)
  }

  /** Startup errors are handled elsewhere; a failed shrink only costs memory. */
  shrinkOnceReady(): void {
    Promise.all(this.#readies)
      .then(shrinkHeap)
      .catch((error: unknown) => this.#options.log.debug({ err: error }, 'could not shrink heap'))
  }

  stop(): Promise<void> {
    return allDone(this.#stops.map((stop) => stop()))
  }
}

/** @throws the first error, after all have ended */
async function allDone(ends: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason
}

/** Settings and parts that all programs share. */
interface Common extends Pick<UndiciExchange, 'exchange' | 'watchExchange'> {
  readonly clock: Clock
  readonly log: Logger
  readonly seed: number
  readonly failpoints: Failpoints
  readonly tracer: Tracer
  readonly metrics?: Metrics
  readonly namespaces?: readonly string[]
}

async function createCommon(options: ProgramsOptions, { exchange, watchExchange }: UndiciExchange): Promise<Common> {
  const seed = randomInt(0x7fff_ffff)
  const { log, failpoints, tracer, scope } = options
  const metrics =
    options.metrics === null ? {} : { metrics: await createMetrics({ clock: systemClock, log, version: VERSION, withProcess: true }) }
  return {
    exchange,
    watchExchange,
    clock: systemClock,
    log,
    seed,
    failpoints,
    tracer,
    ...metrics,
    ...(scope.namespaces !== undefined && { namespaces: scope.namespaces }),
  }
}

async function serveMetrics({ metrics: port, log }: ProgramsOptions, { metrics }: Common, cleanup: AsyncDisposableStack): Promise<void> {
  if (port === null || metrics === undefined) return
  const { url } = cleanup.adopt(await startMetrics(port, metrics, log), (open) => open.close())
  log.info({ url: `${url}/metrics` }, 'serving metrics')
}

interface Shared {
  readonly clusterCache?: SharedClusterCache
}

interface SharedParts {
  readonly options: ProgramsOptions
  readonly common: Common
  readonly cleanup: AsyncDisposableStack
  readonly started: StartedPrograms
}

/** Starts the cluster cache of `all-in-one`. To be called before the programs start, so that it watches until they have stopped. */
function startSharedCache({ options, common, cleanup, started }: SharedParts): Shared {
  const watching = cleanup.adopt(new AbortController(), (open) => open.abort(new Error('the process stops')))
  if (options.command !== 'all-in-one') return {}
  const clusterCache = shareCluster({ ...common, identity: `${options.identity}_controller` })
  const { promise, reject } = Promise.withResolvers<void>()
  clusterCache.start(watching.signal, reject)
  started.watch({ stopped: promise })
  return { clusterCache }
}

interface ProgramParts extends SharedParts {
  readonly shared: Shared
  readonly queue: JobQueue
  readonly leaseExchange: Exchange
}

/** Starts the controller, its change observer, and the webhooks if they are on. */
async function startControllers(parts: ProgramParts): Promise<void> {
  const { options, common, shared, cleanup, started, queue, leaseExchange } = parts
  const { identity, admission, leaderElection } = options
  const { leaseNamespace = LEASE_NAMESPACE } = options.scope
  const judge = cleanup.adopt(createThreadJudge({ clock: systemClock }), (open) => open.close())
  const controller = startController({
    ...common,
    ...shared,
    judge,
    identity: `${identity}_controller`,
    admission,
    leaderElection,
    leaseNamespace,
    leaseExchange,
    groups: options.groups,
    room: options.room,
    prePull: options.prePull,
    drainNamespaces: options.drainNamespaces,
    lockNamespaces: options.nodeLocks?.lockNamespaces ?? [],
    downtime: options.downtimeNamespace !== undefined,
    allowHosts: options.hostRules,
    readConfig: options.readConfig,
    pinConfig: options.pinConfig,
    pinSecretNamespaces: options.pinSecretNamespaces,
    podPolicy: options.podPolicy,
    ...((options.command === 'all-in-one' || options.redisSettings !== null) && { queue }),
  })
  const fields = { lease: `${leaseNamespace}/${LEASE_NAME}` }
  started.keep('controller', controller, leaderElection ? fields : {})
  const changeObserver = startChangeObserver({ ...common, mayWrite: () => controller.mayWrite() })
  started.stopLater(() => changeObserver.stop())
  if (options.webhook !== null) await startWebhooks(parts, options.webhook, controller)
}

async function startWebhooks(
  { options, common, started }: ProgramParts,
  { listen, certificate }: WebhookProcessOptions,
  controller: RunningController,
): Promise<void> {
  const webhook = await startWebhook({
    ...common,
    identity: `${options.identity}_webhook`,
    listen,
    certificate: certificate.kind === 'own' ? { ...certificate, isLeading: () => controller.isLeading() } : certificate,
  })
  started.keep('webhook', webhook, { url: webhook.url })
}

function startExecutors({ options, common, shared, started, queue }: ProgramParts): void {
  const { identity, workers, room, prePull, drainNamespaces, drainConditions, nodeLocks, downtimeNamespace } = options
  const memory = downtimeNamespace === undefined ? {} : { downtimeNamespace }
  const rights = { room, prePull, drainNamespaces, drainConditions, ...nodeLocks, ...memory }
  started.keep('executor', startExecutor({ ...common, ...shared, ...rights, identity: `${identity}_executor`, queue, workers }))
}

/** Loads the libraries of the REST API only if it runs. */
async function startApiProgram(
  common: Pick<ApiOptions, 'exchange' | 'clock' | 'log'> & Partial<ApiOptions>,
  { requestsPerSecond, ...options }: ApiProcessOptions,
): Promise<RunningApi> {
  const { startApi } = await import('@tranche/api')
  return startApi({ ...common, ...options, version: VERSION, dashboard: findDashboard(), withProcess: true, limits: { requestsPerSecond } })
}

type QueueOptions = Pick<ProcessOptions, 'redis'> & { readonly redisSettings: RedisSettings | null }

async function createQueue(options: QueueOptions, parts: QueueParts): Promise<JobQueue> {
  const { metrics } = parts
  const common = { clock: systemClock, ...waiting(metrics, 'jobs') }
  const queue = options.redisSettings === null ? createInProcessQueue(common) : await createRedisQueue(options.redisSettings)
  if (metrics !== undefined) exportJobMetrics(metrics, queue)
  return queue

  /** Loads the Redis libraries only if Redis is configured. */
  async function createRedisQueue(redis: RedisSettings): Promise<JobQueue> {
    const { createBullmqQueue } = await import('@tranche/queue-bullmq')
    const { log, withTraces } = parts
    const { prefix } = options.redis
    return createBullmqQueue({ ...common, redis, log, withTraces, ...(prefix !== undefined && { prefix }) })
  }
}

interface QueueParts {
  readonly log: Logger
  readonly withTraces: boolean
  readonly metrics?: Metrics
}
