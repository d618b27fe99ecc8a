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
  /** Starts when the previous upgrade has ended, in mid-release. */
  begin(operation: Upgrade): void
  /** Starts no other upgrade; resolves when the one in progress has ended. */
  end(): Promise<void>
  /** Number of upgrades that started while a release was in progress. */
  inMidRelease(): number
}

/** Parts that upgrades need: a world, the owners of its DaemonSet, and the faults of its processes. */
export interface UpgradeParts {
  readonly world: World
  readonly owners: Owners
  readonly processFaults: ProcessFaults
  readonly callers: Callers
}

/** Time that a program has to end before it is killed: `terminationGracePeriodSeconds` of the chart, in milliseconds. */
const GRACE_MS = 30_000
/** Longest wait for a process to become ready, in milliseconds. */
const READY_MS = 2 * 60_000
/** Longest wait for a release in progress, and the time between two looks. */
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
    if (!(await isReleasing(parts, () => isOver))) return world.note('nothing is upgraded: no release is in progress')
    await sleep(clock, operation.afterMs)
    if (isOver) return
    if ((await rolloutOf(world))?.status?.phase === 'Progressing') inMidRelease++
    const end = world.disturbances.begin()
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
    end()
  }

  async function bringAdmission(version: Version, { admissionAwayMs }: Upgrade): Promise<void> {
    if (world.schedule.shape.admission === 'none') return
    if (admissionAwayMs > 0) {
      world.note(`admission is taken away for ${durationText(admissionAwayMs)}`)
      await world.admission.lift()
      await sleep(clock, admissionAwayMs)
    }
    await world.admission.install(version)
    world.note(`admission is now of the ${version} version`)
  }

  async function bring(wanted: Version): Promise<void> {
    if (wanted === definitions) return
    await bringDefinitions(world.people, wanted)
    definitions = wanted
    world.note(`the definitions are now of the ${wanted} version`)
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

  /** Like a Deployment with `maxSurge: 1` and `maxUnavailable: 0`: another program is ready before one ends. */
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

  /** A frozen process notices the request when it thaws. */
  async function askToEnd(program: Program): Promise<void> {
    await program.process.whenThawed()
    await world.stop(program)
    world.note(`${program.identity} has ended`)
  }

  return {
    begin(operation) {
      last = last
        .then(() => (isOver ? undefined : carryOut(operation)))
        .catch((error: unknown) => world.note(`the operation failed: ${String(error)}`))
    },
    end() {
      isOver = true
      return last
    },
    inMidRelease: () => inMidRelease,
  }
}

/** The processes of each Deployment, and when their replacement starts; the Deployments are replaced side by side. */
const lanes: readonly { readonly lane: readonly Slot[]; readonly afterMs: (operation: Upgrade) => number }[] = [
  { lane: ['controller-a', 'controller-b'], afterMs: ({ controllersAfterMs }) => controllersAfterMs },
  { lane: ['executor-a', 'executor-b'], afterMs: ({ executorsAfterMs }) => executorsAfterMs },
  { lane: apiSlots, afterMs: ({ apisAfterMs }) => apisAfterMs },
]

/** Starts a release if none is in progress. */
async function isReleasing({ world, owners }: UpgradeParts, isOver: () => boolean): Promise<boolean> {
  const looks = RELEASE_MS / LOOK_MS
  for (let look = 0; look < looks && !isOver(); look++) {
    if ((await rolloutOf(world))?.status?.phase === 'Progressing') return true
    if (look === 0) await owners.perform({ kind: 'template', tag: `v${FIRST_TAG + world.notes.length}`, whole: false })
    await sleep(world.clock, LOOK_MS)
  }
  return false
}

/** From here on, tags are good ones that no other operation uses. */
const FIRST_TAG = 100
