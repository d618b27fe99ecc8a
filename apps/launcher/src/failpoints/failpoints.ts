import { writeSync } from 'node:fs'
import type { CommandIo } from '@tranche/cli'
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

const everyPort = { ...controllerFailpointPorts, ...executorFailpointPorts }

/** Ports with failpoints, by command. */
const portsOf = { controller: controllerFailpointPorts, executor: executorFailpointPorts, 'all-in-one': everyPort, dev: everyPort } as const

/** Duration of a hanging call, in milliseconds. */
const HANGING_MS = 3_600_000

/**
 * @returns the failpoints of a command; none without `TRANCHE_FAILPOINT`
 * @throws {AppError} OPTION_INVALID if the variable names no failpoint of the command
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
  freeze: 'the process freezes until SIGCONT',
  hang: 'this call hangs for an hour',
}

/** Prints to file descriptor 2 first, unbuffered: nothing can be printed afterwards. */
function trigger({ point, nth, mode }: ArmedFailpoint, clock: Clock): Promise<void> | void {
  writeSync(2, `${FAILPOINT_VARIABLE}: ${point}#${nth} reached in process ${process.pid}: ${consequences[mode]}\n`)
  if (mode === 'hang') return sleep(clock, HANGING_MS)
  process.kill(process.pid, mode === 'kill' ? 'SIGKILL' : 'SIGSTOP')
  return undefined
}

/** @returns every failpoint with its commands, one per line */
export function failpointsText(): string {
  const commandsOf = (point: string): string =>
    Object.entries(portsOf)
      .flatMap(([command, ports]) => (listFailpoints(ports).has(point) ? command : []))
      .join(', ')
  const points = [...listFailpoints(everyPort).keys()]
  const width = Math.max(...points.map((point) => point.length))
  return points.map((point) => `${point.padEnd(width)}  ${commandsOf(point)}\n`).join('')
}
