import { type CommandIo, type OutputStream, wantsColors, wantsUnicode } from '../command-io.ts'
import { createDrawing, type Drawing } from '../view/reports/drawing.ts'

/** @returns how to draw on `stream` now: as wide as the terminal, without a limit elsewhere */
export function createOutputDrawing(
  stream: OutputStream,
  io: CommandIo,
  look: { readonly colors: boolean; readonly nowMs: number },
): Drawing {
  return createDrawing({
    width: stream.isTTY === true ? Math.max(20, stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    colors: wantsColors(stream, io.env, look.colors),
    unicode: wantsUnicode(io.env),
    nowMs: look.nowMs,
  })
}
