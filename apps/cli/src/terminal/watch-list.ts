import type { RolloutSummary } from '@tranche/api-schema'
import { wantsColors, wantsUnicode, type CommandIo } from '../process/command-io.ts'
import { errorLine } from '../release-client/error-line.ts'
import { lookAgain } from '../release-client/look-again.ts'
import type { CommandSession } from '../release-client/open-session.ts'
import { printErrorOnce } from '../release-client/print-error-once.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { jsonLine } from '../output/print-value.ts'
import { endBySignal } from '../process/stop-signals.ts'
import { createDrawing } from '../view/reports/drawing.ts'
import { type ListColumns, listView } from '../view/reports/list-view.ts'
import { isNews, progressLine, type PrintedProgress } from '../view/reports/progress-line.ts'
import { wrapText } from '../view/wrap-text.ts'
import { createLiveScreen } from './live-screen.ts'

/** Source and format of the watched list. */
export interface WatchListOptions {
  /** Reads the Rollouts in display order. */
  readonly look: () => Promise<readonly RolloutSummary[]>
  /** Text shown while there are none. */
  readonly none: string
  readonly columns: ListColumns
  readonly output: OutputOptions
}

/**
 * Shows Rollouts until a signal ends the process: a live table on a terminal, one line or document per changed Rollout elsewhere. The list
 * is polled, since it has no watch.
 */
export async function watchList({ clock }: CommandSession, options: WatchListOptions, io: CommandIo): Promise<ExitCode> {
  const { signal } = new AbortController()
  const isLive = io.out.isTTY === true && io.env['TERM'] !== 'dumb' && options.output.format !== 'json'
  const show = isLive ? openLive(options, io) : openPlain(options, io)
  using _ends = endBySignal(() => show.close())
  try {
    let readMs = clock.nowMs()
    const failed = (error: unknown): void => show.trouble(error, readMs)
    for await (const rollouts of lookAgain(options.look, { clock, signal, failed })) {
      readMs = clock.nowMs()
      show.rollouts(rollouts, { nowMs: readMs, atMs: clock.monotonicMs() })
    }
    return exitCodes.done
  } finally {
    show.close()
  }
}

interface Moment {
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Monotonic milliseconds. */
  readonly atMs: number
}

interface Showing {
  rollouts(rollouts: readonly RolloutSummary[], moment: Moment): void
  /** Marks the shown data, read at `readMs` (epoch), as stale until the next Rollouts. */
  trouble(error: unknown, readMs: number): void
  close(): void
}

function openLive({ none, columns, output }: WatchListOptions, io: CommandIo): Showing {
  const screen = createLiveScreen(io.out)
  let shown: readonly string[] = ['loading; Ctrl-C to stop']
  const draw = (said: readonly string[] = []): void => screen.draw(() => [...said, ...shown].slice(0, Math.max(4, (io.out.rows ?? 24) - 1)))
  draw()
  return {
    rollouts(rollouts, { nowMs }) {
      const width = Math.max(20, io.out.columns ?? 80)
      const drawing = createDrawing({ width, colors: wantsColors(io.out, io.env, output.colors), unicode: wantsUnicode(io.env), nowMs })
      shown = rollouts.length === 0 ? wrapText(none, width) : listView(rollouts, columns, drawing)
      draw()
    },
    trouble: (error, readMs) =>
      draw(wrapText(`stale since ${new Date(readMs).toISOString()}: ${errorLine(error)}`, Math.max(20, io.out.columns ?? 80))),
    close: () => screen.close(),
  }
}

function openPlain({ output: { format, colors } }: WatchListOptions, io: CommandIo): Showing {
  const printed = new Map<string, PrintedProgress>()
  const trouble = printErrorOnce(io.err)
  return {
    rollouts(rollouts, { nowMs, atMs }) {
      trouble(null)
      for (const report of rollouts) {
        const key = `${report.namespace}/${report.name}`
        if (!isNews(printed.get(key) ?? null, report, atMs)) continue
        printed.set(key, { report, atMs })
        const drawing = createOutputDrawing(io.out, io, { colors, nowMs })
        io.out.write(`${format === 'json' ? jsonLine(report, io.out) : progressLine(report, drawing)}\n`)
      }
    },
    trouble,
    close: () => {},
  }
}
