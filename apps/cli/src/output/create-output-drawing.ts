import { type CommandIo, type OutputStream, wantsColors, wantsUnicode } from '../process/command-io.ts'
import { createDrawing, type Drawing } from '../view/reports/drawing.ts'

/** Settings of the drawing of a command. */
export interface OutputLook {
  readonly colors: boolean
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Do not cut lines at the terminal width; the caller wraps them. @default false */
  readonly uncut?: boolean
}

/** @returns the drawing for `stream`: as wide as the terminal now, without a limit elsewhere */
export function createOutputDrawing(stream: OutputStream, io: CommandIo, { colors, nowMs, uncut = false }: OutputLook): Drawing {
  return createDrawing({
    width: stream.isTTY === true && !uncut ? Math.max(20, stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    colors: wantsColors(stream, io.env, colors),
    unicode: wantsUnicode(io.env),
    nowMs,
  })
}
