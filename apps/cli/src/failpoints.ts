import { writeSync } from 'node:fs'
import { type Clock, sleep } from '@tranche/clock'
import { controllerFailpointPorts } from '@tranche/controller'
import {
  FAILPOINT_VARIABLE,
  type ArmedFailpoint,
  type FailpointMode,
  type Failpoints,
  createFailpoints,
  listFailpoints,
  noFailpoints,
  parseFailpoint,
} from '@tranche/failpoints'
import { executorFailpointPorts } from '@tranche/executor'
import type { CommandIo } from './command-io.ts'

const everyPort = { ...controllerFailpointPorts, ...executorFailpointPorts }

/** The ports of each command that has any. */
const portsOf = { controller: controllerFailpointPorts, executor: executorFailpointPorts, 'all-in-one': everyPort, dev: everyPort } as const

/** How long a call hangs, in milliseconds. */
const HANGING_MS = 3_600_000

/**
 * @returns the failpoints of a command; without `TRANCHE_FAILPOINT` there are none
 * @throws {AppError} OPTION_INVALID where the variable names no failpoint of the command
 */
export function failpointsOf(command: keyof typeof portsOf, env: CommandIo['env'], clock: Clock): Failpoints {
  const text = env[FAILPOINT_VARIABLE]
  if (text === undefined || text === '') return noFailpoints
  const at = parseFailpoint(text, listFailpoints(portsOf[command]))
  let passed = 0
  return createFailpoints((point) => (point === at.point && ++passed === at.nth ? trigger(at, clock) : undefined))
}

const consequences: Readonly<Record<FailpointMode, string>> = {
  kill: 'the process ends here',
  freeze: 'the process stands still until it is sent SIGCONT',
  hang: 'this call goes on in an hour',
}

/** Says so first, past every buffer: nothing can be said afterwards. */
function trigger({ point, nth, mode }: ArmedFailpoint, clock: Clock): Promise<void> | void {
  writeSync(2, `${FAILPOINT_VARIABLE}: ${point}#${nth} is reached in process ${process.pid}: ${consequences[mode]}\n`)
  if (mode === 'hang') return sleep(clock, HANGING_MS)
  process.kill(process.pid, mode === 'kill' ? 'SIGKILL' : 'SIGSTOP')
  return undefined
}

/** @returns every failpoint and the commands that have it, one a line */
export function failpointsText(): string {
  const commandsOf = (point: string): string =>
    Object.entries(portsOf)
      .flatMap(([command, ports]) => (listFailpoints(ports).has(point) ? command : []))
      .join(', ')
  const points = [...listFailpoints(everyPort).keys()]
  const width = Math.max(...points.map((point) => point.length))
  return points.map((point) => `${point.padEnd(width)}  ${commandsOf(point)}\n`).join('')
}
