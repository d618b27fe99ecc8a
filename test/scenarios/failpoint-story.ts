import { controllerFailpointPorts } from '@tranche/controller'
import { listFailpoints } from '@tranche/failpoints'
import { executorFailpointPorts } from '@tranche/executor'
import { sleep } from '@tranche/clock'
import { type Passing, setStage, type Stage, type StageOptions } from './stage.ts'

/** Every failpoint of controller and executor, and how its call ends. */
export const failpoints = listFailpoints({ ...controllerFailpointPorts, ...executorFailpointPorts })

/**
 * Fault of the process that passes the failpoint. `kill`: it ends. `freeze`: it stops until its Lease has expired, then returns beside its
 * successor. `hang`: this one call takes longer than a whole pass may, and everything else continues.
 */
export type FailpointMode = 'kill' | 'freeze' | 'hang'

/** Time until a replacement of a failed process starts, in milliseconds. */
const RESTART_MS = 50
const FROZEN_MS = 40_000
const HANGING_MS = 70_000
/** Time for which a thawed process still runs, in milliseconds. */
const BACK_MS = 5_000

/** A story to play: the stage that it needs, and the operations on it. */
export interface Story {
  readonly setting: StageOptions
  play(stage: Stage): Promise<void>
}

/**
 * Plays the story. A program that passes a failpoint in `points` gets the fault there, and the failpoint is removed from `points`. The next
 * fault waits until a replacement of the last process has started.
 */
export async function playStory({ setting, play }: Story, points: Set<string>, mode: FailpointMode): Promise<Stage> {
  let wellFromMs = 0
  const trigger = ({ stage, identity, point, process }: Passing): Promise<void> | void => {
    const nowMs = stage.clock.monotonicMs()
    if (nowMs < wellFromMs || !points.delete(point)) return undefined
    wellFromMs = nowMs + RESTART_MS
    if (mode === 'hang') return sleep(process.clock, HANGING_MS)
    process.freeze()
    stage.clock.setTimer(RESTART_MS, () => void startAnother(stage, identity))
    if (mode === 'freeze') comeBack(stage, identity)
    else stage.clock.setTimer(RESTART_MS, () => endFor(stage, identity))
    return undefined
  }
  const stage = await setStage({ ...setting, controllers: ['controller-1', 'controller-2'], onPoint: trigger })
  await play(stage)
  await stage.pass(mode === 'kill' ? RESTART_MS : mode === 'freeze' ? FROZEN_MS + BACK_MS : HANGING_MS)
  return stage
}

async function startAnother(stage: Stage, identity: string): Promise<void> {
  const [role = '', number = '1'] = identity.split('-')
  const next = `${role}-${Number(number) + (role === 'controller' ? 2 : 1)}`
  if (role === 'controller') await stage.startController(next)
  else await stage.startExecutor(next)
}

/** Thaws the process, which continues with its old state; later it ends. */
function comeBack(stage: Stage, identity: string): void {
  stage.clock.setTimer(FROZEN_MS, () => stage.program(identity).process.thaw())
  stage.clock.setTimer(FROZEN_MS + BACK_MS, () => endFor(stage, identity))
}

/** Closes the connections of a dead process, as the operating system does. */
function endFor(stage: Stage, identity: string): void {
  const program = stage.program(identity)
  program.kill()
  program.process.cutOff()
}
