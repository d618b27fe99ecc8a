import { stripVTControlCharacters } from 'node:util'
import type { OutputStream } from '../command-io.ts'

/** Columns below which a terminal breaks lines better itself. */
const NARROWEST = 20

/** How far what follows is indented, in columns beyond the line that it belongs to. */
const HANGING = 2

/** Writes a text of one or several lines: on a terminal broken between words, what follows indented; elsewhere as it is. */
export function sayLines(stream: Pick<OutputStream, 'write' | 'isTTY' | 'columns'>, text: string): void {
  stream.write(`${stream.isTTY === true ? hanging(text, stream.columns ?? 80) : text}\n`)
}

/**
 * Breaks each line of a text between two words. A word that is wider than the terminal stands on a line of its own, uncut: names and
 * addresses are copied.
 *
 * @param width columns; colours take none
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
  const lead = /^ */.exec(line)?.[0].length ?? 0
  const indent = ' '.repeat(Math.min(lead + HANGING, NARROWEST / 2))
  const rows: string[] = []
  for (const word of line.match(/\s*\S+/g) ?? []) {
    const last = rows.at(-1)
    if (last === undefined) rows.push(word)
    else if (columnsOf(last) + columnsOf(word) <= width) rows[rows.length - 1] = last + word
    else rows.push(`${indent}${word.trimStart()}`)
  }
  return rows.join('\n')
}

function columnsOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length
}
