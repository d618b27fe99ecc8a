import { stripVTControlCharacters } from 'node:util'
import type { OutputStream } from '../command-io.ts'

/** A block of lines at the bottom of a terminal, redrawn in place, with ordinary text above it. */
export interface LiveScreen {
  /** Replaces the block; writes only the lines that differ. */
  draw(lines: readonly string[]): void
  /** Writes whole lines above the block. */
  print(text: string): void
  /** Leaves the block as it stands and gives the terminal back. Later calls do nothing. */
  close(): void
}

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_TO_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
/** The terminal shows nothing of a frame before its end; terminals that do not know these ignore them. */
const BEGIN_FRAME = '\u001b[?2026h'
const END_FRAME = '\u001b[?2026l'

/** @param stream a terminal */
export function createLiveScreen(stream: OutputStream): LiveScreen {
  let shown: readonly string[] = []
  let closed = false
  const onResize = (): void => {
    if (closed || shown.length === 0) return
    const lines = shown
    stream.write(`${erase()}`)
    shown = []
    write(lines)
  }
  stream.on?.('resize', onResize)
  stream.write(HIDE_CURSOR)

  return {
    draw: (lines) => void (closed || write(lines)),
    print(text) {
      if (closed) return
      const lines = shown
      stream.write(`${BEGIN_FRAME}${erase()}${text}\n`)
      shown = []
      write(lines)
      stream.write(END_FRAME)
    },
    close() {
      if (closed) return
      closed = true
      stream.off?.('resize', onResize)
      stream.write(SHOW_CURSOR)
    },
  }

  /** The cursor always stands at the start of the line below the block. */
  function write(lines: readonly string[]): void {
    const up = shown.length > 0 ? `\u001b[${shown.length}A` : ''
    const body = lines.map((line, index) => (line === shown[index] ? '\n' : `${line}${CLEAR_TO_LINE_END}\n`)).join('')
    if (lines.length === shown.length && lines.every((line, index) => line === shown[index])) return
    stream.write(`${BEGIN_FRAME}${up}${body}${lines.length < shown.length ? CLEAR_BELOW : ''}${END_FRAME}`)
    shown = lines
  }

  /** A terminal that became narrower has wrapped the lines: the block is higher than it was drawn. */
  function erase(): string {
    const columns = Math.max(1, stream.columns ?? 80)
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(Array.from(stripVTControlCharacters(line)).length / columns)), 0)
    return rows > 0 ? `\u001b[${rows}A\r${CLEAR_BELOW}` : ''
  }
}
