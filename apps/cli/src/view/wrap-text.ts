import wrapAnsi from 'wrap-ansi'
import { printable } from './printable.ts'
import { displayWidth } from './styled-line.ts'

/** Wraps the printable text at spaces into lines of at most `width` columns; a wider word gets its own line. */
export function wrapText(text: string, width: number): readonly string[] {
  const words = printable(text).trim().replace(/\s+/g, ' ')
  if (words === '') return []
  // Most texts fit, and need no library.
  return displayWidth(words) <= width ? [words] : wrapAnsi(words, width).split('\n')
}
