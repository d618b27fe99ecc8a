import type { RecordedWrite } from './recorded-write.ts'

/**
 * Reads a recording, one JSON object a line. Empty lines are left out, and so is a last line that was cut off in the
 * middle, as a killed process leaves it.
 *
 * @throws {Error} naming the line number (from 1) when any other line is not a recorded write
 */
export function readRecording(lines: Iterable<string>): readonly RecordedWrite[] {
  const writes: RecordedWrite[] = []
  let broken: { readonly line: number } | null = null
  let line = 0
  for (const text of lines) {
    line++
    if (text.trim() === '') continue
    if (broken !== null) throw new Error(`line ${broken.line} of the recording is not a recorded write`)
    const write = readLine(text)
    if (write === null) broken = { line }
    else writes.push(write)
  }
  return writes
}

function readLine(text: string): RecordedWrite | null {
  try {
    const value = JSON.parse(text) as unknown
    return isRecordedWrite(value) ? value : null
  } catch {
    return null
  }
}

function isRecordedWrite(value: unknown): value is RecordedWrite {
  if (typeof value !== 'object' || value === null) return false
  const { t, type, kind, o } = value as Partial<Record<keyof RecordedWrite, unknown>>
  return typeof t === 'number' && typeof type === 'string' && typeof kind === 'string' && typeof o === 'object' && o !== null
}
