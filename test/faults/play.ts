import { changeCluster } from './cluster-operations.ts'
import type { BatchRelease } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Node, Pod } from '@tranche/kube-types'
import type { Recording } from '@tranche/recording'
import { createCallers, type Callers } from './callers.ts'
import type { Facts } from './judge.ts'
import { createProcessFaults, type ProcessFaults } from './process-operations.ts'
import type { Sabotage } from './sabotage.ts'
import { type ApiOperation, type ApprovedBy, type Incident, type Schedule, slotsOf, type OwnerOperation } from './schedule.ts'
import { stageKey } from '../scenarios/stage-objects.ts'
import { findUnended, standsStill } from './end-state.ts'
import { swapDefinitions } from './swap-definitions.ts'
import { type Companion, createCompanion, findUnendedCompanion } from './companion.ts'
import { createTenant, TENANT, type Tenant } from './tenant-operations.ts'
import { createUpgrades, type Upgrades } from './upgrades.ts'
import { createOwners, daemonSetOf, type Owners, rolloutOf } from './owners.ts'
import { durationText } from './words.ts'
import { createWorld, drive, letPass, type Note, type Program, type World } from './world.ts'

/** A schedule that was played to its end. */
export interface Played {
  readonly schedule: Schedule
  readonly recording: Recording
  readonly facts: Facts
  readonly notes: readonly Note[]
  /** Start of the storm, in epoch milliseconds by the recording's clock. */
  readonly fromMs: number
  /** Number of upgrades that started while a release was in progress. */
  readonly upgraded: number
}

const MINUTE = 60_000
/** Longest duration of the first rollout of an undisturbed cluster, in milliseconds. */
const FIRST_MS = 10 * MINUTE
/** Longest duration until the release ends, after all faults have ended and no call hangs any more, in milliseconds. */
const END_MS = 60 * MINUTE
/** Number of days for which nodes may wait for the next one. The person may release another version each day. */
const MOST_DAYS = 3
const HOUR = 60 * MINUTE
const DAY_MS = 24 * HOUR
/** One seed in this many keeps its programs running through the days. Such a day costs as much as twenty other seeds. */
const LIVE_ONE_IN = 4
/** Time between two looks of a person at the release, in milliseconds: whether it waits for them, or has ended. */
const LOOK_MS = 5_000
/** Time after the end in which nothing may change any more, in milliseconds. */
const QUIET_MS = 2 * MINUTE

/**
 * Plays a schedule: first the storm, and then a quiet phase in which all faults end and no user decides anything of their own accord.
 *
 * @param sabotage breaks our programs on purpose @default none
 */
export async function play(schedule: Schedule, sabotage?: Sabotage): Promise<Played> {
  const world = await createWorld(schedule, sabotage)
  const { clock } = world
  const callers = createCallers(world)
  const owners = createOwners(world, callers)
  const processFaults = createProcessFaults(world)
  const upgrades = createUpgrades({ world, owners, processFaults, callers })
  const parts: PlayParts = {
    world,
    owners,
    processFaults,
    upgrades,
    callers,
    tenant: createTenant(world),
    companion: createCompanion(world),
  }
  for (const slot of slotsOf(schedule)) world.start(slot)
  await drive(clock, owners.install())
  await drive(clock, parts.companion.install())
  const begun = await untilEnded(world, owners, FIRST_MS)
  const fromMs = clock.nowMs()
  if (begun.length > 0) return notBegun(parts, begun, fromMs)
  for (const incident of schedule.incidents) clock.setTimer(incident.atMs, () => void inject(parts, incident))
  await letPass(clock, schedule.stormMs)
  if (schedule.upgrades > 0)
    await drive(
      clock,
      upgrades.end().then(() => callers.settled()),
    )
  const quiescentFromMs = clock.nowMs()
  const unended = await quiesce(parts)
  if (schedule.upgrades > 0) await drive(clock, callers.settled())
  world.simulator.stop()
  const facts = {
    stalls: world.stalls,
    failures: world.failures,
    quiescentFromMs,
    endMs: clock.nowMs(),
    unended,
    asked: callers.asked(),
    hasChangeObserver: schedule.upgrades > 0,
    admitted: world.admission.standing(),
    clockSteps: world.clockSteps,
    disturbances: world.disturbances.list(),
    gaveUp: world.gaveUp,
  }
  return { schedule, recording: world.recording, facts, notes: world.notes, fromMs, upgraded: upgrades.inMidRelease() }
}

/** The first, undisturbed rollout has not ended: there is nothing else to judge. */
function notBegun({ world }: PlayParts, begun: readonly string[], fromMs: number): Played {
  world.simulator.stop()
  const unended = [`without any fault, ${begun.join('; ')}`]
  const facts = {
    stalls: world.stalls,
    failures: world.failures,
    quiescentFromMs: fromMs,
    endMs: fromMs,
    unended,
    asked: [],
    hasChangeObserver: false,
    admitted: world.admission.standing(),
    clockSteps: [],
    disturbances: [],
    gaveUp: world.gaveUp,
  }
  return { schedule: world.schedule, recording: world.recording, facts, notes: world.notes, fromMs, upgraded: 0 }
}

interface PlayParts {
  readonly world: World
  readonly owners: Owners
  readonly processFaults: ProcessFaults
  readonly upgrades: Upgrades
  readonly callers: Callers
  readonly tenant: Tenant
  readonly companion: Companion
}

async function inject(
  { world, owners, processFaults, upgrades, callers, tenant, companion }: PlayParts,
  incident: Incident,
): Promise<void> {
  try {
    switch (incident.kind) {
      case 'kill':
      case 'freeze':
      case 'trap':
      case 'freezeBefore':
      case 'cutOff':
      case 'stepOwnClock':
        return processFaults.inject(incident)
      case 'faultPhase':
      case 'lag':
      case 'badQueue':
      case 'stepServerClock':
        return beginFaultPhase(world, incident)
      case 'addNode':
      case 'removeNode':
      case 'silenceNode':
      case 'outOfService':
      case 'maintain':
      case 'drainByOther':
      case 'cordon':
      case 'taint':
      case 'zoneOutage':
      case 'taintPool':
      case 'deletePod':
      case 'failPod':
      case 'stickPod':
      case 'quota':
      case 'crowd':
      case 'noRegistry':
      case 'consume':
      case 'holdNode':
        return await changeCluster(world, incident)
      case 'forgeRevision':
      case 'forgePod':
      case 'forgeRelease':
      case 'copyAgent':
      case 'spoilStatus':
        return await tenant.forge(incident)
      case 'swapDefinitions':
        return await swapDefinitions(world, incident.forMs)
      case 'companionTemplate':
        return await companion.release(incident.tag)
      case 'upgrade':
        return upgrades.begin(incident)
      case 'ask':
        return await callers.ask(incident)
      default:
        return await owners.perform(incident satisfies OwnerOperation)
    }
  } catch (error) {
    world.note(`the operation failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Faults of requests, events, jobs and clocks. */
type FaultPhase = Exclude<ApiOperation, { readonly kind: 'swapDefinitions' }>

function beginFaultPhase(world: World, operation: FaultPhase): void {
  world.note(faultPhaseText(operation))
  if (operation.kind === 'stepServerClock') {
    world.stepServerClock(operation.ms)
    return world.later(Number.POSITIVE_INFINITY, () => world.stepServerClock(-operation.ms))
  }
  const lastsMs = lastsForMs(operation)
  if (lastsMs > 0) world.disturbances.disturb(lastsMs)
  world.later(
    operation.forMs,
    world.faultPhases.begin(operation, (actor) => isMeant(world, operation, actor)),
  )
}

/** @returns how long it holds up controllers, in milliseconds: the last of what it delays arrives late. Jobs are for executors only */
function lastsForMs(operation: Exclude<FaultPhase, { readonly kind: 'stepServerClock' }>): number {
  if (operation.kind === 'badQueue') return 0
  if (operation.kind === 'lag') return operation.slot.startsWith('controller') ? operation.forMs + operation.ms : 0
  return operation.who === 'executor' || operation.who === 'api' ? 0 : operation.forMs + operation.mostDelayMs
}

function isMeant(world: World, operation: FaultPhase, actor: string): boolean {
  if (operation.kind === 'lag') return world.programIn(operation.slot)?.identity === actor
  if (operation.kind !== 'faultPhase') return true
  const role = /^(controller|executor|api)-\d+$/.exec(actor)?.[1]
  if (operation.who === 'native') return role === undefined && !outsiders.includes(actor)
  return operation.who === 'ours' ? role !== undefined : role === operation.who
}

/** Clients whose requests always succeed. */
const outsiders: readonly string[] = ['people', TENANT, 'admission', 'node-operator', 'helm']

function faultPhaseText(operation: FaultPhase): string {
  switch (operation.kind) {
    case 'faultPhase':
      return `for ${durationText(operation.forMs)}, ${operation.requests * 100} % of the requests and ${operation.events * 100} % of the events of ${operation.who} fail or are delayed, by ${durationText(operation.mostDelayMs)} at most`
    case 'lag':
      return `for ${durationText(operation.forMs)}, events of ${operation.resource ?? 'everything'} reach ${operation.slot} ${durationText(operation.ms)} late`
    case 'badQueue':
      return `for ${durationText(operation.forMs)}, ${operation.lost * 100} % of the jobs are lost, ${operation.doubled * 100} % doubled, and they are up to ${durationText(operation.mostDelayMs)} late`
    case 'stepServerClock':
      return `the API server's clock steps by ${durationText(operation.ms)}`
    default:
      return operation satisfies never
  }
}

/** @returns what has not ended */
async function quiesce({ world, owners, processFaults }: PlayParts): Promise<readonly string[]> {
  const { clock } = world
  world.note('everything heals')
  processFaults.disarm()
  await drive(clock, world.heal())
  endNewer(world, processFaults)
  for (const slot of slotsOf(world.schedule))
    if (world.programIn(slot) === undefined || world.programIn(slot)?.process.isFrozen()) world.start(slot)
  await drive(clock, owners.settle())
  const hangsForMs = Math.max(0, processFaults.hangsUntilMs() - clock.monotonicMs())
  const first = await untilRoom(world, owners, await untilEnded(world, owners, hangsForMs + END_MS))
  while (processFaults.frozen().length > 0 || clock.monotonicMs() < processFaults.hangsUntilMs()) await letPass(clock, MINUTE)
  await letPass(clock, QUIET_MS)
  if (first.length > 0) return first
  // Late events, or processes that thawed, may have undone something. Once that has ended too, nothing else can arrive.
  const second = await untilRoom(world, owners, await untilEnded(world, owners, END_MS))
  await letPass(clock, QUIET_MS)
  return second.length > 0 ? second : drive(clock, unendedOf(world, owners))
}

/**
 * Ends processes that outlived their replacement, as their kubelet does once it is reachable again. A process of the next version could
 * not write a status by then. The definitions of the present version lack its fields, and none of our programs writes a status that would
 * lose a field.
 */
function endNewer(world: World, processFaults: ProcessFaults): void {
  for (const program of world.replaced()) {
    if (program.version === 'present' || world.version() === 'next') continue
    world.note(`${program.identity} is killed, because it runs the ${program.version} version`)
    processFaults.end(program)
  }
}

async function unendedOf(world: World, owners: Owners): Promise<readonly string[]> {
  return [...(await findUnended(world, owners.tag(), owners.levels())), ...(await findUnendedCompanion(world))]
}

/** Lets days pass while the nodes of a release wait for the next one (`downtime.perDay`). @param unended what has not ended @returns the same, later */
async function untilRoom(world: World, owners: Owners, unended: readonly string[]): Promise<readonly string[]> {
  let left = unended
  for (let days = 0; days < MOST_DAYS && left.length > 0 && (await drive(world.clock, waitsForRoom(world))); days++) {
    await letDayPass(world)
    left = await untilEnded(world, owners, END_MS)
  }
  return left
}

/** In most seeds all programs are scaled to zero for the day, and back in its last hour. */
async function letDayPass(world: World): Promise<void> {
  const { clock, schedule } = world
  if (schedule.seed % LIVE_ONE_IN === 0) return letPass(clock, DAY_MS)
  world.note('all programs are scaled to zero for a day')
  for (const program of programsOf(world)) world.kill(program)
  await letPass(clock, DAY_MS - HOUR)
  for (const slot of slotsOf(schedule)) world.start(slot)
  await letPass(clock, HOUR)
}

function programsOf(world: World): readonly Program[] {
  const running = slotsOf(world.schedule).map((slot) => world.programIn(slot))
  return [...running.filter((program) => program !== undefined), ...world.replaced()]
}

/** Whether a release waits for nodes whose agents were away for long enough. */
async function waitsForRoom({ people }: World): Promise<boolean> {
  const releases = (await people.list<BatchRelease>(resourcePaths.batchReleases)).items
  return releases.some(({ status }) => status?.flight?.blocked?.some(({ reason }) => reason === 'DowntimeSpent') === true)
}

/** Plays the person for whom the release waits. @returns what has not ended after `withinMs` */
async function untilEnded(world: World, owners: Owners, withinMs: number): Promise<readonly string[]> {
  const { clock } = world
  const untilMs = clock.monotonicMs() + withinMs
  const person = createPerson(world, owners)
  for (;;) {
    const unended = await drive(clock, unendedOf(world, owners))
    if (unended.length === 0 || clock.monotonicMs() >= untilMs) return unended
    await drive(clock, person())
    await letPass(clock, LOOK_MS)
  }
}

/** Reasons of a stop that only a person lifts. */
const personal: readonly string[] = ['StrategyConflict', 'RevisionHeld', 'ReleaseFailed', 'AnalysisFailed', 'AnalysisInconclusive']
/** How long a person waits for the effect of a retry, or of another template, in looks. */
const PATIENCE = 12
/** Looks between two checks for a DaemonSet controller that makes no progress: longer than its expectations last. */
const STILL = 72

/** @returns one look of the person: they create missing objects, wake a controller that makes no progress, approve, and clear stops */
function createPerson(world: World, owners: Owners): () => Promise<void> {
  let looks = 0
  let allLooks = 0
  let stoodStill = false
  let templates = 10
  let approvals = 0
  const release = (): Promise<void> => owners.perform({ kind: 'template', tag: `v${++templates}`, whole: false })
  const lookAtNative = async (): Promise<void> => {
    if (++allLooks % STILL !== 0) return
    const stands = await standsStill(world)
    if (stands && stoodStill) await owners.touch()
    stoodStill = stands
  }
  return async () => {
    await owners.install()
    await lookAtNative()
    const { status, spec } = (await rolloutOf(world)) ?? {}
    // A program that thaws writes what it had decided before it froze, possibly a pause.
    if (spec?.strategy.paused === true) await owners.perform({ kind: 'resume' })
    const { currentStepIndex = 0, currentStepState } = status?.canaryStatus ?? {}
    const stall = status?.conditions?.find((condition) => condition.type === 'Stalled' && condition.status === 'True')?.reason ?? ''
    if (personal.includes(stall)) {
      if (looks % (2 * PATIENCE) === 0) await owners.perform({ kind: 'act', type: 'retry' })
      else if (looks % PATIENCE === 0) await release()
      looks++
    } else if (stall === 'CRDOutdated' && /apply the manifest of the Rollout again/.test(status?.message ?? '')) {
      looks++
      if (looks % PATIENCE === 0) await owners.applyRollout()
    } else if (stall === 'ConfigUnpinned') {
      looks++
      if (looks % PATIENCE !== 0) return
      if (await isRolling(world)) await owners.setOnDelete()
      await owners.deleteLivePods()
    } else if (currentStepState === 'StepPaused') {
      // A pause with a duration ends by itself.
      if (spec?.strategy.canary?.steps?.[currentStepIndex - 1]?.pause?.duration !== undefined) return
      world.note(`a person approves step ${currentStepIndex}`)
      await owners.approve(approvedBy(world, currentStepIndex, ++approvals))
    } else if (neededBudget(status?.message) !== undefined) {
      // A version that flaps forever on more nodes than may be down leaves no Ready pod that could be deleted (F4).
      looks++
      const needed = neededBudget(status?.message)!
      if (looks % PATIENCE === 0 && (await countDown(world)) + 1 >= needed) await owners.raiseBudget(needed)
    } else if (status?.phase === 'Healthy' && (await wasRolledBack(world, owners.tag()))) {
      looks++
      if (looks % PATIENCE === 0) await release()
    }
  }
}

/** Number of nodes without an available pod of the agent: one that flaps is not, though it is Ready for moments. */
async function countDown(world: World): Promise<number> {
  const { desiredNumberScheduled: desired = 0, numberAvailable = 0 } = (await daemonSetOf(world))?.status ?? {}
  return Math.max(desired - numberAvailable, await countUnready(world))
}

/** Number of nodes without a Ready pod of the agent. */
async function countUnready({ people }: World): Promise<number> {
  const pods = (await people.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })).items
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  const up = new Set(pods.filter(isReady).map(({ spec }) => spec?.nodeName))
  const nodes = (await people.list<Node>(resourcePaths.nodes)).items
  return nodes.filter(({ metadata }) => !up.has(metadata.name)).length
}

/** What the message of a wait for the budget asks for. */
function neededBudget(message = ''): number | undefined {
  const [, most] = /maxUnavailable is at least (\d+)/.exec(message) ?? []
  return most === undefined ? undefined : Number(most)
}

/** Without an API, no approval goes over REST. */
function approvedBy({ schedule }: World, step: number, approvals: number): ApprovedBy {
  if (schedule.upgrades === 0) return step % 2 === 1 ? 'status' : 'action'
  return (['rest', 'status', 'action'] as const)[approvals % 3]!
}

/** Whether the strategy may keep config from being pinned; then the message of the stop asks for another one. */
async function isRolling(world: World): Promise<boolean> {
  return world.schedule.shape.admission === 'none' && (await daemonSetOf(world))?.spec.updateStrategy?.type === 'RollingUpdate'
}

/** Whether the template differs from the one that its owners want, because Tranche has restored the stable one. */
async function wasRolledBack(world: World, tag: string): Promise<boolean> {
  const { spec } = (await daemonSetOf(world)) ?? {}
  const { containers = [] } = (spec?.template.spec ?? {}) as { readonly containers?: readonly { readonly image: string }[] }
  return containers.some(({ image }) => !image.endsWith(`:${tag}`))
}
