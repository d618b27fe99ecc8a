import { controllerFailpointPorts } from '@tranche/controller'
import { listFailpoints } from '@tranche/failpoints'
import { executorFailpointPorts } from '@tranche/executor'
import { sleep } from '@tranche/clock'
import { type Passing, setStage, type Stage, type StageOptions } from './stage.ts'

/** Every failpoint of controller and executor, with how its call ends. */
export const failpoints = listFailpoints({ ...controllerFailpointPorts, ...executorFailpointPorts })

/**
 * What happens to the process that passes the point. `kill`: it ends. `freeze`: it stands still past its Lease, then comes
 * back beside its successor. `hang`: this one call takes longer than a whole pass may, while everything else goes on.
 */
export type FailpointMode = 'kill' | 'freeze' | 'hang'

/** After how long somebody starts another in the place of a process that is gone. */
const RESTART_MS = 50
const FROZEN_MS = 40_000
const HANGING_MS = 70_000
/** How long one that was frozen is heard of again. */
const BACK_MS = 5_000

/** A story to play: the stage that it needs, and what happens on it. */
export interface Story {
  readonly setting: StageOptions
  play(stage: Stage): Promise<void>
}

/**
 * Plays the story. A program that passes a point of `points` is struck there, and the point is taken out of `points`; the
 * next blow does not fall before another has been started in the place of the last.
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

/** The process does what it was about to do, and whatever it still takes itself for; then it ends. */
function comeBack(stage: Stage, identity: string): void {
  stage.clock.setTimer(FROZEN_MS, () => stage.program(identity).process.thaw())
  stage.clock.setTimer(FROZEN_MS + BACK_MS, () => endFor(stage, identity))
}

/** The operating system closes what a dead process had open. */
function endFor(stage: Stage, identity: string): void {
  const program = stage.program(identity)
  program.kill()
  program.process.cutOff()
}
