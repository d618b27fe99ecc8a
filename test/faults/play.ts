import { changeCluster } from './cluster-deeds.ts'
import type { Recording } from '@tranche/recording'
import { createCallers, type Callers } from './callers.ts'
import type { Facts } from './judge.ts'
import { createFates, type Fates } from './process-deeds.ts'
import type { Sabotage } from './sabotage.ts'
import { type ApiDeed, type ApprovedBy, type Incident, type Schedule, slotsOf, type OwnerDeed } from './schedule.ts'
import { findUnended, standsStill } from './the-end.ts'
import { swapDefinitions } from './swap-definitions.ts'
import { createTenant, TENANT, type Tenant } from './tenant-deeds.ts'
import { createUpgrades, type Upgrades } from './upgrades.ts'
import { createOwners, daemonSetOf, type Owners, rolloutOf } from './owners.ts'
import { durationText } from './words.ts'
import { createWorld, drive, letPass, type Note, type World } from './world.ts'

/** A schedule that was played to its end. */
export interface Played {
  readonly schedule: Schedule
  readonly recording: Recording
  readonly facts: Facts
  readonly notes: readonly Note[]
  /** When the storm begins, epoch milliseconds by the recording's clock. */
  readonly fromMs: number
  /** Upgrades that began while a release was under way. */
  readonly upgraded: number
}

const MINUTE = 60_000
/** How long the first rollout of an undisturbed cluster may take. */
const FIRST_MS = 10 * MINUTE
/** After everything has healed and nothing hangs any more, the release must end within this. */
const END_MS = 60 * MINUTE
/** How often somebody looks whether the release waits for him, or has ended. */
const LOOK_MS = 5_000
/** Nothing may change any more for so long after the end. */
const QUIET_MS = 2 * MINUTE

/**
 * Plays a schedule: the storm, then a calm in which everything heals and nobody has to decide.
 *
 * @param sabotage breaks our programs on purpose @default nothing does
 */
export async function play(schedule: Schedule, sabotage?: Sabotage): Promise<Played> {
  const world = await createWorld(schedule, sabotage)
  const { clock } = world
  const callers = createCallers(world)
  const owners = createOwners(world, callers)
  const fates = createFates(world)
  const upgrades = createUpgrades({ world, owners, fates, callers })
  const cast: Cast = { world, owners, fates, upgrades, callers, tenant: createTenant(world) }
  for (const slot of slotsOf(schedule)) world.start(slot)
  await drive(clock, owners.install())
  const begun = await untilEnded(world, owners, FIRST_MS)
  const fromMs = clock.nowMs()
  if (begun.length > 0) return notBegun(cast, begun, fromMs)
  for (const incident of schedule.incidents) clock.setTimer(incident.atMs, () => void inject(cast, incident))
  await letPass(clock, schedule.stormMs)
  if (schedule.upgrades > 0)
    await drive(
      clock,
      upgrades.end().then(() => callers.settled()),
    )
  const calmFromMs = clock.nowMs()
  const unended = await calmDown(cast)
  if (schedule.upgrades > 0) await drive(clock, callers.settled())
  world.simulator.stop()
  const facts = {
    stalls: world.stalls,
    calmFromMs,
    endMs: clock.nowMs(),
    unended,
    asked: callers.asked(),
    witnessed: schedule.upgrades > 0,
    admitted: world.admission.standing(),
    clockSteps: world.clockSteps,
  }
  return { schedule, recording: world.recording, facts, notes: world.notes, fromMs, upgraded: upgrades.inMidRelease() }
}

/** The first rollout, which nothing disturbs, has not ended: that is all that there is to judge. */
function notBegun({ world }: Cast, begun: readonly string[], fromMs: number): Played {
  world.simulator.stop()
  const unended = [`without any fault, ${begun.join('; ')}`]
  const facts = {
    stalls: world.stalls,
    calmFromMs: fromMs,
    endMs: fromMs,
    unended,
    asked: [],
    witnessed: false,
    admitted: world.admission.standing(),
    clockSteps: [],
  }
  return { schedule: world.schedule, recording: world.recording, facts, notes: world.notes, fromMs, upgraded: 0 }
}

interface Cast {
  readonly world: World
  readonly owners: Owners
  readonly fates: Fates
  readonly upgrades: Upgrades
  readonly callers: Callers
  readonly tenant: Tenant
}

async function inject({ world, owners, fates, upgrades, callers, tenant }: Cast, incident: Incident): Promise<void> {
  try {
    switch (incident.kind) {
      case 'kill':
      case 'freeze':
      case 'trap':
      case 'freezeBefore':
      case 'cutOff':
      case 'stepOwnClock':
        return fates.inject(incident)
      case 'weather':
      case 'lag':
      case 'badQueue':
      case 'stepServerClock':
        return changeWeather(world, incident)
      case 'addNode':
      case 'removeNode':
      case 'silenceNode':
      case 'cordon':
      case 'taint':
      case 'zoneOutage':
      case 'taintPool':
      case 'deletePod':
      case 'failPod':
      case 'stickPod':
      case 'quota':
        return await changeCluster(world, incident)
      case 'forgeRevision':
      case 'forgePod':
      case 'forgeRelease':
      case 'copyAgent':
        return await tenant.forge(incident)
      case 'swapDefinitions':
        return await swapDefinitions(world, incident.forMs)
      case 'upgrade':
        return upgrades.begin(incident)
      case 'ask':
        return await callers.ask(incident)
      default:
        return await owners.perform(incident satisfies OwnerDeed)
    }
  } catch (error) {
    world.note(`that came to nothing: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What goes wrong with requests, events, jobs and clocks. */
type WeatherDeed = Exclude<ApiDeed, { readonly kind: 'swapDefinitions' }>

function changeWeather(world: World, deed: WeatherDeed): void {
  world.note(weatherText(deed))
  if (deed.kind === 'stepServerClock') {
    world.stepServerClock(deed.ms)
    return world.later(Number.POSITIVE_INFINITY, () => world.stepServerClock(-deed.ms))
  }
  world.later(
    deed.forMs,
    world.weather.begin(deed, (actor) => isMeant(world, deed, actor)),
  )
}

function isMeant(world: World, deed: WeatherDeed, actor: string): boolean {
  if (deed.kind === 'lag') return world.programIn(deed.slot)?.identity === actor
  if (deed.kind !== 'weather') return true
  const role = /^(controller|executor|api)-\d+$/.exec(actor)?.[1]
  if (deed.who === 'native') return role === undefined && !outsiders.includes(actor)
  return deed.who === 'ours' ? role !== undefined : role === deed.who
}

/** Whose requests always succeed. */
const outsiders: readonly string[] = ['people', TENANT, 'admission', 'node-operator', 'helm']

function weatherText(deed: WeatherDeed): string {
  switch (deed.kind) {
    case 'weather':
      return `for ${durationText(deed.forMs)}, ${deed.requests * 100} % of the requests and ${deed.events * 100} % of the events of ${deed.who} go wrong, by ${durationText(deed.mostDelayMs)} at most`
    case 'lag':
      return `for ${durationText(deed.forMs)}, events of ${deed.resource ?? 'everything'} reach ${deed.slot} ${durationText(deed.ms)} late`
    case 'badQueue':
      return `for ${durationText(deed.forMs)}, ${deed.lost * 100} % of the jobs are lost, ${deed.doubled * 100} % doubled, and they are up to ${durationText(deed.mostDelayMs)} late`
    case 'stepServerClock':
      return `the server's clock steps by ${durationText(deed.ms)}`
    default:
      return deed satisfies never
  }
}

/** @returns what has not ended */
async function calmDown({ world, owners, fates }: Cast): Promise<readonly string[]> {
  const { clock } = world
  world.note('everything heals')
  fates.disarm()
  await drive(clock, world.heal())
  endNewer(world, fates)
  for (const slot of slotsOf(world.schedule))
    if (world.programIn(slot) === undefined || world.programIn(slot)?.process.isFrozen()) world.start(slot)
  await drive(clock, owners.settle())
  const hangsForMs = Math.max(0, fates.hangsUntilMs() - clock.monotonicMs())
  const first = await untilEnded(world, owners, hangsForMs + END_MS)
  while (fates.frozen().length > 0 || clock.monotonicMs() < fates.hangsUntilMs()) await letPass(clock, MINUTE)
  await letPass(clock, QUIET_MS)
  if (first.length > 0) return first
  // What came late, or from who thawed, may have undone something; that ends too, and then nothing is left to come.
  const second = await untilEnded(world, owners, END_MS)
  await letPass(clock, QUIET_MS)
  return second.length > 0 ? second : drive(clock, findUnended(world, owners.tag()))
}

/**
 * A process that outlived its replacement ends once its kubelet is heard again. One of the next version could write no status by then: the
 * definitions that came with the version before lack its fields, and a status that loses any is written by none of ours.
 */
function endNewer(world: World, fates: Fates): void {
  for (const program of world.replaced()) {
    if (program.version === 'present' || world.version() === 'next') continue
    world.note(`${program.identity} is killed, for it is of the ${program.version} version`)
    fates.end(program)
  }
}

/** Somebody does what the release waits for a person to do. @returns what has not ended after `withinMs` */
async function untilEnded(world: World, owners: Owners, withinMs: number): Promise<readonly string[]> {
  const { clock } = world
  const untilMs = clock.monotonicMs() + withinMs
  const person = createPerson(world, owners)
  for (;;) {
    const unended = await drive(clock, findUnended(world, owners.tag()))
    if (unended.length === 0 || clock.monotonicMs() >= untilMs) return unended
    await drive(clock, person())
    await letPass(clock, LOOK_MS)
  }
}

/** What only a person lifts. */
const personal: readonly string[] = ['StrategyContested', 'RevisionHeld', 'ReleaseFailed', 'AnalysisFailed', 'AnalysisInconclusive']
/** How long a person waits for what came of a retry, or of another template, in looks. */
const PATIENCE = 12
/** How often a person looks whether the DaemonSet controller stands still, in looks: longer than its expectations last. */
const STILL = 72

/** @returns what somebody does who looks: creates what is gone, wakes who sleeps, approves, and lifts what stands in the way */
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
    // What a program had decided before it froze is written when it thaws.
    if (spec?.strategy.paused === true) await owners.perform({ kind: 'resume' })
    const { currentStepIndex = 0, currentStepState } = status?.canaryStatus ?? {}
    const stall = status?.conditions?.find((condition) => condition.type === 'Stalled' && condition.status === 'True')?.reason ?? ''
    if (personal.includes(stall)) {
      if (looks % (2 * PATIENCE) === 0) await owners.perform({ kind: 'act', type: 'retry' })
      else if (looks % PATIENCE === 0) await release()
      looks++
    } else if (currentStepState === 'StepPaused') {
      // A pause that has an end ends by itself.
      if (spec?.strategy.canary?.steps?.[currentStepIndex - 1]?.pause?.duration !== undefined) return
      world.note(`somebody approves step ${currentStepIndex}`)
      await owners.approve(approvedBy(world, currentStepIndex, ++approvals))
    } else if (/maxUnavailable is at least \d+/.test(status?.message ?? '')) {
      // A version that flaps for ever on more nodes than may be down leaves no Ready pod that could be taken (F4).
      looks++
      if (looks % PATIENCE === 0) await owners.perform({ kind: 'budget', maxUnavailable: world.schedule.shape.nodes })
    } else if (status?.phase === 'Healthy' && (await wasRolledBack(world, owners.tag()))) {
      looks++
      if (looks % PATIENCE === 0) await release()
    }
  }
}

/** Where there is no API, nobody asks it. */
function approvedBy({ schedule }: World, step: number, approvals: number): ApprovedBy {
  if (schedule.upgrades === 0) return step % 2 === 1 ? 'status' : 'action'
  return (['rest', 'status', 'action'] as const)[approvals % 3]!
}

/** The template is another one than its owners want: we have put the stable one back. */
async function wasRolledBack(world: World, tag: string): Promise<boolean> {
  const { spec } = (await daemonSetOf(world)) ?? {}
  const { containers = [] } = (spec?.template.spec ?? {}) as { readonly containers?: readonly { readonly image: string }[] }
  return containers.some(({ image }) => !image.endsWith(`:${tag}`))
}
