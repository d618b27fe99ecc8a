/** Values of log fields, named as docs/glossary.md and the table of field names say; never whole objects from the cluster. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Where log lines go. The message is constant text in the past tense ("planned batch"); values are fields.
 *
 * `info`: a decision or a change, at most once per pass. `debug`: how it was reached. `warn`: degraded, will be retried.
 * `error`: somebody must look; logged once, where it is caught.
 */
export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger
}

/** Writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}
