import type { FetchLike } from '@tranche/api-client'
import { customResourceDefinitions } from '@tranche/api-schema'
import { createSteppedClock, type SteppedClock, VirtualClock } from '@tranche/clock'
import { type ControllerOptions, type LeaseTimes, startController, startChangeObserver } from '@tranche/controller'
import { type Failpoints, createFailpoints } from '@tranche/failpoints'
import { startExecutor } from '@tranche/executor'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createInProcessQueue } from '@tranche/queue'
import type { ClockStep, FailedRequest, RecordedDelivery, RecordedWrite, Recording, Stall } from '@tranche/recording'
import { createSimulator, recordEntries, type Simulator } from '@tranche/sim'
import type { Exchange } from '@tranche/wire'
import { asNextVersion, policiesOf, type Version } from '../scenarios/next-version.ts'
import { createCounts, type Metrics } from '../scenarios/counts.ts'
import { createProcess, type Process } from '../scenarios/process.ts'
import { enforcePins } from '../scenarios/admission.ts'
import { stageKey } from '../scenarios/stage-objects.ts'
import { type AdmissionControl, createAdmissionControl } from './admission-control.ts'
import { type ApiProgram, startApiProgram } from './api-program.ts'
import { recordFailed } from './record-failed.ts'
import { recordTaken } from './record-taken.ts'
import { createDelays, type Delays } from './delays.ts'
import { createDisturbances, type Disturbances } from './disturbances.ts'
import { createRemoteQueue } from './remote-queue.ts'
import type { Sabotage } from './sabotage.ts'
import { COMPANION, GROUP_LEASES, NODE_LEASES, type Role, roleOf, type Schedule, type Shape, type Slot } from './schedule.ts'
import { createFaultPhases, type FaultPhases } from './fault-phases.ts'

/** One of our programs in a process of its own. */
export interface Program {
  readonly slot: Slot
  readonly role: Role
  readonly version: Version
  /** Name of its actor, unique among all programs that ever ran. */
  readonly identity: string
  readonly process: Process
  /** Steps the wall clock of its machine. */
  readonly ownClock: SteppedClock
}

/** An operation in the world, for the story. */
export interface Note {
  /** Epoch milliseconds by the recording's clock. */
  readonly atMs: number
  readonly text: string
}

/** A cluster with our programs in it, in virtual time. */
export interface World extends Delays {
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly simulator: Simulator
  /** All other clients: their requests always succeed. */
  readonly people: KubeClient
  readonly faultPhases: FaultPhases
  readonly disturbances: Disturbances
  readonly admission: AdmissionControl
  /** The REST API through its Service: requests go to the ready processes in turn. */
  readonly fetchApi: FetchLike
  /** Every accepted write, and what our programs took from their lists and watches. */
  readonly recording: Recording
  /** When our programs were frozen, or held a decision back. */
  readonly stalls: readonly Stall[]
  /** Requests of the programs that had no answer, or an error. */
  readonly failures: readonly FailedRequest[]
  /** Ends of programs by errors of their own, in words. */
  readonly gaveUp: readonly Note[]
  /** @param forMs duration from now */
  noteStall(actor: string, forMs: number): void
  readonly notes: readonly Note[]
  note(text: string): void
  /** Steps the API server's clock. */
  stepServerClock(ms: number): void
  /** Epoch milliseconds by the API server's clock. */
  serverNowMs(): number
  /** All steps so far. */
  readonly clockSteps: readonly ClockStep[]
  /** Starts another program in this slot; a program that is still there continues. */
  start(slot: Slot): Program
  /** The program started last in this slot, if it still runs. */
  programIn(slot: Slot): Program | undefined
  /** Programs that were replaced in their slot, and that still run or will thaw. */
  replaced(): readonly Program[]
  /** Resolves when the program has its first lists; rejects when it gives up. */
  whenReady(program: Program): Promise<void>
  /** Asks the program to end. @returns when it has ended */
  stop(program: Program): Promise<void>
  /** Version of programs that start from now on. */
  version(): Version
  setVersion(version: Version): void
  /** Ends the process at once; the operating system closes its connections. */
  kill(program: Program): void
  /** @param onPoint called at every failpoint that any program passes */
  watchPoints(onPoint: (program: Program, point: string) => Promise<void> | undefined): void
}

/**
 * Creates the cluster with CRDs and namespace; none of our programs runs yet.
 *
 * @param sabotage breaks our programs on purpose @default none
 */
export async function createWorld(schedule: Schedule, sabotage?: Sabotage): Promise<World> {
  const { seed, shape } = schedule
  const clock = new VirtualClock()
  const writes: RecordedWrite[] = []
  const deliveries: RecordedDelivery[] = []
  const stalls: Stall[] = []
  const failures: FailedRequest[] = []
  const notes: Note[] = []
  const clockSteps: ClockStep[] = []
  const gaveUp: Note[] = []
  const metrics = await createCounts(clock)
  const noteStall = (actor: string, forMs: number): void => void stalls.push({ actor, fromMs: clock.nowMs(), toMs: clock.nowMs() + forMs })
  const faultPhases = createFaultPhases(seed, noteStall)
  const disturbances = createDisturbances(clock, TAKEOVER * shape.leaseSeconds)
  const answering = (): readonly Program[] => programs.answering('controller')
  const simulator: Simulator = createSimulator({
    clock,
    seed,
    nodes: shape.nodes,
    watchDelayMs: shape.watchDelayMs,
    faults: faultPhases.faults,
    webhooks: { exchangeFor: () => admission.webhook },
  })
  const admission = createAdmissionControl({
    simulator,
    clock,
    way: shape.admission,
    answering,
    policiesOf: sabotage?.policiesOf ?? policiesOf,
  })
  recordEntries(simulator.server, clock, (entry) => void writes.push(entry as RecordedWrite))
  const people = createKubeClient({ exchange: simulator.exchangeFor('people'), clock, userAgent: 'people/1', log: silentLogger })
  const note = (text: string): void => void notes.push({ atMs: clock.nowMs(), text })
  const programs = programsOf(
    { schedule, clock, simulator, faultPhases, disturbances, metrics, note, deliveries, failures, gaveUp },
    sabotage,
  )
  const { answering: _, ...doings } = programs
  const world: World = {
    schedule,
    clock,
    simulator,
    people,
    faultPhases,
    disturbances,
    admission,
    recording: { writes, deliveries },
    stalls,
    failures,
    gaveUp,
    noteStall,
    notes,
    note,
    serverNowMs: () => clockSteps.reduce((sum, { ms }) => sum + ms, clock.nowMs()),
    clockSteps,
    stepServerClock(ms) {
      clockSteps.push({ atMs: clock.nowMs(), ms })
      simulator.stepClock(ms)
    },
    ...doings,
    ...createDelays(clock, note),
  }
  await drive(clock, simulator.start())
  for (const definition of customResourceDefinitions)
    await drive(clock, people.create(resourcePaths.customResourceDefinitions, definition as never))
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stageKey.namespace } }
  await drive(clock, people.create(resourcePaths.namespaces, namespace as never))
  const leases = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NODE_LEASES } }
  if (shape.nodeLocks === true) await drive(clock, people.create(resourcePaths.namespaces, leases as never))
  await drive(clock, admission.install('present'))
  if (shape.config?.isPinned === true) await drive(clock, enforcePins(simulator))
  return world
}

interface Ground extends Pick<World, 'schedule' | 'clock' | 'simulator' | 'faultPhases' | 'disturbances' | 'note'> {
  readonly deliveries: RecordedDelivery[]
  readonly failures: FailedRequest[]
  readonly gaveUp: Note[]
  /** Shared by all programs: a follower that throws ends its process. */
  readonly metrics: Metrics
}

type Doings = 'start' | 'programIn' | 'replaced' | 'whenReady' | 'stop' | 'version' | 'setVersion' | 'kill' | 'watchPoints' | 'fetchApi'

interface Programs extends Pick<World, Doings> {
  /** Programs of this role that can answer, oldest first. */
  answering(role: Role): readonly Program[]
}

function programsOf(
  { schedule, clock, simulator, faultPhases, disturbances, metrics, note, deliveries, failures, gaveUp }: Ground,
  sabotage: Sabotage | undefined,
): Programs {
  const { seed, shape, upgrades } = schedule
  const queue = createRemoteQueue(clock, () => faultPhases.nextJobFault())
  const running = new Map<Slot, Program>()
  const alive = new Set<Program>()
  /** From the first list until they end, in every slot, oldest first. */
  const serving = new Set<Program>()
  let onPoint: (program: Program, point: string) => Promise<void> | undefined = () => undefined
  /** How often a program ended by an error of its own. */
  const ends = new Map<Slot, number>()
  let started = 0
  let asked = 0
  const lives = new WeakMap<Program, Life>()
  let version: Version = 'present'

  function run(program: Program): void {
    const { role, process } = program
    const points = createFailpoints((point) => onPoint(program, point))
    const failpoints: Failpoints = { wrap: (name, port) => points.wrap(name, sabotage?.ports.wrap(name, port) ?? port) }
    const starts = { controller: runController, executor: runExecutor, api: runApi }
    const life = starts[role](program, failpoints)
    lives.set(program, life)
    life.ready.then(() => !process.isFrozen() && serving.add(program)).catch(() => {})
    life.stopped.catch((error: unknown) => giveUp(program, error))
  }

  /** The program ends, and is started again, as by a Deployment: later each time. */
  function giveUp(program: Program, error: unknown): void {
    if (!alive.has(program)) return
    const text = `${program.identity} ended by an error of its own: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    note(text)
    gaveUp.push({ atMs: clock.nowMs(), text })
    kill(program)
    const times = (ends.get(program.slot) ?? 0) + 1
    ends.set(program.slot, times)
    clock.setTimer(Math.min(AGAIN_MS * 2 ** (times - 1), LONGEST_AGAIN_MS), () => {
      if (running.get(program.slot) === undefined) note(`${start(program.slot).identity} starts`)
    })
  }

  const portsOf = ({ identity, process }: Program) => ({ clock: process.clock, log: silentLogger, identity, seed, metrics })
  const takenBy = ({ identity, process }: Program): Exchange => {
    const exchange = recordTaken(process.exchange, identity, clock, (delivery) => void deliveries.push(delivery))
    return recordFailed(exchange, identity, clock, (request) => void failures.push(request))
  }
  const sharedBy = ({ process }: Program) => (shape.queue === 'shared' ? { queue: queue.endFor(process) } : {})

  function runController(program: Program, failpoints: Failpoints): Life {
    const { admission } = shape
    const ports = { ...portsOf(program), exchange: takenBy(program), failpoints, ...sharedBy(program) }
    const controller = startController({
      ...ports,
      admission,
      leaderElection: true,
      leaseTimes: leaseTimes(shape),
      readConfig: shape.config?.isRead === true,
      pinConfig: shape.config?.isPinned === true,
      podPolicy: 'pods',
      pinSecretNamespaces: shape.config?.secret === true ? ['*'] : [],
      ...groupsOf(shape),
    })
    if (upgrades === 0) return controller
    // Its own lists are unknown to the reconcilers, so they do not count as deliveries.
    const { exchange } = program.process
    const changeObserver = startChangeObserver({ ...portsOf(program), exchange, mayWrite: () => controller.mayWrite() })
    return { ...controller, stop: async () => void (await Promise.all([controller.stop(), changeObserver.stop()])) }
  }

  function runExecutor(program: Program, failpoints: Failpoints): Life {
    const queueOfItsOwn = { queue: createInProcessQueue({ clock: program.process.clock }) }
    return startExecutor({
      ...queueOfItsOwn,
      room: true,
      prePull: shape.prePull === true,
      drainNamespaces: ['*'],
      drainConditions: shape.drainConditions === true,
      lockNamespaces: shape.nodeLocks === true ? ['*'] : [],
      ...(shape.downtimes === true && { downtimeNamespace: GROUP_LEASES }),
      ...portsOf(program),
      exchange: takenBy(program),
      failpoints,
      ...sharedBy(program),
    })
  }

  function runApi({ identity, process, version: its }: Program, points: Failpoints): ApiProgram {
    return startApiProgram({ identity, process, version: its, clock, seed, points })
  }

  function start(slot: Slot): Program {
    const role = roleOf(slot)
    const identity = `${role}-${++started}`
    const ownClock = createSteppedClock(clock)
    ownClock.stepWall(schedule.aheadMs[started % schedule.aheadMs.length] ?? 0)
    const toServer = upgrades > 0 ? withOwners(simulator, identity) : simulator.exchangeFor(identity)
    const exchange = version === 'present' ? toServer : asNextVersion(toServer, identity)
    const sent = sabotage?.exchange(exchange, { version, role }) ?? exchange
    const process = createProcess(ownClock, sent, (error) => giveUp(program, error))
    const program: Program = { slot, role, version, identity, ownClock, process }
    running.set(slot, program)
    disturbances.restore(slot)
    alive.add(program)
    run(program)
    return program
  }

  function kill(program: Program): void {
    program.process.freeze()
    program.process.cutOff()
    lives.get(program)?.drop?.()
    serving.delete(program)
    alive.delete(program)
    if (program.role === 'controller') disturbances.begin()()
    if (running.get(program.slot) !== program) return
    running.delete(program.slot)
    disturbances.disable(program.slot, Number.POSITIVE_INFINITY)
  }

  const answering = (role: Role): readonly Program[] => [...serving].filter((program) => program.role === role)

  return {
    start,
    programIn: (slot) => running.get(slot),
    replaced: () => [...alive].filter((program) => running.get(program.slot) !== program),
    whenReady: async (program) => lives.get(program)?.ready,
    async stop(program) {
      if (program.role === 'controller') disturbances.begin()()
      clock.setTimer(ROUTED_MS, () => serving.delete(program))
      await lives.get(program)?.stop()
      serving.delete(program)
    },
    version: () => version,
    setVersion: (next) => void (version = next),
    kill,
    watchPoints: (watch) => void (onPoint = watch),
    answering,
    async fetchApi(url, init) {
      const replicas = answering('api')
      const replica = replicas[asked++ % Math.max(1, replicas.length)]
      const life = replica && lives.get(replica)
      if (life?.fetch === undefined) throw Object.assign(new Error('connect ECONNREFUSED 10.96.0.18:80'), { code: 'ECONNREFUSED' })
      return life.fetch(url, init)
    },
  }
}

/** Time until a program that has ended by itself starts again, at first and at most, in milliseconds. */
const AGAIN_MS = 10_000
const LONGEST_AGAIN_MS = 300_000
/** Longest time until another controller leads, in milliseconds per second of the lease: 18 s of 15 s. */
const TAKEOVER = 1_200
/** Time for which requests still go to a process that was asked to end, in milliseconds. */
const ROUTED_MS = 500

/** Like over a socket, with the field managers of the objects that a change observer reads. */
function withOwners(simulator: Simulator, identity: string): Exchange {
  const [sparing, whole] = [simulator.exchangeFor(identity), simulator.exchangeFor(identity, 'everything')]
  return (request, signal) => (/\/(rollouts|daemonsets)[/?]/.test(`${request.path}?`) ? whole : sparing)(request, signal)
}

/** The running program itself. */
interface Life {
  readonly ready: Promise<void>
  readonly stopped: Promise<void>
  stop(): Promise<void>
  /** Takes requests from outside; undefined for a program without an API. */
  readonly fetch?: FetchLike
  /** Its process is gone, with all connections. */
  drop?(): void
}

/** Both DaemonSets share their groups. */
function groupsOf({ companion }: Shape): Pick<ControllerOptions, 'groups'> {
  return companion === undefined ? {} : { groups: { namespace: GROUP_LEASES, shared: [stageKey.namespace, COMPANION] } }
}

/** In the proportions of the defaults. */
function leaseTimes({ leaseSeconds }: Shape): LeaseTimes {
  const leaseDurationMs = leaseSeconds * 1_000
  return { leaseDurationMs, renewDeadlineMs: (leaseDurationMs * 2) / 3, retryPeriodMs: Math.round((leaseDurationMs * 2) / 15) }
}

/** Runs the clock until a promise has settled. */
export async function drive<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}

/** Runs the clock for this time, even if nothing waits for it. */
export async function letPass(clock: VirtualClock, ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  clock.setTimer(ms, () => {})
  await clock.run({ untilMs })
}
