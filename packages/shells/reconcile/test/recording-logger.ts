import type { LogFields, Logger } from '@tranche/telemetry'

/** One line as a logger got it, with the fields of its parents. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** @returns a logger that appends to `lines` */
export function recordingLogger(lines: LogLine[], bound: LogFields = {}): Logger {
  const write = (level: LogLine['level']) => (fields: LogFields, message: string) =>
    void lines.push({ level, message, fields: { ...bound, ...fields } })
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  }
}
