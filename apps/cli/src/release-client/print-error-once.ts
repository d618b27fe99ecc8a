import type { OutputStream } from '../process/command-io.ts'
import { sayLines } from '../output/say-lines.ts'
import { errorLine } from './error-line.ts'

/**
 * Prints each error once while it persists.
 *
 * @returns function that takes the error, or null once it has passed, and the time at which the shown data were read, in epoch milliseconds
 */
export function printErrorOnce(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>): (error: unknown, readMs?: number) => void {
  let printed = ''
  return (error, readMs) => {
    const since = readMs === undefined ? '' : ` The data shown are from ${new Date(readMs).toISOString()}.`
    const line = error === null ? '' : `${errorLine(error)}${since}`
    if (line !== printed && line !== '') sayLines(stream, line)
    printed = line
  }
}
