import { customResourceDefinitions } from '@tranche/api-schema'
import { createSteppedClock, type SteppedClock, VirtualClock } from '@tranche/clock'
import { type LeaseTimes, startController } from '@tranche/controller'
import { type CrashPoints, createCrashPoints } from '@tranche/crash-points'
import { startExecutor } from '@tranche/executor'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/log'
import { createInProcessQueue } from '@tranche/queue'
import type { RecordedDelivery, RecordedWrite, Recording, Stall } from '@tranche/recording'
import { createSimulator, recordEntries, type Simulator } from '@tranche/sim'
import { admissionOf } from '../scenarios/admission.ts'
import { asNextVersion, type Version } from '../scenarios/next-version.ts'
import { createProcess, type Process } from '../scenarios/process.ts'
import { stageKey } from '../scenarios/stage-objects.ts'
import { recordTaken } from './record-taken.ts'
import { createRemoteQueue } from './remote-queue.ts'
import type { Sabotage } from './sabotage.ts'
import type { Role, Schedule, Shape, Slot } from './schedule.ts'
import { createWeather, type Weather } from './weather.ts'

/** One of our programs in a process of its own. */
export interface Program {
  readonly slot: Slot
  readonly role: Role
  /** Name of its actor, unlike that of any other that ever ran. */
  readonly identity: string
  readonly process: Process
  /** Steps the wall clock of its machine. */
  readonly ownClock: SteppedClock
}

/** Something that was done in the world, for the story. */
export interface Note {
  /** Epoch milliseconds by the recording's clock. */
  readonly atMs: number
  readonly text: string
}

/** A cluster with our programs in it, in virtual time. */
export interface World {
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly simulator: Simulator
  /** Whoever is not one of ours: no request of theirs goes wrong. */
  readonly people: KubeClient
  readonly weather: Weather
  /** Every accepted write, and what our programs took from their lists and watches. */
  readonly recording: Recording
  /** When our programs stood still, or held something decided back. */
  readonly stalls: readonly Stall[]
  /** @param forMs how long, from now */
  noteStall(actor: string, forMs: number): void
  readonly notes: readonly Note[]
  note(text: string): void
  /** Starts another program in this place; one that is there still goes on. */
  start(slot: Slot): Program
  /** The one started last in this place, if it still runs. */
  programIn(slot: Slot): Program | undefined
  /** Resolves when it has its first lists; rejects when it gives up. */
  whenReady(program: Program): Promise<void>
  /** Asks it to end. @returns when it has */
  stop(program: Program): Promise<void>
  /** Of programs that start from now on. */
  version(): Version
  setVersion(version: Version): void
  /** The process ends where it is, and the operating system closes what it had open. */
  kill(program: Program): void
  /** @param onPoint called at every crash point that any program passes */
  watchPoints(onPoint: (program: Program, point: string) => Promise<void> | undefined): void
  /** What `undo` does happens in `ms`, or when {@link World.heal} is called; Infinity: not before. */
  later(ms: number, undo: () => Promise<void> | void): void
  /** Does at once what was put off. */
  heal(): Promise<void>
}

/**
 * Puts up the cluster with CRDs and namespace; nothing of ours runs yet.
 *
 * @param sabotage breaks our programs on purpose @default nothing does
 */
export async function createWorld(schedule: Schedule, sabotage?: Sabotage): Promise<World> {
  const { seed, shape } = schedule
  const clock = new VirtualClock()
  const writes: RecordedWrite[] = []
  const deliveries: RecordedDelivery[] = []
  const stalls: Stall[] = []
  const notes: Note[] = []
  const noteStall = (actor: string, forMs: number): void => void stalls.push({ actor, fromMs: clock.nowMs(), toMs: clock.nowMs() + forMs })
  const weather = createWeather(seed, noteStall)
  const simulator = createSimulator({
    clock,
    seed,
    nodes: shape.nodes,
    watchDelayMs: shape.watchDelayMs,
    faults: weather.faults,
  })
  recordEntries(simulator.server, clock, (entry) => void writes.push(entry as RecordedWrite))
  if (shape.admission === 'inProcess') simulator.server.useAdmission(admissionOf(simulator))
  const people = createKubeClient({ exchange: simulator.exchangeFor('people'), clock, userAgent: 'people/1', log: silentLogger })
  const note = (text: string): void => void notes.push({ atMs: clock.nowMs(), text })
  const world: World = {
    schedule,
    clock,
    simulator,
    people,
    weather,
    recording: { writes, deliveries },
    stalls,
    noteStall,
    notes,
    note,
    ...programsOf({ schedule, clock, simulator, weather, note, take: (delivery) => void deliveries.push(delivery) }, sabotage),
    ...createDelays(clock, note),
  }
  await drive(clock, simulator.start())
  for (const definition of customResourceDefinitions)
    await drive(clock, people.create(resourcePaths.customResourceDefinitions, definition as never))
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stageKey.namespace } }
  await drive(clock, people.create(resourcePaths.namespaces, namespace as never))
  return world
}

interface Ground extends Pick<World, 'schedule' | 'clock' | 'simulator' | 'weather' | 'note'> {
  readonly take: (delivery: RecordedDelivery) => void
}

function programsOf(
  { schedule, clock, simulator, weather, note, take }: Ground,
  sabotage: Sabotage | undefined,
): Pick<World, 'start' | 'programIn' | 'whenReady' | 'stop' | 'version' | 'setVersion' | 'kill' | 'watchPoints'> {
  const { seed, shape } = schedule
  const queue = createRemoteQueue(clock, () => weather.jobFate())
  const running = new Map<Slot, Program>()
  let onPoint: (program: Program, point: string) => Promise<void> | undefined = () => undefined
  let started = 0
  const lives = new WeakMap<Program, Life>()
  let version: Version = 'present'

  function run({ role, identity, process }: Program, program: Program): void {
    const points = createCrashPoints((point) => onPoint(program, point))
    const crashPoints: CrashPoints = { wrap: (name, port) => points.wrap(name, sabotage?.ports.wrap(name, port) ?? port) }
    const exchange = recordTaken(process.exchange, identity, clock, take)
    const ports = { exchange, clock: process.clock, log: silentLogger, identity, seed, crashPoints }
    const shared = shape.queue === 'shared' ? { queue: queue.endFor(process) } : {}
    const life: Life & { readonly stopped: Promise<void> } =
      role === 'controller'
        ? startController({ ...ports, ...shared, admission: shape.admission, leaderElection: true, leaseTimes: leaseTimes(shape) })
        : startExecutor({ queue: createInProcessQueue({ clock: process.clock }), ...ports, ...shared })
    lives.set(program, life)
    life.ready.catch(() => {})
    // A program that gives up is started again, as a Deployment does it.
    life.stopped.catch((error: unknown) => note(`${identity} gave up: ${String(error)}`))
  }

  return {
    start(slot) {
      const role = slot.startsWith('controller') ? 'controller' : 'executor'
      const identity = `${role}-${++started}`
      const ownClock = createSteppedClock(clock)
      const toServer = simulator.exchangeFor(identity)
      const exchange = version === 'present' ? toServer : asNextVersion(toServer, identity)
      const process = createProcess(ownClock, sabotage?.exchange(exchange, version) ?? exchange)
      const program = { slot, role, identity, ownClock, process } as const
      running.set(slot, program)
      run(program, program)
      return program
    },
    programIn: (slot) => running.get(slot),
    whenReady: async (program) => lives.get(program)?.ready,
    stop: async (program) => lives.get(program)?.stop(),
    version: () => version,
    setVersion: (next) => void (version = next),
    kill(program) {
      program.process.freeze()
      program.process.cutOff()
      if (running.get(program.slot) === program) running.delete(program.slot)
    },
    watchPoints: (watch) => void (onPoint = watch),
  }
}

/** What a program has of itself. */
interface Life {
  readonly ready: Promise<void>
  stop(): Promise<void>
}

/** In the proportions of the defaults. */
function leaseTimes({ leaseSeconds }: Shape): LeaseTimes {
  const leaseDurationMs = leaseSeconds * 1_000
  return { leaseDurationMs, renewDeadlineMs: (leaseDurationMs * 2) / 3, retryPeriodMs: Math.round((leaseDurationMs * 2) / 15) }
}

function createDelays(clock: VirtualClock, note: (text: string) => void): Pick<World, 'later' | 'heal'> {
  const told = (error: unknown): void => note(`that came to nothing: ${String(error)}`)
  const waiting = new Set<() => Promise<void> | void>()
  return {
    later(ms, undo) {
      waiting.add(undo)
      if (ms === Number.POSITIVE_INFINITY) return
      clock.setTimer(ms, () => {
        if (waiting.delete(undo)) void (async () => undo())().catch(told)
      })
    },
    async heal() {
      for (const undo of waiting) {
        waiting.delete(undo)
        await (async () => undo())().catch(told)
      }
    },
  }
}

/** Runs the clock until a promise has settled. */
export async function drive<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}

/** Lets time pass, also where nobody waits for it. */
export async function letPass(clock: VirtualClock, ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  clock.setTimer(ms, () => {})
  await clock.run({ untilMs })
}
