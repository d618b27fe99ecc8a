import { sleep } from '@tranche/clock'
import type { WireRequest } from '@tranche/wire'
import type { ProcessDeed, Slot } from './schedule.ts'
import { durationText } from './words.ts'
import type { Program, World } from './world.ts'

type Trap = Extract<ProcessDeed, { readonly kind: 'trap' }>

/** Does things to our programs. */
export interface Fates {
  inject(deed: ProcessDeed): void
  /** A program ends for good: it does not thaw, and no other starts in its place. */
  end(program: Program): void
  /** No trap snaps any more. */
  disarm(): void
  /** Processes that are frozen and will thaw by themselves. */
  frozen(): readonly Program[]
  /** When the last call that hangs goes on, by the world's monotonic clock; in the past where none does. */
  hangsUntilMs(): number
}

/** After how long somebody starts another in the place of a program that was killed at a crash point. */
const RESTART_MS = 2_000

/** @param world whose crash points it watches from now on */
export function createFates(world: World): Fates {
  const traps: { readonly trap: Trap; left: number }[] = []
  const frozen = new Set<Program>()
  const killed = new WeakSet<Program>()
  let hangsUntilMs = Number.NEGATIVE_INFINITY

  function end(program: Program): void {
    frozen.delete(program)
    killed.add(program)
    world.kill(program)
  }

  function kill(program: Program, downMs: number): void {
    const { slot } = program
    end(program)
    world.later(downMs, () => restart(slot))
  }

  function restart(slot: Slot): void {
    if (world.programIn(slot) === undefined) world.note(`${world.start(slot).identity} starts`)
  }

  function freeze(program: Program, forMs: number): void {
    if (frozen.has(program)) return
    program.process.freeze()
    thawAfter(program, forMs)
  }

  /** A program thaws at its own moment, also when everything else has healed. */
  function thawAfter(program: Program, forMs: number): void {
    frozen.add(program)
    world.noteStall(program.identity, forMs)
    world.clock.setTimer(forMs, () => {
      if (!frozen.delete(program)) return
      world.note(`${program.identity} thaws`)
      program.process.thaw()
    })
  }

  function strike(program: Program, { point, blow, forMs }: Trap): Promise<void> | undefined {
    const { identity, process } = program
    world.note(`${identity} ${blowWords[blow]} at ${point}${blow === 'kill' ? '' : ` for ${durationText(forMs)}`}`)
    if (blow === 'hang') {
      world.noteStall(identity, forMs)
      hangsUntilMs = Math.max(hangsUntilMs, world.clock.monotonicMs() + forMs)
      return sleep(process.clock, forMs)
    }
    if (blow === 'kill') kill(program, RESTART_MS)
    else freeze(program, forMs)
    return undefined
  }

  world.watchPoints((program, point) => {
    for (const [at, armed] of traps.entries()) {
      if (armed.trap.role !== program.role || armed.trap.point !== point || armed.left-- > 0) continue
      traps.splice(at, 1)
      return strike(program, armed.trap)
    }
    return undefined
  })

  function inject(deed: ProcessDeed): void {
    if (deed.kind === 'trap') return void traps.push({ trap: deed, left: deed.skip })
    const program = world.programIn(deed.slot)
    if (program === undefined) return
    const { identity, process } = program
    switch (deed.kind) {
      case 'kill':
        world.note(`${identity} is killed, and another starts in ${durationText(deed.downMs)}`)
        return kill(program, deed.downMs)
      case 'freeze':
        world.note(`${identity} freezes for ${durationText(deed.forMs)}${deed.replaced ? ' and is replaced' : ''}`)
        freeze(program, deed.forMs)
        if (deed.replaced) world.note(`${world.start(deed.slot).identity} starts`)
        return undefined
      case 'freezeBefore':
        world.note(`${identity} will freeze for ${durationText(deed.forMs)} before its next ${deed.write}`)
        return process.freezeBefore((request) => {
          // What was killed is not woken by a freeze that was to come.
          if (killed.has(program) || !isWrite(request, deed.write)) return false
          world.note(`${identity} freezes before ${request.method} ${request.path}`)
          thawAfter(program, deed.forMs)
          return true
        })
      case 'cutOff':
        world.note(`${identity} is cut off from the API server for ${durationText(deed.forMs)}`)
        process.cutOff()
        return world.later(deed.forMs, () => process.reconnect())
      case 'stepOwnClock':
        world.note(`the clock of ${identity} steps by ${durationText(deed.ms)}`)
        program.ownClock.stepWall(deed.ms)
        return world.later(Number.POSITIVE_INFINITY, () => program.ownClock.stepWall(-deed.ms))
      default:
        return deed satisfies never
    }
  }

  return {
    inject,
    end,
    disarm: () => void traps.splice(0),
    frozen: () => [...frozen],
    hangsUntilMs: () => hangsUntilMs,
  }
}

const blowWords = { kill: 'is killed', freeze: 'freezes', hang: 'hangs' } as const

/** @param write method and a part of the path */
function isWrite({ method, path }: WireRequest, write: string): boolean {
  const [verb, part = ''] = write.split(' ')
  return method === verb && path.includes(part)
}
