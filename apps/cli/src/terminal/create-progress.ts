import type { CommandIo } from '../process/command-io.ts'

/** Progress line, cleared before the output. */
export interface ProgressLine {
  readonly say: (text: string) => void
  readonly clear: () => void
}

const START_OF_LINE = '\r\u001b[K'

/** A line that is overwritten in place on a terminal; no output elsewhere. */
export function createProgress({ err }: CommandIo): ProgressLine {
  if (err.isTTY !== true) return { say: () => {}, clear: () => {} }
  let shown = ''
  const show = (text: string): void => {
    if (text === shown) return
    shown = text
    err.write(`${START_OF_LINE}${text}`)
  }
  return { say: show, clear: () => show('') }
}
