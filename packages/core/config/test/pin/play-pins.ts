import { type PinWorld, type State, type Step, templateOf } from './pin-world.ts'

/** One operation: what happens, to whom, and a number that it draws from. */
export type Operation = readonly [what: number, pick: number, value: number]

/** Number of operations that {@link playOperation} knows. */
export const OPERATIONS = 24

const parts: readonly (keyof State)[] = ['daemonSet', 'sources', 'copies', 'revisions', 'pods']
/** Objects that the templates read. */
export const keys = ['ConfigMap/a', 'Secret/s'] as const
const reads = [['ConfigMap/a'], ['ConfigMap/a', 'Secret/s']] as const

/** Writes that processes have not finished, by process. */
export type Frozen = (Step | null)[]

/** Plays one operation. A process has at most one write on its way, and may be frozen in it for any time. */
export function playOperation(world: PinWorld, frozen: Frozen, [what, pick, value]: Operation): void {
  const process = pick % 2
  if (what < 3) world.setSource(keys[pick % 5 === 0 ? 1 : 0], value % 13 === 12 ? null : value % 2)
  else if (what === 3) world.apply(({ metadata }) => templateOf(reads[value % 2] ?? [], value % 3, metadata.annotations), value % 7 === 0)
  else if (what === 4) world.undo(value)
  else if (what === 5) world.see()
  else if (what === 6) world.sync()
  else if (what < 10) runNative(world, value)
  else if (what < 13) runProcess(world, frozen, { process, steps: value % 5, refreshed: parts.filter((_part, at) => value % 6 !== at) })
  else if (what < 15) runProcess(world, frozen, { process, steps: value % 5, refreshed: [] })
  else if (what < 18) runProcess(world, frozen, { process, steps: value % 5, refreshed: parts })
  else for (let cycle = 0; cycle < 1 + (value % 8); cycle++) runProcess(world, frozen, { process, steps: 9, refreshed: parts })
}

function runNative(world: PinWorld, value: number): void {
  world.see()
  world.sync()
  for (let at = 0; at <= value % 3; at++) world.replacePod(at)
  world.sync()
}

interface Run {
  readonly process: number
  /** Steps that it takes before it is frozen. */
  readonly steps: number
  /** Watches that catch up before it decides. */
  readonly refreshed: readonly (keyof State)[]
}

function runProcess(world: PinWorld, frozen: Frozen, { process, steps, refreshed }: Run): void {
  if (frozen[process] === null || frozen[process] === undefined) {
    for (const part of refreshed) world.refresh(process, part)
    frozen[process] = world.decide(process)
  }
  for (let step = 0; step < steps; step++) frozen[process] = frozen[process]?.() ?? null
}

/**
 * Lets everything run until nothing changes any more.
 *
 * @throws {Error} when that takes too long
 */
export function quiesce(world: PinWorld, frozen: Frozen): void {
  let before = ''
  for (let round = 0; round < 200; round++) {
    for (const process of [0, 1]) runProcess(world, frozen, { process, steps: 9, refreshed: parts })
    runNative(world, 2)
    const { version: _moves, ...daemonSet } = world.state.daemonSet
    const now = JSON.stringify([daemonSet, [...world.state.copies], world.state.revisions])
    if (now === before && round > 10) return
    before = now
  }
  throw new Error('it does not come to rest')
}
