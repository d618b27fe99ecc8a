import { durationMs, FAULTS_MAX, signedDurationMs, type SimFault, type SimFaults } from '@tranche/api-schema'
import type { Timer } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { Simulator } from '../create-simulator.ts'
import { createRandom, type FaultInjector, resources } from '@tranche/sim-api'
import { beginningsOf, checkFaults, type ClusterNames } from './check-faults.ts'
import { describeFault } from './describe-fault.ts'
import { createRule, isEventRule, isRule } from './fault-rule.ts'
import type { FaultFinding } from './parse-faults.ts'
import { resourceText } from './match.ts'

/** Dependencies of a fault schedule. */
export interface FaultScheduleOptions {
  /** Simulator, already started. */
  readonly simulator: Pick<Simulator, 'server' | 'nodes' | 'clock' | 'stepClock' | 'clientFor'>
  /** Random numbers for probabilities when a document has no seed. */
  readonly seed: number
  /** Called with a line for users when a fault starts or ends. */
  readonly say: (text: string) => void
  readonly log: Logger
}

/** `waiting` for its start; `active`; `over`: its time or its count is used up; `lifted` before that; `failed`: it could not be applied. */
export type FaultState = 'waiting' | 'active' | 'over' | 'lifted' | 'failed'

/** Fault and its state. */
export interface FaultStatus {
  /** Its name, else `fault-` and a number. */
  readonly id: string
  readonly state: FaultState
  /** Number of requests or events matched so far. */
  readonly hits: number
  /** Reason of a failure. */
  readonly message?: string
  /** Fault as stated in the document. */
  readonly fault: SimFault
}

/** Applies faults to a simulator at their times. */
export interface FaultSchedule {
  /**
   * Accepts a document completely, or not at all. Faults without delay are active when this resolves.
   *
   * @returns its faults, in document order; or why it is rejected (≥ 1 finding)
   */
  add(
    document: SimFaults,
  ): Promise<
    | { readonly kind: 'added'; readonly faults: readonly FaultStatus[] }
    | { readonly kind: 'invalid'; readonly findings: readonly FaultFinding[] }
  >
  /** @returns every waiting or active fault, and the last {@link ENDED_KEPT} of the others, oldest first */
  list(): readonly FaultStatus[]
  /** Ends a fault early; its nodes come back. @returns undefined when no fault of this id is waiting or active */
  lift(id: string): Promise<FaultStatus | undefined>
  /** Ends all waiting and active faults. @returns them */
  liftAll(): Promise<readonly FaultStatus[]>
  /** Drops all faults without undoing their effects. */
  stop(): void
}

/** Number of ended faults that are remembered. */
export const ENDED_KEPT = 100

interface Entry {
  readonly id: string
  readonly fault: SimFault
  state: FaultState
  hits: number
  message?: string
  timer: Timer | undefined
  /** While active: effect on requests and watches. */
  injector: FaultInjector | undefined
  /** While active: nodes that it keeps down. */
  readonly held: Set<string>
}

/** @returns a schedule without faults */
export function createFaultSchedule(options: FaultScheduleOptions): FaultSchedule {
  const schedule: Schedule = { ...options, entries: new Map(), added: 0 }
  return {
    async add(document) {
      const names = await namesOf(schedule)
      // Runs without awaiting until the faults are added, because another document may arrive.
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
  /** By id, in order of addition. */
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
    {
      path: 'faults',
      value: `${faults.length} more`,
      fix: `lift some: ${standing.length} are waiting or active, and ${FAULTS_MAX} may be`,
    },
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
    // Removes an ended fault of this name first, so that the order stays that of addition.
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
    // A failed fault is undone: the nodes that it took down come back, except deleted ones.
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
  if (!isRule(fault)) throw new Error(`${fault.kind} applies to no requests`)
  return createRule({
    fault,
    id,
    random: createRandom(seed, 'fault', id),
    onHit: ({ actor, resource, ...met }) => {
      entry.hits++
      schedule.log.debug({ fault: id, actor, resource: resource.resource, ...('verb' in met && { verb: met.verb }) }, 'fault hit')
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

/** Brings back the nodes that no other fault keeps down. */
async function raise({ entries, simulator }: Schedule, entry: Entry): Promise<void> {
  const names = [...entry.held]
  entry.held.clear()
  const others = [...entries.values()]
  await every(
    names.filter((name) => !others.some(({ held }) => held.has(name))),
    simulator.nodes.revive,
  )
}

/** Marks these nodes as up or deleted: no fault keeps them down any longer. */
async function clearHolds(schedule: Schedule, names: readonly string[]): Promise<void> {
  for (const entry of schedule.entries.values()) {
    if (entry.held.size === 0) continue
    for (const name of names) entry.held.delete(name)
    if (entry.held.size === 0) await end(schedule, entry, 'over')
  }
}

/** Runs in parallel. @throws first error, after all have ended */
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

/** Actor that reads the cluster state before faults are accepted. */
const READER = 'faults'
/** The schedule's own requests are exempt from faults. */
const spared = [READER, 'node-operator']

/** The first active fault that matches a request decides. The server calls no injector when there is none. */
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
