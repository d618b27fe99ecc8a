import type { LogFields, Logger } from '@tranche/log'
import { type Logger as PinoLogger, type LoggerOptions, pino } from 'pino'
import { cannotWrite, openPrivately, type ReportUnwritable } from './dev/output-file.ts'
import type { LogLevel } from './command-options.ts'

/** A logger that can be closed. */
export interface ClosableLogger {
  readonly log: Logger
  /** Writes what is still held. */
  close(): void
}

/**
 * Logs JSON lines to the standard error of this process.
 *
 * @param fields of each line, unless a child logger has others of these names
 * @param traceId of the span that is active when a line is written
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

/** Where to log, and how. */
export interface FileLoggerOptions {
  readonly path: string
  /** Stamps the lines: the clock of the cluster, which need not be that of this machine. Epoch milliseconds. */
  readonly nowMs: () => number
  readonly report: ReportUnwritable
}

/**
 * Logs JSON lines to a file, everything from `debug` on. Later lines that cannot be written are dropped.
 *
 * @throws {AppError} FILE_UNWRITABLE when it cannot be opened
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

/** Levels as words: what collects logs shows them as they are. */
const formatters = { level: (label: string) => ({ level: label }) }

/** What JSON leaves as it is and steers a terminal that shows the log: C1 and bidi characters, foreign line breaks. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Names and messages in fields come from the cluster. All of these characters stand inside JSON texts, where their escapes mean the same. */
const hooks: NonNullable<LoggerOptions['hooks']> = {
  streamWrite: (line) => line.replace(STEERING, (one) => one.split('').map(escaped).join('')),
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Each field is in a line once: the latest value of a name replaces the one of the parent. */
function wrap(logger: PinoLogger, bound: LogFields = {}): Logger {
  return {
    debug: (fields, message) => logger.debug({ ...bound, ...fields }, message),
    info: (fields, message) => logger.info({ ...bound, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...bound, ...fields }, message),
    error: (fields, message) => logger.error({ ...bound, ...fields }, message),
    child: (fields: LogFields) => wrap(logger, { ...bound, ...fields }),
  }
}
