import { asciiGlyphs, type Glyphs, unicodeGlyphs } from '../glyphs.ts'
import { createLinePainter, type Span } from '../styled-line.ts'

/** How text for a person is drawn: how wide, with what, and when it is. */
export interface DrawingOptions {
  /** Columns; no line is wider. Infinity where nobody cuts lines: files and pipes. */
  readonly width: number
  readonly colors: boolean
  readonly unicode: boolean
  /** Epoch milliseconds; ages count from here. */
  readonly nowMs: number
}

/** Draws lines of one width, with colours or without, in signs that the terminal has. */
export interface Drawing extends DrawingOptions {
  readonly glyphs: Glyphs
  readonly tree: TreeSigns
  /** @returns the line in at most `width` columns; nothing in it can steer the terminal */
  line(...spans: readonly Span[]): string
}

/** The signs before a branch and before what hangs below it; all three columns wide. */
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

/** Each sign as wide as what it stands for, but the arrow, which is drawn before lines are cut. */
function inAscii(text: string): string {
  return text.replaceAll('…', '~').replaceAll('→', '>').replaceAll('·', '-')
}
