import { type CommandIo, type OutputStream, wantsColors, wantsUnicode } from '../command-io.ts'
import { createDrawing, type Drawing } from '../view/reports/drawing.ts'

/** How a command wants to be drawn. */
export interface OutputLook {
  readonly colors: boolean
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Lines may be wider than the terminal: the one sentence that somebody waited for is not cut, and whoever says it breaks it. @default false */
  readonly uncut?: boolean
}

/** @returns how to draw on `stream` now: as wide as the terminal, without a limit elsewhere */
export function createOutputDrawing(stream: OutputStream, io: CommandIo, { colors, nowMs, uncut = false }: OutputLook): Drawing {
  return createDrawing({
    width: stream.isTTY === true && !uncut ? Math.max(20, stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    colors: wantsColors(stream, io.env, colors),
    unicode: wantsUnicode(io.env),
    nowMs,
  })
}
