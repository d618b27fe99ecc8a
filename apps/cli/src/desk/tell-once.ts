import type { OutputStream } from '../command-io.ts'
import { errorLine } from './error-line.ts'

/** @returns takes what is wrong, and null when nothing is any more; writes each fault as one line, and once as long as it lasts */
export function tellOnce(stream: Pick<OutputStream, 'write'>): (error: unknown) => void {
  let told = ''
  return (error) => {
    const line = error === null ? '' : errorLine(error)
    if (line !== told && line !== '') stream.write(`${line}\n`)
    told = line
  }
}
