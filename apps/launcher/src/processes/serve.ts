import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type CommandIo, type ExitCode, exitCodes, listenForStop, readAllowHosts, userAgent, whenAborted } from '@tranche/cli'
import { systemClock } from '@tranche/clock'
import { noFailpoints } from '@tranche/failpoints'
import { createKubeClient, createUndiciExchange, loadKubeConfig } from '@tranche/kube-client'
import { silentLogger, noTracer } from '@tranche/telemetry'
import { readTracingSettings } from '@tranche/tracing-otlp'
import { failpointsOf } from '../failpoints/failpoints.ts'
import type { ProcessOptions } from '../options/process-options.ts'
import { reachCluster } from './reach-cluster.ts'
import { notYet, type ProgramHealth } from '../health/program-health.ts'
import { startHealth } from '../health/start-health.ts'
import { createStderrLogger } from '../logging/logging.ts'
import { readRedisSettings } from '../redis/redis-options.ts'
import { startTracing } from '../logging/tracing.ts'
import { type ProgramName, programsOf, startPrograms } from './start-programs.ts'

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
