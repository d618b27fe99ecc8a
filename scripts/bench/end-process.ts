/** Ends the processes that a benchmark started. */
import type { ChildProcess } from 'node:child_process'
import { within } from './until.ts'

/** Time limit for a process to end, in seconds. */
const END_SECONDS = 60

/**
 * Asks a process to end, and waits until it has. A process that has already ended, by itself or by a signal, returns at once.
 *
 * @param what name of the process, for the error
 * @throws if it has not ended within a minute
 */
export async function endProcess(child: ChildProcess, what: string): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // A process ended by a signal has no exit code.
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await within(`${what} to end`, ended, { withinSeconds: END_SECONDS })
}
