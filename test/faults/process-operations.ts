import { sleep } from '@tranche/clock'
import type { WireRequest } from '@tranche/wire'
import type { ProcessOperation, Slot } from './schedule.ts'
import { durationText } from './words.ts'
import type { Program, World } from './world.ts'

type Trap = Extract<ProcessOperation, { readonly kind: 'trap' }>

/** Injects faults into our programs. */
export interface ProcessFaults {
  inject(operation: ProcessOperation): void
  /** Ends a program for good: it does not thaw, and no other starts in its place. */
  end(program: Program): void
  /** Removes all traps. */
  disarm(): void
  /** Processes that are frozen and will thaw by themselves. */
  frozen(): readonly Program[]
  /** When the last hanging call resumes, by the world's monotonic clock; a time in the past if no call hangs. */
  hangsUntilMs(): number
}

/** Time until another program starts in the place of one that was killed at a failpoint, in milliseconds. */
const RESTART_MS = 2_000

/** @param world whose failpoints it watches from now on */
export function createProcessFaults(world: World): ProcessFaults {
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

  /** A program thaws at its own time, even when all other faults have ended. */
  function thawAfter(program: Program, forMs: number): void {
    frozen.add(program)
    world.noteStall(program.identity, forMs)
    world.disturbances.disable(program.slot, forMs)
    world.clock.setTimer(forMs, () => {
      if (!frozen.delete(program)) return
      world.note(`${program.identity} thaws`)
      program.process.thaw()
    })
  }

  function trigger(program: Program, { point, mode, forMs }: Trap): Promise<void> | undefined {
    const { identity, process } = program
    world.note(`${identity} ${modeTexts[mode]} at ${point}${mode === 'kill' ? '' : ` for ${durationText(forMs)}`}`)
    if (mode === 'hang') {
      world.noteStall(identity, forMs)
      if (program.role === 'controller') world.disturbances.disturb(forMs)
      hangsUntilMs = Math.max(hangsUntilMs, world.clock.monotonicMs() + forMs)
      return sleep(process.clock, forMs)
    }
    if (mode === 'kill') kill(program, RESTART_MS)
    else freeze(program, forMs)
    return undefined
  }

  world.watchPoints((program, point) => {
    for (const [at, armed] of traps.entries()) {
      if (armed.trap.role !== program.role || armed.trap.point !== point || armed.left-- > 0) continue
      traps.splice(at, 1)
      return trigger(program, armed.trap)
    }
    return undefined
  })

  function inject(operation: ProcessOperation): void {
    if (operation.kind === 'trap') return void traps.push({ trap: operation, left: operation.skip })
    const program = world.programIn(operation.slot)
    if (program === undefined) return
    const { identity, process } = program
    switch (operation.kind) {
      case 'kill':
        world.note(`${identity} is killed, and another starts in ${durationText(operation.downMs)}`)
        return kill(program, operation.downMs)
      case 'freeze':
        world.note(`${identity} freezes for ${durationText(operation.forMs)}${operation.replaced ? ' and is replaced' : ''}`)
        freeze(program, operation.forMs)
        if (operation.replaced) world.note(`${world.start(operation.slot).identity} starts`)
        return undefined
      case 'freezeBefore':
        world.note(`${identity} will freeze for ${durationText(operation.forMs)} before its next ${operation.write}`)
        return process.freezeBefore((request) => {
          // A freeze that is still to come does not wake a killed program.
          if (killed.has(program) || !isWrite(request, operation.write)) return false
          world.note(`${identity} freezes before ${request.method} ${request.path}`)
          thawAfter(program, operation.forMs)
          return true
        })
      case 'cutOff':
        world.note(`${identity} is cut off from the API server for ${durationText(operation.forMs)}`)
        process.cutOff()
        world.disturbances.disable(program.slot, operation.forMs)
        return world.later(operation.forMs, () => process.reconnect())
      case 'stepOwnClock':
        world.note(`the clock of ${identity} steps by ${durationText(operation.ms)}`)
        program.ownClock.stepWall(operation.ms)
        return world.later(Number.POSITIVE_INFINITY, () => program.ownClock.stepWall(-operation.ms))
      default:
        return operation satisfies never
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

const modeTexts = { kill: 'is killed', freeze: 'freezes', hang: 'hangs' } as const

/** @param write method and a part of the path */
function isWrite({ method, path }: WireRequest, write: string): boolean {
  const [verb, part = ''] = write.split(' ')
  return method === verb && path.includes(part)
}
