import type { OutputStream } from '../process/command-io.ts'

/** A block of lines at the bottom of a terminal, redrawn in place, with ordinary text above it. */
export interface LiveScreen {
  /** Replaces the block by the lines of `render`, and again after each resize; writes only changed lines. */
  draw(render: () => readonly string[]): void
  /** Writes whole lines above the block. */
  print(text: string): void
  /** Keeps the block and restores the cursor. Later calls do nothing. */
  close(): void
}

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_TO_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_ALL = '\u001b[2J\u001b[H'
/** Synchronized output: the terminal shows a frame at once; terminals without support ignore it. */
const BEGIN_FRAME = '\u001b[?2026h'
const END_FRAME = '\u001b[?2026l'
/** Maximum number of printed lines that are rewritten after a resize. */
const REMEMBERED_LINES = 50

/** @param stream a terminal; drawn lines must fit its width */
export function createLiveScreen(stream: OutputStream): LiveScreen {
  let render: () => readonly string[] = () => []
  let shown: readonly string[] = []
  let printed: readonly string[] = []
  let closed = false
  stream.on?.('resize', onResize)
  stream.write(HIDE_CURSOR)

  return {
    draw(next) {
      render = next
      if (!closed) redraw()
    },
    print(text) {
      if (closed) return
      printed = [...printed, ...text.split('\n')].slice(-REMEMBERED_LINES)
      const erase = shown.length > 0 ? `\u001b[${shown.length}A${CLEAR_BELOW}` : ''
      stream.write(`${BEGIN_FRAME}${erase}${text}\n${shown.map((line) => `${line}\n`).join('')}${END_FRAME}`)
    },
    close() {
      if (closed) return
      closed = true
      stream.off?.('resize', onResize)
      stream.write(SHOW_CURSOR)
    },
  }

  /** Redraws from the start of the line below the block, where the cursor always is. */
  function redraw(): void {
    const lines = render()
    if (lines.length === shown.length && lines.every((line, index) => line === shown[index])) return
    const up = shown.length > 0 ? `\u001b[${shown.length}A` : ''
    const body = lines.map((line, index) => (line === shown[index] ? '\n' : `${line}${CLEAR_TO_LINE_END}\n`)).join('')
    stream.write(`${BEGIN_FRAME}${up}${body}${lines.length < shown.length ? CLEAR_BELOW : ''}${END_FRAME}`)
    shown = lines
  }

  /** Rewrites everything: terminals differ in how a resize changes existing lines. */
  function onResize(): void {
    shown = render()
    const freeRows = Math.max(0, (stream.rows ?? 24) - shown.length - 1)
    const above = freeRows === 0 ? [] : printed.slice(-freeRows)
    stream.write(`${BEGIN_FRAME}${CLEAR_ALL}${[...above, ...shown].map((line) => `${line}\n`).join('')}${END_FRAME}`)
  }
}
