/** Streams and environment of a command. Results go to `out`; progress, prompts and errors go to `err`. */
export interface CommandIo {
  /** Standard input; undefined reads as empty. */
  readonly in?: InputStream | undefined
  readonly out: OutputStream
  readonly err: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Standard input, from a terminal or a pipe. */
export type InputStream = AsyncIterable<Uint8Array | string> & {
  readonly isTTY?: boolean | undefined
  /** Ends the input, and every iteration over it. */
  destroy?(): unknown
}

/** A stream of text; a terminal has columns and rows. */
export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

/** @returns whether to write colours to `stream`: only to a terminal, and not with `NO_COLOR`, `TERM=dumb` or `--no-color` */
export function wantsColors(stream: OutputStream, env: CommandIo['env'], allowed: boolean): boolean {
  if (!allowed || (env['NO_COLOR'] ?? '') !== '') return false
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** @returns whether the locale uses UTF-8; true if no locale is set */
export function wantsUnicode(env: CommandIo['env']): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => (value ?? '') !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}
