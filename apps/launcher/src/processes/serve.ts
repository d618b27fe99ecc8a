import { randomBytes, randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import { type CommandIo, type ExitCode, exitCodes, listenForStop, readAllowHosts, userAgent, VERSION, whenAborted } from '@tranche/cli'
import { systemClock } from '@tranche/clock'
import type { ApiOptions, RunningApi } from '@tranche/api'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import {
  createThreadJudge,
  type RunningController,
  type RunningWebhook,
  startController,
  startChangeObserver,
  startWebhook,
} from '@tranche/controller'
import { type RunningExecutor, startExecutor } from '@tranche/executor'
import { createKubeClient, createUndiciExchange, loadKubeConfig, type UndiciExchange } from '@tranche/kube-client'
import { fieldManagers, LEASE_NAME, LEASE_NAMESPACE } from '@tranche/kube-types'
import { type LogFields, type Logger, silentLogger } from '@tranche/log'
import { createMetrics, type Metrics, exportJobMetrics, waiting } from '@tranche/metrics'
import { noTracer, type Tracer } from '@tranche/tracing'
import { readTracingSettings } from '@tranche/tracing-otlp'
import type { HostRule } from '@tranche/egress'
import { createInProcessQueue, type JobQueue } from '@tranche/queue'
import type { RedisSettings } from '@tranche/queue-bullmq'
import { failpointsOf } from '../failpoints/failpoints.ts'
import type { ProcessOptions } from '../options/process-options.ts'
import { reachCluster } from './reach-cluster.ts'
import { followHealth, notYet, type ProgramHealth } from '../health/program-health.ts'
import { startHealth } from '../health/start-health.ts'
import { startMetrics } from '../health/start-metrics.ts'
import { createStderrLogger } from '../logging/logging.ts'
import type { ApiProcessOptions } from '../options/api-process-options.ts'
import { readRedisSettings } from '../redis/redis-options.ts'
import { shrinkHeap } from './shrink-heap.ts'
import { startTracing } from '../logging/tracing.ts'
import { shareCluster } from './share-cluster.ts'

/** Time for jobs in progress to finish after a stop, in milliseconds. */
const QUEUE_CLOSE_MS = 1_000
/** Maximum duration of a shutdown, in milliseconds: below the 10 s that many environments allow. */
const STOP_GRACE_MS = 9_000
/** Time to export the remaining traces at shutdown, in milliseconds. */
const TRACES_CLOSE_MS = 2_000

/**
 * Runs controller, executor, REST API, or all of them against a cluster until a stop signal.
 *
 * If the cluster or Redis is unreachable or rejects the credentials, the process logs it and retries, at the start and later. Only
 * invalid local configuration ends the process.
 *
 * @throws {AppError} KUBECONFIG_INVALID, OPTION_INVALID, PORT_IN_USE at the start
 */
export async function serve(options: ProcessOptions, io: CommandIo): Promise<ExitCode> {
  // The REST API has no failpoints: it holds no state that a crash could lose.
  const failpoints = options.command === 'api' ? noFailpoints : failpointsOf(options.command, io.env, systemClock)
  const hostRules = await readAllowHosts(options.allowHosts)
  const redis = readRedisSettings(options.redis, io.env)
  const tracing = readTracingSettings(io.env)
  const cluster = await loadKubeConfig({ clock: systemClock, path: options.kubeconfig, context: options.context, env: io.env })
  await using cleanup = new AsyncDisposableStack()
  const stop = cleanup.adopt(listenForStop(STOP_GRACE_MS), ({ release }) => release())
  const sockets = cleanup.adopt(createUndiciExchange(cluster), (open) => open.close())
  let tracer = noTracer
  const identity = `${options.identity ?? hostname()}_${randomBytes(4).toString('hex')}`
  const own = { program: `tranche-${options.command}`, identity }
  const log = createStderrLogger(options.logLevel, own, ...(tracing === null ? [] : [() => tracer.traceId()]))
  if (tracing !== null) {
    // Adopted before the programs, so that it also exports the spans of their shutdown.
    const sender = cleanup.adopt(await startTracing(tracing, log, identity), (open) => open.close(TRACES_CLOSE_MS))
    tracer = sender.tracer
  }
  const healthOf = new Map<ProgramName | 'redis', ProgramHealth>(programsOf(options).map((name) => [name, notYet]))
  if (redis !== null) healthOf.set('redis', notYet)
  if (options.health !== null) {
    // Adopted before the programs, so that probes are answered until the programs have stopped.
    const { url } = cleanup.adopt(await startHealth(options.health, healthOf), (open) => open.close())
    log.info({ url: `${url}/readyz` }, 'serving health probes')
  }
  const client = createKubeClient({
    exchange: sockets.exchange,
    clock: systemClock,
    log: silentLogger,
    userAgent: userAgent('tranche-cli'),
  })
  await reachCluster(cluster, { client, clock: systemClock, log, signal: stop.signal })
  if (stop.signal.aborted) return exitCodes.done

  const programs = await startPrograms(
    { ...options, redisSettings: redis, failpoints, hostRules, log, healthOf, identity, tracer },
    sockets,
    cleanup,
  )
  if (redis !== null) {
    const { followRedis } = await import('../health/follow-redis.ts')
    const looks = cleanup.adopt(new AbortController(), (controller) => controller.abort())
    healthOf.set('redis', followRedis({ redis, prefix: options.redis.prefix, clock: systemClock, log, signal: looks.signal }))
  }
  await Promise.race([whenAborted(stop.signal), ...programs.map((program) => program.stopped)])
  return exitCodes.done
}

/** Settings and parts that exist before the programs start. */
interface Readings {
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

/** Starts the programs. Their identities are random, because touches of pods are distinguished by identity across restarts. */
async function startPrograms(
  options: ProcessOptions & Readings,
  sockets: UndiciExchange,
  cleanup: AsyncDisposableStack,
): Promise<readonly Pick<Running, 'stopped'>[]> {
  const { exchange, watchExchange, urgentExchange } = sockets
  const seed = randomInt(0x7fff_ffff)
  const { log, healthOf, identity, tracer } = options
  const { namespaces, leaseNamespace = LEASE_NAMESPACE } = options.scope
  const metrics =
    options.metrics === null ? {} : { metrics: await createMetrics({ clock: systemClock, log, version: VERSION, withProcess: true }) }
  const common = {
    exchange,
    watchExchange,
    clock: systemClock,
    log,
    seed,
    failpoints: options.failpoints,
    tracer,
    ...metrics,
    ...(namespaces !== undefined && { namespaces }),
  }
  const queue = cleanup.adopt(await createQueue(options, { log, withTraces: tracer.isOn, ...metrics }), (open) =>
    open.close(QUEUE_CLOSE_MS),
  )
  const programs: Pick<Running, 'stopped'>[] = []
  if (options.metrics !== null && metrics.metrics !== undefined) {
    const { url } = cleanup.adopt(await startMetrics(options.metrics, metrics.metrics, log), (open) => open.close())
    log.info({ url: `${url}/metrics` }, 'serving metrics')
  }
  // Adopted before the programs, so that it watches until they have stopped.
  const watching = cleanup.adopt(new AbortController(), (open) => open.abort(new Error('the process stops')))
  const clusterCache = options.command === 'all-in-one' ? shareCluster({ ...common, identity: `${identity}_controller` }) : undefined
  if (clusterCache !== undefined) {
    const { promise, reject } = Promise.withResolvers<void>()
    clusterCache.start(watching.signal, reject)
    programs.push({ stopped: promise })
  }
  const shared = clusterCache === undefined ? {} : { clusterCache }
  const stops: (() => Promise<void>)[] = []
  const readies: Promise<unknown>[] = []
  // In parallel, so that the shutdown times do not add up.
  cleanup.defer(() => allDone(stops.map((stop) => stop())))
  const keep = (name: ProgramName, program: Running & Pick<ProgramHealth, 'isLeading'>, fields: LogFields = {}): void => {
    const identityFields = { program: name === 'webhook' ? fieldManagers.controller : fieldManagers[name], identity: `${identity}_${name}` }
    log.info({ ...identityFields, ...fields }, 'started')
    programs.push(program)
    readies.push(program.ready)
    stops.push(() => program.stop().then(() => log.info(identityFields, 'stopped')))
    healthOf.set(name, followHealth(program))
  }

  const runs = new Set(programsOf(options))
  if (runs.has('controller')) {
    const { admission, leaderElection } = options
    const fields = { lease: `${leaseNamespace}/${LEASE_NAME}` }
    const judge = cleanup.adopt(createThreadJudge({ clock: systemClock }), (open) => open.close())
    const controller = startController({
      ...common,
      ...shared,
      judge,
      identity: `${identity}_controller`,
      admission,
      leaderElection,
      leaseNamespace,
      leaseExchange: urgentExchange,
      allowHosts: options.hostRules,
      ...((options.command === 'all-in-one' || options.redisSettings !== null) && { queue }),
    })
    keep('controller', controller, leaderElection ? fields : {})
    const changeObserver = startChangeObserver({ ...common, mayWrite: () => controller.mayWrite() })
    stops.push(() => changeObserver.stop())
    if (options.webhook !== null) {
      const { listen, certificate } = options.webhook
      const webhook = await startWebhook({
        ...common,
        identity: `${identity}_webhook`,
        listen,
        certificate: certificate.kind === 'own' ? { ...certificate, isLeading: () => controller.isLeading() } : certificate,
      })
      keep('webhook', webhook, { url: webhook.url })
    }
  }
  if (runs.has('executor')) {
    keep('executor', startExecutor({ ...common, ...shared, identity: `${identity}_executor`, queue, workers: options.workers }))
  }
  if (options.api !== null) {
    const api = await startApiProgram({ ...common, ...shared }, options.api)
    keep('api', api, { url: api.url })
  }
  // Startup errors are handled elsewhere; a failed shrink only costs memory.
  Promise.all(readies)
    .then(shrinkHeap)
    .catch((error: unknown) => log.debug({ err: error }, 'could not shrink heap'))
  return programs
}

/** @throws the first error, after all have ended */
async function allDone(ends: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason
}

type ProgramName = 'controller' | 'webhook' | 'executor' | 'api'

function programsOf({ command, webhook, api }: ProcessOptions): readonly ProgramName[] {
  const main: readonly ProgramName[] = command === 'all-in-one' ? ['controller', 'executor'] : command === 'api' ? [] : [command]
  return [...main, ...(webhook === null ? [] : (['webhook'] as const)), ...(api === null ? [] : (['api'] as const))]
}

type Running = Pick<RunningController | RunningWebhook | RunningExecutor | RunningApi, 'ready' | 'stopped' | 'stop'>

/** Loads the libraries of the REST API only if it runs. */
async function startApiProgram(
  common: Pick<ApiOptions, 'exchange' | 'clock' | 'log'> & Partial<ApiOptions>,
  { requestsPerSecond, ...options }: ApiProcessOptions,
): Promise<RunningApi> {
  const { startApi } = await import('@tranche/api')
  return startApi({ ...common, ...options, withProcess: true, limits: { requestsPerSecond } })
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
