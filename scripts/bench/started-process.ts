/** Processes that a bench starts and ends. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { until, within } from './until.ts'

/** A process as messages name it, the file that it writes once it is ready, and how often that is looked for. */
export interface Readiness {
  /** `tranche sim` */
  readonly name: string
  /** Of `--ready-file`. */
  readonly readyFile: string
  /** In milliseconds. @default 20 */
  readonly everyMs?: number
}

const READY_SECONDS = 60
/** A program that is told to end finishes what is under way; one that takes longer is killed. */
const END_SECONDS = 20

/**
 * Waits until a process is ready.
 *
 * @returns what it has written into the file, as JSON
 * @throws where it ends before, or takes longer than a minute
 */
export async function untilReady(child: ChildProcess, { name, readyFile, everyMs = 20 }: Readiness): Promise<unknown> {
  const look = (): true | string => {
    if (hasEnded(child)) throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode} before it was ready`)
    return existsSync(readyFile) || `there is no ${readyFile}`
  }
  await until(`${name} to be ready`, look, { withinSeconds: READY_SECONDS, everyMs })
  return JSON.parse(readFileSync(readyFile, 'utf8'))
}

/** Asks a process to end, waits until it has, and kills it where it does not. */
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
