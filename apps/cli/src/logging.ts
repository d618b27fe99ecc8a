import type { LogFields, Logger } from '@tranche/log'
import { type Logger as PinoLogger, pino } from 'pino'
import { cannotWrite } from './dev/output-file.ts'
import type { LogLevel } from './command-options.ts'

/** A logger that can be closed. */
export interface ClosableLogger {
  readonly log: Logger
  /** Writes what is still held. */
  close(): void
}

/** Logs JSON lines to the standard error of this process. */
export function createStderrLogger(level: LogLevel): Logger {
  return wrap(pino({ level, base: {}, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true })))
}

/**
 * Logs JSON lines to a file, everything from `debug` on.
 *
 * @param nowMs stamps the lines: the clock of the cluster, which need not be that of this machine
 * @throws {AppError} FILE_UNWRITABLE
 */
export function createFileLogger(path: string, nowMs: () => number): ClosableLogger {
  try {
    const destination = pino.destination({ dest: path, sync: true, append: false })
    const timestamp = (): string => `,"time":"${new Date(nowMs()).toISOString()}"`
    return { log: wrap(pino({ level: 'debug', base: {}, timestamp }, destination)), close: () => destination.end() }
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

function wrap(logger: PinoLogger): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields: LogFields) => wrap(logger.child(fields)),
  }
}
