import type { OutputStream } from '../command-io.ts'
import { sayLines } from '../output/say-lines.ts'
import { errorLine } from './error-line.ts'

/**
 * Writes each fault once while it lasts.
 *
 * @returns function that takes the fault, or null once it has passed, and when the shown data were read, in epoch milliseconds
 */
export function printErrorOnce(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>): (error: unknown, readMs?: number) => void {
  let printed = ''
  return (error, readMs) => {
    const since = readMs === undefined ? '' : ` Nothing newer than ${new Date(readMs).toISOString()} is known until this has passed.`
    const line = error === null ? '' : `${errorLine(error)}${since}`
    if (line !== printed && line !== '') sayLines(stream, line)
    printed = line
  }
}
