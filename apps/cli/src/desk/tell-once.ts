import type { OutputStream } from '../command-io.ts'
import { sayLines } from '../output/say-lines.ts'
import { errorLine } from './error-line.ts'

/** @returns takes what is wrong, and null when nothing is any more; writes each fault as one sentence, and once as long as it lasts */
export function tellOnce(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>): (error: unknown) => void {
  let told = ''
  return (error) => {
    const line = error === null ? '' : errorLine(error)
    if (line !== told && line !== '') sayLines(stream, line)
    told = line
  }
}
