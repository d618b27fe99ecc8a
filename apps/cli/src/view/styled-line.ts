import { createColors } from 'picocolors'
import sliceAnsi from 'slice-ansi'
import stringWidth from 'string-width'
import { printable } from './printable.ts'

/** Colour or weight that is readable on dark and light backgrounds: never white or black. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan'

/** A piece of a line: plain, or with a style. */
export type StyledSpan = string | readonly [Style, string]

/** Turns lines of spans into text for a terminal. */
export interface LinePainter {
  /** @returns the line, cut with `…` at the terminal width, without control characters from its text */
  line(...spans: readonly StyledSpan[]): string
}

/** @param width columns (≥ 1) */
export function createLinePainter(width: number, colors: boolean): LinePainter {
  const paint = createColors(colors)
  return {
    line: (...spans) =>
      fit(spans.map(toStyled), width)
        .map(({ style, text }) => (style === null ? text : paint[style](text)))
        .join(''),
  }
}

/** ASCII, and the lines, blocks and signs that the reports draw with. None of them is wide, an emoji, or joined with its neighbour. */
const NARROW = /^[\u0020-\u007e\u00b7\u00d7\u2013\u2014\u2026\u2190-\u2193\u2264\u2265\u2500-\u259f]*$/

/** Number of terminal columns. The first text with another character costs as much time as a request: its emoji tables are built then. */
function columns(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text)
}

/** @returns number of terminal columns of the printable text: 2 for a wide character or an emoji, 0 for a combining mark */
export function displayWidth(text: string): number {
  return columns(printable(text))
}

/** @returns the printable text in at most `width` columns, the cut marked by `…` */
export function shorten(text: string, width: number): string {
  const shown = printable(text)
  return columns(shown) <= width ? shown : `${sliceAnsi(shown, 0, Math.max(0, width - 1))}…`
}

/** @returns the printable text, filled with spaces to at least `width` columns */
export function padToWidth(text: string, width: number): string {
  const shown = printable(text)
  return shown + ' '.repeat(Math.max(0, width - columns(shown)))
}

interface Styled {
  readonly style: Style | null
  readonly text: string
}

function toStyled(span: StyledSpan): Styled {
  return typeof span === 'string' ? { style: null, text: printable(span) } : { style: span[0], text: printable(span[1]) }
}

function fit(spans: readonly Styled[], width: number): Styled[] {
  const fitted: Styled[] = []
  let left = width
  for (const [index, { style, text }] of spans.entries()) {
    const length = columns(text)
    const more = spans.slice(index + 1).some((later) => later.text !== '')
    if (length > left || (length === left && more)) {
      fitted.push({ style, text: shorten(`${text}${more ? ' ' : ''}`, left) })
      break
    }
    fitted.push({ style, text })
    left -= length
  }
  return fitted
}
