import type { LogFields, Logger } from '@tranche/telemetry'
import { type Logger as PinoLogger, type LoggerOptions, pino } from 'pino'
import { cannotWrite, openPrivately, type ReportUnwritable } from '../files/output-file.ts'
import type { LogLevel } from '../options/process-options.ts'

/** A logger with a file to close. */
export interface ClosableLogger {
  readonly log: Logger
  /** Flushes and closes the file. */
  close(): void
}

/**
 * Logs JSON lines to the standard error of this process.
 *
 * @param fields fields of each line; a child logger may override them
 * @param traceId returns the trace id of the active span
 */
export function createStderrLogger(level: LogLevel, fields: LogFields, traceId?: () => string | undefined): Logger {
  const destination = pino.destination({ fd: 2, sync: true })
  return wrap(
    pino({ level, base: {}, formatters, hooks, timestamp: pino.stdTimeFunctions.isoTime, ...mixing(traceId) }, destination),
    fields,
  )
}

function mixing(traceId: (() => string | undefined) | undefined): Pick<LoggerOptions, 'mixin'> {
  if (traceId === undefined) return {}
  return {
    mixin() {
      const id = traceId()
      if (id === undefined) return {}
      const fields = { traceId: id }
      return fields
    },
  }
}

/** Settings of a file logger. */
export interface FileLoggerOptions {
  readonly path: string
  /** Time of each line: the clock of the cluster, which may differ from the system clock. Epoch milliseconds. */
  readonly nowMs: () => number
  readonly report: ReportUnwritable
}

/**
 * Logs JSON lines to a file, from level `debug`. Lines that cannot be written are dropped.
 *
 * @throws {AppError} FILE_UNWRITABLE if it cannot be opened
 */
export function createFileLogger({ path, nowMs, report }: FileLoggerOptions): ClosableLogger {
  try {
    const destination = pino.destination({ fd: openPrivately(path), sync: true })
    let broken = false
    destination.on('error', (error) => {
      if (!broken) report(cannotWrite(path, error))
      broken = true
    })
    const timestamp = (): string => `,"time":"${new Date(nowMs()).toISOString()}"`
    return { log: wrap(pino({ level: 'debug', base: {}, formatters, hooks, timestamp }, destination)), close: () => destination.end() }
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

/** Writes levels as words, which log collectors show unchanged. */
const formatters = { level: (label: string) => ({ level: label }) }

/** Characters that JSON does not escape but terminals interpret: C1, bidi and Unicode line breaks. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes these characters, which come from the cluster. They occur only in JSON strings, where escapes are equivalent. */
const hooks: NonNullable<LoggerOptions['hooks']> = {
  streamWrite: (line) => line.replace(STEERING, (one) => one.split('').map(escaped).join('')),
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Removes duplicate fields: the value of a child logger replaces that of its parent. */
function wrap(logger: PinoLogger, bound: LogFields = {}): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...bound, ...fields }, message),
    info: (fields, message) => logger.info({ ...bound, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...bound, ...fields }, message),
    error: (fields, message) => logger.error({ ...bound, ...fields }, message),
    child: (fields: LogFields) => wrap(logger, { ...bound, ...fields }),
  }
}
