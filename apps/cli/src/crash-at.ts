import { writeSync } from 'node:fs'
import { type Clock, sleep } from '@tranche/clock'
import { controllerCrashPorts } from '@tranche/controller'
import {
  CRASH_AT_VARIABLE,
  type CrashAt,
  type CrashMode,
  type CrashPoints,
  createCrashPoints,
  listCrashPoints,
  noCrashPoints,
  parseCrashAt,
} from '@tranche/crash-points'
import { executorCrashPorts } from '@tranche/executor'
import type { CommandIo } from './command-io.ts'

const everyPort = { ...controllerCrashPorts, ...executorCrashPorts }

/** The ports of each command that has any. */
const portsOf = { controller: controllerCrashPorts, executor: executorCrashPorts, 'all-in-one': everyPort, dev: everyPort } as const

/** How long a call hangs, in milliseconds. */
const HANGING_MS = 3_600_000

/**
 * @returns the crash points of a command; without `TRANCHE_CRASH_AT` there are none
 * @throws {AppError} OPTION_INVALID where the variable names no crash point of the command
 */
export function crashPointsOf(command: keyof typeof portsOf, env: CommandIo['env'], clock: Clock): CrashPoints {
  const text = env[CRASH_AT_VARIABLE]
  if (text === undefined || text === '') return noCrashPoints
  const at = parseCrashAt(text, listCrashPoints(portsOf[command]))
  let passed = 0
  return createCrashPoints((point) => (point === at.point && ++passed === at.nth ? crash(at, clock) : undefined))
}

const consequences: Readonly<Record<CrashMode, string>> = {
  kill: 'the process ends here',
  freeze: 'the process stands still until it is sent SIGCONT',
  hang: 'this call goes on in an hour',
}

/** Says so first, past every buffer: nothing can be said afterwards. */
function crash({ point, nth, mode }: CrashAt, clock: Clock): Promise<void> | void {
  writeSync(2, `${CRASH_AT_VARIABLE}: ${point}#${nth} is reached in process ${process.pid}: ${consequences[mode]}\n`)
  if (mode === 'hang') return sleep(clock, HANGING_MS)
  process.kill(process.pid, mode === 'kill' ? 'SIGKILL' : 'SIGSTOP')
  return undefined
}

/** @returns every crash point and the commands that have it, one a line */
export function crashPointsText(): string {
  const commandsOf = (point: string): string =>
    Object.entries(portsOf)
      .flatMap(([command, ports]) => (listCrashPoints(ports).has(point) ? command : []))
      .join(', ')
  const points = [...listCrashPoints(everyPort).keys()]
  const width = Math.max(...points.map((point) => point.length))
  return points.map((point) => `${point.padEnd(width)}  ${commandsOf(point)}\n`).join('')
}
