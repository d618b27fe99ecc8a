import { sleep } from '@tranche/clock'
import { bringDefinitions, type Version } from '../scenarios/next-version.ts'
import type { Callers } from './callers.ts'
import type { ProcessFaults } from './process-operations.ts'
import { apiSlots, type Slot, type Upgrade } from './schedule.ts'
import { type Owners, rolloutOf } from './owners.ts'
import { durationText } from './words.ts'
import type { Program, World } from './world.ts'

/** Replaces our programs by those of another version. */
export interface Upgrades {
  /** Begins when the upgrade before it has ended, and in mid-release. */
  begin(operation: Upgrade): void
  /** No other begins; resolves when the one that is under way has ended. */
  end(): Promise<void>
  /** How many began while a release was under way. */
  inMidRelease(): number
}

/** What an upgrade is about: a world, who owns its DaemonSet, and what befalls processes there. */
export interface UpgradeParts {
  readonly world: World
  readonly owners: Owners
  readonly processFaults: ProcessFaults
  readonly callers: Callers
}

/** How long one that was asked to end may take, before it is killed: `terminationGracePeriodSeconds` of the chart. */
const GRACE_MS = 30_000
/** After so long nobody waits for a process to become ready any more. */
const READY_MS = 2 * 60_000
/** How long somebody waits for a release to be under way, and how often he looks. */
const RELEASE_MS = 30_000
const LOOK_MS = 500

/** @param parts in whose world every program is of the present version */
export function createUpgrades(parts: UpgradeParts): Upgrades {
  const { world, processFaults, callers } = parts
  const { clock } = world
  let last = Promise.resolve()
  let isOver = false
  let inMidRelease = 0
  let definitions: Version = 'present'

  async function carryOut(operation: Upgrade): Promise<void> {
    if (!(await isReleasing(parts, () => isOver))) return world.note('nothing is upgraded: no release is under way')
    await sleep(clock, operation.afterMs)
    if (isOver) return
    if ((await rolloutOf(world))?.status?.phase === 'Progressing') inMidRelease++
    const version = world.version() === 'present' ? 'next' : 'present'
    world.note(`the ${version} version comes, ${operation.manner === 'rolling' ? 'one process after the other' : 'all processes at once'}`)
    await bring(version === 'next' || operation.definitions === 'goBack' ? version : definitions)
    if (operation.admission === 'first') await bringAdmission(version, operation)
    world.setVersion(version)
    const programs = Promise.all(
      lanes.map(async ({ lane, afterMs }) => {
        await sleep(clock, afterMs(operation))
        await replaceLane(lane, operation)
      }),
    )
    if (operation.admission === 'between') await bringAdmission(version, operation)
    await programs
    if (operation.admission === 'last') await bringAdmission(version, operation)
    world.note(`the ${version} version is there`)
  }

  async function bringAdmission(version: Version, { admissionAwayMs }: Upgrade): Promise<void> {
    if (world.schedule.shape.admission === 'none') return
    if (admissionAwayMs > 0) {
      world.note(`admission is taken away for ${durationText(admissionAwayMs)}`)
      await world.admission.lift()
      await sleep(clock, admissionAwayMs)
    }
    await world.admission.install(version)
    world.note(`admission is that of the ${version} version`)
  }

  async function bring(wanted: Version): Promise<void> {
    if (wanted === definitions) return
    await bringDefinitions(world.people, wanted)
    definitions = wanted
    world.note(`the definitions are those of the ${wanted} version`)
  }

  async function replaceLane(lane: readonly Slot[], operation: Upgrade): Promise<void> {
    if (operation.manner === 'rolling') {
      for (const slot of lane) {
        await replace(slot, operation)
        await sleep(clock, operation.gapMs)
      }
      return
    }
    await Promise.all(lane.map((slot) => end(world.programIn(slot), operation)))
    await sleep(clock, operation.gapMs)
    for (const slot of lane) if (world.programIn(slot) === undefined) start(slot)
  }

  /** As a Deployment with `maxSurge: 1` and `maxUnavailable: 0`: another is ready before one goes. */
  async function replace(slot: Slot, operation: Upgrade): Promise<void> {
    const old = world.programIn(slot)
    const successor = start(slot)
    await Promise.race([world.whenReady(successor).catch(() => {}), sleep(clock, READY_MS)])
    await end(old, operation)
  }

  function start(slot: Slot): Program {
    const program = world.start(slot)
    world.note(`${program.identity} starts`)
    return program
  }

  async function end(program: Program | undefined, { ends, asks, askedBeforeMs }: Upgrade): Promise<void> {
    if (program === undefined) return
    const ask = asks[apiSlots.indexOf(program.slot)]
    if (ask !== undefined) {
      void callers.ask(ask)
      await sleep(clock, askedBeforeMs)
    }
    world.note(`${program.identity} is ${ends === 'killed' ? 'killed' : 'asked to end'}`)
    if (ends === 'asked') await Promise.race([askToEnd(program), sleep(clock, GRACE_MS)])
    processFaults.end(program)
  }

  /** What is frozen hears of it when it thaws. */
  async function askToEnd(program: Program): Promise<void> {
    await program.process.whenThawed()
    await world.stop(program)
    world.note(`${program.identity} has ended`)
  }

  return {
    begin(operation) {
      last = last
        .then(() => (isOver ? undefined : carryOut(operation)))
        .catch((error: unknown) => world.note(`that came to nothing: ${String(error)}`))
    },
    end() {
      isOver = true
      return last
    },
    inMidRelease: () => inMidRelease,
  }
}

/** Of each Deployment its processes, and when they begin to be replaced; the Deployments are replaced side by side. */
const lanes: readonly { readonly lane: readonly Slot[]; readonly afterMs: (operation: Upgrade) => number }[] = [
  { lane: ['controller-a', 'controller-b'], afterMs: ({ controllersAfterMs }) => controllersAfterMs },
  { lane: ['executor-a', 'executor-b'], afterMs: ({ executorsAfterMs }) => executorsAfterMs },
  { lane: apiSlots, afterMs: ({ apisAfterMs }) => apisAfterMs },
]

/** Where no release is under way somebody begins one. */
async function isReleasing({ world, owners }: UpgradeParts, isOver: () => boolean): Promise<boolean> {
  const looks = RELEASE_MS / LOOK_MS
  for (let look = 0; look < looks && !isOver(); look++) {
    if ((await rolloutOf(world))?.status?.phase === 'Progressing') return true
    if (look === 0) await owners.perform({ kind: 'template', tag: `v${FIRST_TAG + world.notes.length}`, whole: false })
    await sleep(world.clock, LOOK_MS)
  }
  return false
}

/** Tags from here on are good ones, and of nobody else. */
const FIRST_TAG = 100
