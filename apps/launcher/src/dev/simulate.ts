import type { SimFaults } from '@tranche/api-schema'
import {
  type CommandIo,
  type ExitCode,
  exitCodes,
  listenForStop,
  readAllowHosts,
  StopRequested,
  userAgent,
  whenAborted,
} from '@tranche/cli'
import { type Clock, systemClock, VirtualClock } from '@tranche/clock'
import { type Failpoints, noFailpoints } from '@tranche/failpoints'
import { createThreadJudge, type RunningController, startController, startChangeObserver } from '@tranche/controller'
import { type RunningExecutor, startExecutor } from '@tranche/executor'
import { createKubeClient, type KubeClient } from '@tranche/kube-client'
import { fieldManagers, LEASE_NAMESPACE } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import type { HostRule } from '@tranche/egress'
import { createInProcessQueue } from '@tranche/queue'
import type { RecordedWrite } from '@tranche/recording'
import { failpointsOf } from '../failpoints/failpoints.ts'
import type { SimulationOptions } from '../options/simulation-options.ts'
import { demoKey } from './demo-objects.ts'
import { demoSummary } from './demo-summary.ts'
import { driveClock } from './drive-clock.ts'
import { installDemo, installPolicies, installResources } from './install-objects.ts'
import { writeAccessFiles } from './kubeconfig-file.ts'
import { dashboardText, exportCommand, nextCommands, programCommands } from './next-commands.ts'
import { ownCommand } from './own-command.ts'
import { openLineFile, removeFile, type ReportUnwritable, writeWhole } from '../files/output-file.ts'
import { keepDrawing } from './keep-drawing.ts'
import { runDemo } from './run-demo.ts'
import type { Simulation } from './simulation.ts'
import type { DevApi } from './start-dev-api.ts'
import { type Faults, readFaultsFile, startFaults } from './start-faults.ts'
import { startSimulation } from './start-simulation.ts'
import { type ClusterWatch, watchDemoCluster } from './watch-cluster.ts'
import { createFileLogger } from '../logging/logging.ts'
import { createReleaseScreen, type ReleaseScreen } from '../screen/release-screen.ts'

/** Time for jobs in progress to finish after a stop, in milliseconds. */
const QUEUE_CLOSE_MS = 500
/** Maximum duration of a shutdown, in milliseconds. */
const STOP_GRACE_MS = 1_800

/**
 * Runs a simulated cluster, in `dev` with a controller and an executor. Ends on a stop signal, or after the demo release with `--exit`.
 *
 * @throws {AppError} PORT_IN_USE, FILE_UNWRITABLE, FAULTS_INVALID, RELEASE_STUCK
 */
export async function simulate(options: SimulationOptions, io: CommandIo): Promise<ExitCode> {
  if (options.readyFile !== undefined) removeFile(options.readyFile)
  const document = options.faults === undefined ? undefined : readFaultsFile(options.faults)
  const clock = options.virtual ? new VirtualClock() : systemClock
  const allowHosts = await readAllowHosts(options.allowHosts)
  const failpoints = options.command === 'dev' ? failpointsOf('dev', io.env, clock) : noFailpoints
  const stop = listenForStop(STOP_GRACE_MS)
  const files = watchFiles()
  try {
    const signal = AbortSignal.any([stop.signal, files.broken])
    const code = await driveClock(clock, runSession(options, { io, clock, signal, files, document, failpoints, allowHosts }))
    files.check()
    return code
  } catch (error) {
    files.check()
    if (!stop.signal.aborted) throw error
    return options.exit ? exitCodes.failed : exitCodes.done
  } finally {
    stop.release()
  }
}

/** Watches for write errors of the files that are written continuously. */
interface FileWatch {
  readonly report: ReportUnwritable
  /** Aborts at the first report. */
  readonly broken: AbortSignal
  /** @throws {AppError} the first report */
  check(): void
}

function watchFiles(): FileWatch {
  const broken = new AbortController()
  return {
    report: (error) => broken.abort(error),
    broken: broken.signal,
    check: () => broken.signal.throwIfAborted(),
  }
}

async function runSession(
  options: SimulationOptions,
  ports: Pick<Session, 'io' | 'clock' | 'signal' | 'files' | 'document' | 'failpoints' | 'allowHosts'>,
): Promise<ExitCode> {
  await using cleanup = new AsyncDisposableStack()
  const screen = cleanup.adopt(createReleaseScreen(ports.io, options.colors), ({ close }) => close())
  const log = openLog(options, ports, cleanup)
  return await play({ ...ports, options, cleanup, screen, log, recorded: [] })
}

/** Parts of one run of the command. */
interface Session {
  readonly options: SimulationOptions
  readonly io: CommandIo
  readonly clock: Clock
  /** Closes what was opened, last first. */
  readonly cleanup: AsyncDisposableStack
  readonly screen: ReleaseScreen
  readonly signal: AbortSignal
  readonly log: Logger
  readonly files: FileWatch
  readonly failpoints: Failpoints
  readonly allowHosts: readonly HostRule[]
  /** Faults to inject from the start. */
  readonly document: SimFaults | undefined
  /** Writes from which the result of the demo is computed. */
  readonly recorded: RecordedWrite[]
}

async function play(session: Session): Promise<ExitCode> {
  const { options, cleanup, clock, screen, signal, log } = session
  const simulation = cleanup.adopt(await startSimulation(toSettings(session)), (open) => open.close())
  const client = createKubeClient({
    exchange: simulation.exchangeFor(fieldManagers.cli),
    clock,
    log,
    userAgent: userAgent(fieldManagers.cli),
  })
  await installResources({ client, clock, signal })
  if (options.command === 'dev') await installPolicies({ client, clock, signal })
  if (options.demo !== 'empty') await installDemo({ client, clock, signal })
  const programs = options.command === 'dev' ? startPrograms(session, simulation) : []
  const faults = cleanup.adopt(await beginFaults(session, simulation), (open) => open.close())
  const api = await beginApi(session, simulation)
  const kubeconfig = shareAccess(session, { ...simulation, faults: faults.access, api })

  const watch = cleanup.adopt(watchDemoCluster({ client, clock, log, preferred: demoKey }), (open) => open.stop())
  await watch.synced
  cleanup.adopt(keepDrawing(watch, screen), (end) => end())
  const broken = Promise.race([watch.stopped, ...programs.map((program) => program.stopped)])
  return Promise.race([broken.then(() => exitCodes.failed), follow(session, { client, watch, kubeconfig, api })])
}

function openLog(
  { log: path }: SimulationOptions,
  { clock, files }: Pick<Session, 'clock' | 'files'>,
  cleanup: AsyncDisposableStack,
): Logger {
  if (path === undefined) return silentLogger
  const { report } = files
  return cleanup.adopt(createFileLogger({ path, nowMs: () => clock.nowMs(), report }), ({ close }) => close()).log
}

function toSettings({ options, clock, cleanup, recorded, log, files }: Session): Parameters<typeof startSimulation>[0] {
  const file = options.record === undefined ? undefined : cleanup.adopt(openLineFile(options.record, files.report), ({ close }) => close())
  const onWrite = (write: RecordedWrite): void => {
    if (options.demo === 'release' && (write.kind === 'Pod' || write.kind === 'Node')) recorded.push(write)
  }
  const { nodes, speed, seed, watchDelayMs, admission } = options
  return {
    clock,
    nodes,
    speed,
    seed,
    watchDelayMs,
    admission,
    port: options.virtual ? null : options.port,
    onWrite,
    record: file?.writeLine,
    log,
  }
}

function startPrograms(session: Session, simulation: Simulation): readonly (RunningController | RunningExecutor)[] {
  const { options, cleanup, clock, log, failpoints, allowHosts } = session
  const { controller, executor } = fieldManagers
  const queue = cleanup.adopt(createInProcessQueue({ clock, log }), (open) => open.close(QUEUE_CLOSE_MS))
  const { admission, seed } = options
  const common = { clock, log, queue, seed, failpoints }
  // Virtual time needs a deterministic order, so there is no thread.
  const judge = options.virtual ? {} : { judge: cleanup.adopt(createThreadJudge({ clock }), (open) => open.close()) }
  const running = [
    startController({
      ...common,
      ...judge,
      exchange: simulation.exchangeFor(controller),
      identity: 'dev-controller',
      admission,
      allowHosts,
      leaderElection: false,
      groups: { namespace: LEASE_NAMESPACE, shared: [] },
      pinConfig: true,
      pinSecretNamespaces: ['*'],
    }),
    startExecutor({
      ...common,
      exchange: simulation.exchangeFor(executor),
      identity: 'dev-executor',
      room: true,
      prePull: true,
      drainNamespaces: ['*'],
      lockNamespaces: ['*'],
      downtimeNamespace: LEASE_NAMESPACE,
    }),
  ]
  const changeObserver = startChangeObserver({
    ...common,
    exchange: simulation.exchangeFor(controller, 'everything'),
    mayWrite: () => true,
  })
  for (const program of [...running, changeObserver]) cleanup.adopt(program, ({ stop }) => stop())
  return running
}

function beginFaults({ options, document, log, screen }: Session, { simulator }: Simulation): Promise<Faults> {
  const port = options.virtual ? null : options.faultsPort
  return startFaults({ simulator, document, path: options.faults, port, seed: options.seed, say: (text) => screen.say(text), log })
}

/** Serves the REST API beside the programs; null in `sim` and in virtual time. */
async function beginApi({ options, cleanup, clock, log }: Session, simulation: Simulation): Promise<DevApi | null> {
  if (options.command !== 'dev' || options.virtual) return null
  const { startDevApi } = await import('./start-dev-api.ts')
  return cleanup.adopt(await startDevApi({ simulation, clock, log, port: options.apiPort, seed: options.seed }), ({ stop }) => stop())
}

/** Endpoints for other processes. */
interface Listeners extends Pick<Simulation, 'access'> {
  readonly faults: Faults['access']
  readonly api: DevApi | null
}

/** Writes the kubeconfig and prints the endpoints. @returns the path of the kubeconfig; null if nothing is served */
function shareAccess({ options, cleanup, screen, io }: Session, { access, faults, api }: Listeners): string | null {
  if (access === null) return null
  const files = cleanup.adopt(writeAccessFiles(access, options.kubeconfig), ({ remove }) => remove())
  // Each link works once, so the file and the screen have one each.
  const rest = api === null ? {} : { api: api.url, apiToken: api.token, dashboard: api.newLink() }
  const ready = { kubeconfig: files.kubeconfig, apiServer: access.server, caFile: files.caFile, token: access.token, faults, ...rest }
  if (options.readyFile !== undefined) writeWhole(options.readyFile, `${JSON.stringify(ready)}\n`)
  screen.say(`Simulated cluster of ${options.nodes} nodes: ${access.server}`)
  if (api !== null) screen.say(`REST API: ${api.url}, token ${api.token}`)
  if (faults !== null) screen.say(`Fault injection: ${faults.url}, token ${faults.token}`)
  if (options.demo === 'release' && api !== null) screen.say(dashboardText(linkOf(api)))
  if (options.demo === 'release') screen.say(`To use kubectl: ${exportCommand(files.kubeconfig)}`)
  const { kubeconfig } = files
  const program = ownCommand(io.env)
  if (options.command === 'sim') screen.say(`\n${programCommands(kubeconfig, program)}`)
  const demo = options.demo === 'objects'
  if (options.demo !== 'release')
    screen.say(`\n${nextCommands({ dashboard: api === null ? undefined : linkOf(api), kubeconfig, demo, version: 'v2', program })}`)
  return kubeconfig
}

/** @returns a link to the dashboard; null if it is not built */
function linkOf(api: DevApi): string | null {
  return api.hasDashboard ? api.newLink() : null
}

/** Client and watch of the running cluster. */
interface Running {
  readonly client: KubeClient
  readonly watch: ClusterWatch
  readonly kubeconfig: string | null
  readonly api: DevApi | null
}

async function follow(session: Session, running: Running): Promise<ExitCode> {
  const { options, io, screen, signal, clock, recorded } = session
  if (options.demo === 'release') {
    const say = (text: string): void => screen.say(text)
    const result = await runDemo({ ...running, clock, recorded, nodes: options.nodes, speed: options.speed, say, signal })
    screen.show(running.watch.snapshot())
    screen.say(await demoSummary(result, io.out.isTTY === true ? (io.out.columns ?? 80) : undefined))
    if (options.output === 'json') io.out.write(`${JSON.stringify(result)}\n`)
    if (options.exit || options.virtual) return exitCodes.done
    const { kubeconfig, api } = running
    const program = ownCommand(io.env)
    const dashboard = api === null ? undefined : linkOf(api)
    if (kubeconfig !== null) screen.say(`\n${nextCommands({ dashboard, kubeconfig, demo: true, version: 'v3', program })}`)
  }
  await whenAborted(signal)
  throw new StopRequested()
}
