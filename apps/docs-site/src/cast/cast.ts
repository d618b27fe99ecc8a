/** Text that a program printed at once. */
export interface CastFrame {
  /** Seconds since the start of the recording. */
  readonly seconds: number
  readonly text: string
}

/** A recording of a terminal, as asciinema stores it (version 2). */
export interface Cast {
  readonly title: string
  readonly columns: number
  readonly rows: number
  readonly frames: readonly CastFrame[]
}

/** @returns the recording of a program that prints whole lines. `lines` have the seconds at which they appeared */
export function castOf(title: string, lines: readonly CastFrame[]): Cast {
  const columns = Math.max(80, ...lines.map(({ text }) => text.length))
  return { title, columns, rows: 24, frames: lines.map(({ seconds, text }) => ({ seconds, text: `${text}\r\n` })) }
}

/** @returns the file: a header, then one frame a line */
export function writeCast({ title, columns, rows, frames }: Cast): string {
  const header = { version: 2, width: columns, height: rows, title }
  const events = frames.map(({ seconds, text }) => [Number(seconds.toFixed(3)), 'o', text])
  return `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`
}

/** @throws {Error} for another version or format. Input and markers of a recording are left out */
export function readCast(text: string): Cast {
  const [header, ...events] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
  if (!isHeader(header)) throw new Error('not a recording of asciinema in version 2: the first line is no header with "version": 2')
  const frames = events.filter(isOutput).map(([seconds, , output]) => ({ seconds, text: output }))
  return { title: header.title ?? '', columns: header.width, rows: header.height, frames }
}

/** @returns whether a link leads to a recording */
export function isCast(href: string): boolean {
  return href.endsWith('.cast')
}

interface Header {
  readonly version: 2
  readonly width: number
  readonly height: number
  readonly title?: string
}

function isHeader(value: unknown): value is Header {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 2 && 'width' in value && 'height' in value
}

function isOutput(value: unknown): value is readonly [number, 'o', string] {
  return Array.isArray(value) && typeof value[0] === 'number' && value[1] === 'o' && typeof value[2] === 'string'
}
