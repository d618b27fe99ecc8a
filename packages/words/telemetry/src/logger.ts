/** Values of log fields, with the names of docs/operations/logs.md; never whole objects from the cluster. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Sink of log lines. The message is constant text in the past tense ("planned batch"); values are fields.
 *
 * `info`: a decision or a change, at most once per pass. `debug`: the reasoning behind it. `warn`: degraded, will be retried.
 * `error`: needs attention by an operator; logged once, where it is caught.
 */
export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** @returns a logger that adds `fields` to every line */
  child(fields: LogFields): Logger
}

/** Logger that discards every line. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}
