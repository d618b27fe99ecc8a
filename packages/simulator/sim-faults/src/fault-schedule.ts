import { durationMs, FAULTS_MAX, signedDurationMs, type SimFault, type SimFaults } from '@tranche/api-schema'
import type { Timer } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { Simulator } from '@tranche/sim'
import { createRandom, type FaultInjector, resources } from '@tranche/sim-api'
import { beginningsOf, checkFaults, type ClusterNames } from './check-faults.ts'
import { describeFault } from './describe-fault.ts'
import { createRule, isEventRule, isRule } from './fault-rule.ts'
import type { FaultFinding } from './parse-faults.ts'
import { resourceText } from './match.ts'

/** What a schedule of faults works on. */
export interface FaultScheduleOptions {
  /** Started already. */
  readonly simulator: Pick<Simulator, 'server' | 'nodes' | 'clock' | 'stepClock' | 'clientFor'>
  /** Decides probabilities where a document gives no seed of its own. */
  readonly seed: number
  /** Told to a person: which fault begins and ends. */
  readonly say: (text: string) => void
  readonly log: Logger
}

/** `waiting` for its moment; `active`; `over`: its time or its count is; `lifted` before that; `failed`: it could not be done. */
export type FaultState = 'waiting' | 'active' | 'over' | 'lifted' | 'failed'

/** A fault and what has become of it. */
export interface FaultStatus {
  /** Its name, else `fault-` and a number. */
  readonly id: string
  readonly state: FaultState
  /** Requests or events that it met so far. */
  readonly hits: number
  /** Why it failed. */
  readonly message?: string
  /** As it was stated. */
  readonly fault: SimFault
}

/** Makes things go wrong in a simulator, each at its moment. */
export interface FaultSchedule {
  /**
   * Takes a document: all of it, or nothing. Faults that begin at once have begun when this resolves.
   *
   * @returns its faults, in its order; or why it is refused (≥ 1 finding)
   */
  add(
    document: SimFaults,
  ): Promise<
    | { readonly kind: 'added'; readonly faults: readonly FaultStatus[] }
    | { readonly kind: 'invalid'; readonly findings: readonly FaultFinding[] }
  >
  /** @returns every fault that waits or is active, and the last {@link ENDED_KEPT} of the others, oldest first */
  list(): readonly FaultStatus[]
  /** Ends a fault before its time: a node that is down comes back. @returns undefined when none of this id waits or is active */
  lift(id: string): Promise<FaultStatus | undefined>
  /** Ends all that wait or are active. @returns them */
  liftAll(): Promise<readonly FaultStatus[]>
  /** Forgets everything; what is wrong stays wrong. */
  stop(): void
}

/** How many faults are remembered when they have ended. */
export const ENDED_KEPT = 100

interface Entry {
  readonly id: string
  readonly fault: SimFault
  state: FaultState
  hits: number
  message?: string
  timer: Timer | undefined
  /** While active: what it does to requests and watches. */
  injector: FaultInjector | undefined
  /** While active: nodes that it holds down. */
  readonly held: Set<string>
}

/** @returns a schedule without faults */
export function createFaultSchedule(options: FaultScheduleOptions): FaultSchedule {
  const schedule: Schedule = { ...options, entries: new Map(), added: 0 }
  return {
    async add(document) {
      const names = await namesOf(schedule)
      // Nothing waits between here and entering: another document may be on its way.
      const findings = [...checkStanding(schedule, document), ...checkFaults(document, names)]
      if (findings.length > 0) return { kind: 'invalid', findings }
      const entries = enter(schedule, document)
      const beginnings = beginningsOf(document)
      for (const [index, entry] of entries.entries()) {
        const beginMs = beginnings[index] ?? 0
        const seed = document.seed ?? schedule.seed
        if (beginMs === 0) await begin(schedule, entry, seed)
        else entry.timer = schedule.simulator.clock.setTimer(beginMs, () => void begin(schedule, entry, seed))
      }
      return { kind: 'added', faults: entries.map(statusOf) }
    },
    list: () => [...schedule.entries.values()].map(statusOf),
    async lift(id) {
      const entry = schedule.entries.get(id)
      if (entry === undefined || !isStanding(entry)) return undefined
      await end(schedule, entry, 'lifted')
      return statusOf(entry)
    },
    async liftAll() {
      const standing = [...schedule.entries.values()].filter(isStanding)
      for (const entry of standing) await end(schedule, entry, 'lifted')
      return standing.map(statusOf)
    },
    stop() {
      for (const { timer } of schedule.entries.values()) timer?.cancel()
      schedule.entries.clear()
      inject(schedule)
    },
  }
}

interface Schedule extends FaultScheduleOptions {
  /** By id, in the order in which they were added. */
  readonly entries: Map<string, Entry>
  added: number
}

function checkStanding({ entries }: Schedule, { faults }: SimFaults): readonly FaultFinding[] {
  const standing = [...entries.values()].filter(isStanding)
  const findings = faults.flatMap(({ name }, index) =>
    standing.some(({ id }) => id === name)
      ? [{ path: `faults[${index}].name`, value: JSON.stringify(name), fix: 'give another name, or lift the fault of this name first' }]
      : [],
  )
  if (standing.length + faults.length <= FAULTS_MAX) return findings
  return [
    ...findings,
    { path: 'faults', value: `${faults.length} more`, fix: `lift some: ${standing.length} stand, and ${FAULTS_MAX} may` },
  ]
}

async function namesOf({ simulator }: Schedule): Promise<ClusterNames> {
  const { items } = await simulator.clientFor({ name: READER }).list(resources.nodes, {})
  return {
    nodes: items.map(({ metadata }) => metadata.name),
    resources: simulator.server
      .definitions()
      .flatMap(({ plural, subresources }) => [plural, ...subresources.map((subresource) => resourceText(plural, subresource))]),
  }
}

function enter(schedule: Schedule, { faults }: SimFaults): readonly Entry[] {
  const entered = faults.map((fault): Entry => {
    const id = fault.name ?? nextId(schedule)
    return { id, fault, state: 'waiting', hits: 0, timer: undefined, injector: undefined, held: new Set() }
  })
  for (const entry of entered) {
    // An ended one of this name is forgotten, so that the order stays that of adding.
    schedule.entries.delete(entry.id)
    schedule.entries.set(entry.id, entry)
  }
  return entered
}

function nextId(schedule: Schedule): string {
  for (;;) {
    const id = `fault-${++schedule.added}`
    if (!schedule.entries.has(id)) return id
  }
}

async function begin(schedule: Schedule, entry: Entry, seed: number): Promise<void> {
  const { fault, id } = entry
  entry.state = 'active'
  entry.timer = undefined
  schedule.say(`fault ${id} begins: ${describeFault(fault)}`)
  schedule.log.info({ fault: id, kind: fault.kind }, 'fault began')
  if ('for' in fault && fault.for !== undefined)
    entry.timer = schedule.simulator.clock.setTimer(durationMs(fault.for), () => void end(schedule, entry, 'over'))
  try {
    await act(schedule, entry, seed)
  } catch (error) {
    fail(schedule, entry, error)
    // It leaves nothing half done: the nodes that it took down come back. One that is gone cannot.
    await raise(schedule, entry).catch(() => {})
  }
}

async function act(schedule: Schedule, entry: Entry, seed: number): Promise<void> {
  const { fault } = entry
  const { nodes, stepClock } = schedule.simulator
  if (isRule(fault)) {
    entry.injector = ruleOf(schedule, entry, seed)
    return inject(schedule)
  }
  switch (fault.kind) {
    case 'NodeDown':
      for (const name of fault.nodes) entry.held.add(name)
      return every(fault.nodes, nodes.kill)
    case 'NodeUp':
      await every(fault.nodes, nodes.revive)
      await clearHolds(schedule, fault.nodes)
      break
    case 'NodeAdd': {
      const { labels = {}, taints = [] } = fault
      await every(fault.nodes, (name) =>
        nodes.addNode(name, { labels, taints: taints.map(({ value, ...taint }) => ({ ...taint, ...(value !== undefined && { value }) })) }),
      )
      break
    }
    case 'NodeRemove':
      await every(fault.nodes, nodes.removeNode)
      await clearHolds(schedule, fault.nodes)
      break
    case 'ClockStep':
      stepClock(signedDurationMs(fault.by))
      break
    default:
      fault satisfies never
  }
  entry.state = 'over'
  forgetEnded(schedule)
}

function ruleOf(schedule: Schedule, entry: Entry, seed: number): FaultInjector {
  const { id, fault } = entry
  if (!isRule(fault)) throw new Error(`${fault.kind} does not wait for requests`)
  return createRule({
    fault,
    id,
    random: createRandom(seed, 'fault', id),
    onHit: ({ actor, resource, ...met }) => {
      entry.hits++
      schedule.log.debug({ fault: id, actor, resource: resource.resource, ...('verb' in met && { verb: met.verb }) }, 'fault met')
      if (entry.hits === fault.count) void end(schedule, entry, 'over')
    },
  })
}

async function end(schedule: Schedule, entry: Entry, state: 'over' | 'lifted'): Promise<void> {
  if (!isStanding(entry)) return
  const { id, hits, fault } = entry
  const had = entry.state === 'active' ? 'is over' : 'will not begin'
  entry.timer?.cancel()
  entry.timer = undefined
  entry.state = state
  entry.injector = undefined
  inject(schedule)
  schedule.say(`fault ${id} ${state === 'lifted' ? `is lifted and ${had}` : had}${metText(entry)}`)
  schedule.log.info({ fault: id, kind: fault.kind, hits }, state === 'lifted' ? 'fault lifted' : 'fault ended')
  try {
    await raise(schedule, entry)
  } catch (error) {
    fail(schedule, entry, error)
  }
  forgetEnded(schedule)
}

function metText({ fault, hits }: Entry): string {
  if (!isRule(fault)) return ''
  return `: it met ${hits} ${isEventRule(fault) ? 'events' : 'requests'}`
}

/** Brings back the nodes that no other fault holds down. */
async function raise({ entries, simulator }: Schedule, entry: Entry): Promise<void> {
  const names = [...entry.held]
  entry.held.clear()
  const others = [...entries.values()]
  await every(
    names.filter((name) => !others.some(({ held }) => held.has(name))),
    simulator.nodes.revive,
  )
}

/** These nodes are up, or gone: nothing holds them down any more. */
async function clearHolds(schedule: Schedule, names: readonly string[]): Promise<void> {
  for (const entry of schedule.entries.values()) {
    if (entry.held.size === 0) continue
    for (const name of names) entry.held.delete(name)
    if (entry.held.size === 0) await end(schedule, entry, 'over')
  }
}

/** Side by side. @throws what one of them threw, when all have ended */
async function every(names: readonly string[], act: (name: string) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(names.map(act))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function fail(schedule: Schedule, entry: Entry, error: unknown): void {
  entry.timer?.cancel()
  entry.state = 'failed'
  entry.message = error instanceof Error ? error.message : String(error)
  schedule.say(`fault ${entry.id} failed: ${entry.message}`)
  schedule.log.warn({ fault: entry.id, err: error }, 'fault failed')
}

/** The one who reads what is there before faults are taken. */
const READER = 'faults'
/** Those who make faults meet none. */
const spared = [READER, 'node-operator']

/** The first active fault that meets a request decides. Without any, the server asks nobody. */
function inject({ entries, simulator }: Schedule): void {
  const injectors = [...entries.values()].flatMap(({ injector }) => injector ?? [])
  simulator.server.useFaults(
    injectors.length === 0
      ? undefined
      : {
          onRequest: (call) => (spared.includes(call.actor) ? undefined : firstOf(injectors, (injector) => injector.onRequest?.(call))),
          onEvent: (event) => firstOf(injectors, (injector) => injector.onEvent?.(event)),
        },
  )
}

function firstOf<Fault>(injectors: readonly FaultInjector[], draw: (injector: FaultInjector) => Fault | undefined): Fault | undefined {
  for (const injector of injectors) {
    const fault = draw(injector)
    if (fault !== undefined) return fault
  }
  return undefined
}

function forgetEnded({ entries }: Schedule): void {
  const ended = [...entries.values()].filter((entry) => !isStanding(entry))
  for (const { id } of ended.slice(0, Math.max(0, ended.length - ENDED_KEPT))) entries.delete(id)
}

function isStanding({ state }: Entry): boolean {
  return state === 'waiting' || state === 'active'
}

function statusOf({ id, state, hits, message, fault }: Entry): FaultStatus {
  return { id, state, hits, ...(message !== undefined && { message }), fault }
}
