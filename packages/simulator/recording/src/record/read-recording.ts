import type { RecordedDelivery, Recording } from './recorded-delivery.ts'
import type { RecordedWrite } from './recorded-write.ts'

/**
 * Reads the writes of a recording, one JSON object per line. Skips empty lines, and a last line that a killed process left truncated.
 *
 * @throws {Error} with the line number (from 1) when any other line is neither a recorded write nor a delivery
 */
export function readRecording(lines: Iterable<string>): readonly RecordedWrite[] {
  return readWithDeliveries(lines).writes
}

/** Reads a recording with its deliveries to watches. Skips and throws like {@link readRecording}. */
export function readWithDeliveries(lines: Iterable<string>): Recording {
  const writes: RecordedWrite[] = []
  const deliveries: RecordedDelivery[] = []
  let broken: { readonly line: number } | null = null
  let line = 0
  for (const text of lines) {
    line++
    if (text.trim() === '') continue
    if (broken !== null) throw new Error(`line ${broken.line} of the recording is not a recorded write`)
    const entry = readLine(text)
    if (isDelivery(entry)) deliveries.push(entry)
    else if (isRecordedWrite(entry)) writes.push(entry)
    else broken = { line }
  }
  return { writes, deliveries }
}

function readLine(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

function isDelivery(value: unknown): value is RecordedDelivery {
  if (typeof value !== 'object' || value === null) return false
  const { t, to, of, rv } = value as Partial<Record<keyof RecordedDelivery, unknown>>
  return typeof t === 'number' && typeof to === 'string' && typeof of === 'string' && typeof rv === 'number'
}

function isRecordedWrite(value: unknown): value is RecordedWrite {
  if (typeof value !== 'object' || value === null) return false
  const { t, type, kind, o } = value as Partial<Record<keyof RecordedWrite, unknown>>
  return typeof t === 'number' && typeof type === 'string' && typeof kind === 'string' && typeof o === 'object' && o !== null
}
