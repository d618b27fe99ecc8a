import type { OutputStream } from '../command-io.ts'
import { sayLines } from '../output/say-lines.ts'
import { errorLine } from './error-line.ts'

/**
 * @returns takes what is wrong, and null when nothing is any more, with the moment (epoch) of which the last that was shown is; writes each
 *   fault once as long as it lasts
 */
export function tellOnce(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>): (error: unknown, asOfMs?: number) => void {
  let told = ''
  return (error, asOfMs) => {
    const since = asOfMs === undefined ? '' : ` Nothing newer than ${new Date(asOfMs).toISOString()} is known until this has passed.`
    const line = error === null ? '' : `${errorLine(error)}${since}`
    if (line !== told && line !== '') sayLines(stream, line)
    told = line
  }
}
