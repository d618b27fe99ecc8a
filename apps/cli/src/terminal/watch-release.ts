import { durationText } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { type CommandIo, type OutputStream, wantsColors, wantsUnicode } from '../process/command-io.ts'
import { errorLine } from '../release-client/error-line.ts'
import { followReleaseWithRetries } from '../release-client/follow-release.ts'
import type { CommandSession } from '../release-client/open-session.ts'
import { printErrorOnce } from '../release-client/print-error-once.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { jsonLine } from '../output/print-value.ts'
import { endBySignal } from '../process/stop-signals.ts'
import { createDrawing } from '../view/reports/drawing.ts'
import { isNews, progressLine, type PrintedProgress } from '../view/reports/progress-line.ts'
import type { ReleasePicture } from '@tranche/release-client'
import { releaseView } from '../view/reports/release-view.ts'
import { wrapText } from '../view/wrap-text.ts'
import { createLiveScreen } from './live-screen.ts'

/** Rollout to watch, and its output format. */
export interface ReleaseScreenOptions {
  readonly key: ObjectKey
  readonly output: OutputOptions
}

const DRAW_EVERY_MS = 1_000

/** Shows a Rollout until a signal ends the process: a live view on a terminal, one line or document per change elsewhere. */
export async function showReleaseScreen(
  session: Pick<CommandSession, 'releaseClient' | 'clock'>,
  options: ReleaseScreenOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const { signal } = new AbortController()
  const show = isTerminal(io.out, io) && options.output.format !== 'json' ? openLive(session, options, io) : openPlain(session, options, io)
  using _ends = endBySignal(() => show.close())
  try {
    const looks = followReleaseWithRetries(session, { key: options.key, part: 'picture', signal, trouble: show.trouble })
    for await (const picture of looks) show.picture(picture)
    return exitCodes.done
  } finally {
    show.close()
  }
}

interface Showing {
  picture(picture: ReleasePicture): void
  /** Marks the shown data, read at `readMs` (epoch), as stale; null marks them as current. */
  trouble(error: unknown, readMs: number): void
  close(): void
}

/** Advances ages between reads, and freezes them while the data are stale. */
function openLive({ clock }: Pick<CommandSession, 'clock'>, { key, output }: ReleaseScreenOptions, io: CommandIo): Showing {
  const screen = createLiveScreen(io.out)
  screen.draw(() => [`loading ${keyText(key)}; Ctrl-C to stop`])
  let latest: ReleasePicture | null = null
  let stale: { readonly problem: string; readonly readMs: number } | null = null
  const draw = (): void => {
    if (latest !== null) screen.draw(() => fitted(lines(latest!), Math.max(4, (io.out.rows ?? 24) - 1)))
  }
  let timer = clock.setTimer(DRAW_EVERY_MS, tick)
  return {
    picture(picture) {
      latest = picture
      draw()
    },
    trouble(error, readMs) {
      stale = error === null ? null : { problem: errorLine(error), readMs }
      draw()
    },
    close() {
      timer.cancel()
      screen.close()
    },
  }

  function tick(): void {
    draw()
    timer = clock.setTimer(DRAW_EVERY_MS, tick)
  }

  function lines(picture: ReleasePicture): readonly string[] {
    const drawing = createDrawing({
      width: Math.max(20, io.out.columns ?? 80),
      colors: wantsColors(io.out, io.env, output.colors),
      unicode: wantsUnicode(io.env),
      nowMs: stale?.readMs ?? clock.nowMs(),
    })
    const shown = releaseView(picture, drawing, output.format === 'wide')
    const said = stale === null ? [] : wrapText(staleText(stale), drawing.width).map((row) => drawing.line(['yellow', row]))
    return [...shown.slice(0, 1), ...said, ...shown.slice(1)]
  }

  function staleText({ problem, readMs }: NonNullable<typeof stale>): string {
    return `stale since ${new Date(readMs).toISOString()}, for ${durationText(clock.nowMs() - readMs)}: ${problem}`
  }
}

function fitted(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows) return lines
  return [...lines.slice(0, rows - 1), `and ${lines.length - rows + 1} more lines; run without -w to see all`]
}

function openPlain({ clock }: Pick<CommandSession, 'clock'>, { output: { format, colors } }: ReleaseScreenOptions, io: CommandIo): Showing {
  let printed: PrintedProgress | null = null
  return {
    picture({ report }) {
      const atMs = clock.monotonicMs()
      if (!isNews(printed, report, atMs)) return
      printed = { report, atMs }
      const drawing = createOutputDrawing(io.out, io, { colors, nowMs: clock.nowMs() })
      io.out.write(`${format === 'json' ? jsonLine(report, io.out) : progressLine(report, drawing)}\n`)
    },
    trouble: printErrorOnce(io.err),
    close: () => {},
  }
}

function isTerminal(stream: OutputStream, { env }: CommandIo): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
