import { asciiGlyphs, type Glyphs, unicodeGlyphs } from '../glyphs.ts'
import { createLinePainter, type StyledSpan } from '../styled-line.ts'

/** Settings of text output. */
export interface DrawingOptions {
  /** Maximum width of lines in columns; Infinity for files and pipes. */
  readonly width: number
  readonly colors: boolean
  readonly unicode: boolean
  /** Current time for ages, epoch milliseconds. */
  readonly nowMs: number
}

/** Draws lines within a width, with the colours and signs that the terminal supports. */
export interface Drawing extends DrawingOptions {
  readonly glyphs: Glyphs
  readonly tree: TreeSigns
  /** @returns the line in at most `width` columns, without control characters from its text */
  line(...spans: readonly StyledSpan[]): string
}

/** Signs before a branch and its children; each three columns wide. */
export interface TreeSigns {
  readonly fork: string
  readonly last: string
  readonly through: string
  readonly none: string
}

const unicodeTree: TreeSigns = { fork: '├─ ', last: '└─ ', through: '│  ', none: '   ' }
const asciiTree: TreeSigns = { fork: '|- ', last: '`- ', through: '|  ', none: '   ' }

/** @param options `width` ≥ 1 */
export function createDrawing(options: DrawingOptions): Drawing {
  const painter = createLinePainter(options.width, options.colors)
  const spell = options.unicode ? (text: string): string => text : inAscii
  return {
    ...options,
    glyphs: options.unicode ? unicodeGlyphs : asciiGlyphs,
    tree: options.unicode ? unicodeTree : asciiTree,
    line: (...spans) => spell(painter.line(...spans)).trimEnd(),
  }
}

/** Replaces Unicode signs by ASCII signs of the same width. */
function inAscii(text: string): string {
  return text.replaceAll('…', '~').replaceAll('→', '>').replaceAll('·', '-')
}
