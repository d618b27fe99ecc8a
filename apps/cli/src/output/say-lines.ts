import wrapAnsi from 'wrap-ansi'
import type { OutputStream } from '../process/command-io.ts'

/** Minimum width in columns for wrapping; narrower terminals wrap by themselves. */
const NARROWEST = 20

/** Additional indent of continuation lines, in columns. */
const HANGING = 2

/** Writes lines of text: wrapped between words on a terminal, with indented continuation lines; unchanged elsewhere. */
export function sayLines(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>, text: string): void {
  stream.write(`${stream.isTTY === true ? hanging(text, stream.columns ?? 80) : text}\n`)
}

/**
 * Wraps each line of a text between words. A word wider than the terminal gets its own line, uncut, so that names and addresses can be
 * copied.
 *
 * @param width columns; colour codes do not count
 */
export function hanging(text: string, width: number): string {
  return width < NARROWEST
    ? text
    : text
        .split('\n')
        .map((line) => brokenLine(line, width))
        .join('\n')
}

function brokenLine(line: string, width: number): string {
  const lead = /^ */.exec(line)?.[0] ?? ''
  const indent = ' '.repeat(Math.min(lead.length + HANGING, Math.floor(width / 2)))
  const [first = '', ...rest] = wrapAnsi(line.slice(lead.length), width - lead.length).split('\n')
  if (rest.length === 0) return lead + first
  return [
    lead + first,
    ...wrapAnsi(rest.join(' '), width - indent.length)
      .split('\n')
      .map((row) => indent + row),
  ].join('\n')
}
