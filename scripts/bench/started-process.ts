/** Processes that a benchmark starts and ends. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { until, within } from './until.ts'

/** Name of a process in messages, its ready file, and the interval of checks for that file. */
export interface Readiness {
  /** `tranche sim` */
  readonly name: string
  /** Path of `--ready-file`. */
  readonly readyFile: string
  /** Interval of checks, in milliseconds. @default 20 */
  readonly everyMs?: number
}

const READY_SECONDS = 60
/** Time for a program to finish its work before it is killed. */
const END_SECONDS = 20

/**
 * Waits until a process is ready.
 *
 * @returns the JSON that it wrote to its ready file
 * @throws if it ends before, or takes longer than a minute
 */
export async function untilReady(child: ChildProcess, { name, readyFile, everyMs = 20 }: Readiness): Promise<unknown> {
  const look = (): true | string => {
    if (hasEnded(child)) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode} before it was ready`)
    return existsSync(readyFile) || `there is no ${readyFile}`
  }
  await until(`${name} to be ready`, look, { withinSeconds: READY_SECONDS, everyMs })
  return JSON.parse(readFileSync(readyFile, 'utf8'))
}

/** Asks a process to end and waits; kills it if it does not end in time. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGINT')
  await within('it to end', ended, { withinSeconds: END_SECONDS }).catch(() => child.kill('SIGKILL'))
  await ended
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
