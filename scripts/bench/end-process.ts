/** How a bench ends the processes that it has started. */
import type { ChildProcess } from 'node:child_process'
import { within } from './until.ts'

/** How long a process may take to end, in seconds. */
const END_SECONDS = 60

/**
 * Asks a process to end, and waits until it has. One that has ended already, by itself or by a signal, is not waited for.
 *
 * @param what the process, for the error
 * @throws where it has not ended within a minute
 */
export async function endProcess(child: ChildProcess, what: string): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // One that a signal has ended has no exit code.
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await within(`${what} to end`, ended, { withinSeconds: END_SECONDS })
}
