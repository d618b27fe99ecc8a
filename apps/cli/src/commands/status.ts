import type { RolloutReport } from '@tranche/api-schema'
import { AppError, isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { askPatiently, type AskPatientlyOptions } from '../release-client/ask-patiently.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { followPatiently, isLate } from '../release-client/follow-patiently.ts'
import { printErrorOnce } from '../release-client/print-error-once.ts'
import { openSession, type CommandSession } from '../release-client/open-session.ts'
import { type StatusExitCode, statusExitCodeOf, statusExitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { rolloutName, valueText } from '../output/print-value.ts'
import { sayLines } from '../output/say-lines.ts'
import { endBySignal } from '../process/stop-signals.ts'
import { isOurs } from '../view/reports/report-words.ts'
import { isNews, progressLine, type PrintedProgress } from '../view/reports/progress-line.ts'

/** Options of `status`. */
export interface StatusOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
  /** Timeout in milliseconds; 0 checks once, null waits without a limit. */
  readonly timeoutMs: number | null
  /** Keep waiting while the release waits for a person. */
  readonly throughPauses: boolean
}

/**
 * Waits until a release is over or waits for a person. Prints progress to `err` and the final state to `out`.
 *
 * @returns the exit code of the outcome: {@link statusExitCodes}
 * @throws {AppError} API_DEADLINE if the timeout elapsed before the first report; the errors of the first read
 */
export async function status(options: StatusOptions, io: CommandIo): Promise<StatusExitCode> {
  using _ends = endBySignal((name) => sayLines(io.err, `Stopped waiting on ${name}; the release continues.`))
  await using session = await openSession(options.access, io)
  using wait = beginWait(session, options, io)
  const report = await lookUntilEnd(session, { ...options, wait }, io)
  const { format } = options.output
  if (format === 'json' || format === 'yaml') io.out.write(await valueText(report, format, io.out))
  else if (format === 'name') io.out.write(`${rolloutName(report.name)}\n`)
  else
    sayLines(
      io.out,
      progressLine(report, createOutputDrawing(io.out, io, { colors: options.output.colors, nowMs: session.clock.nowMs(), uncut: true })),
    )
  return isOurs(report) ? statusExitCodeOf(report.outcome, { waitsThrough: options.throughPauses }) : statusExitCodes.unknown
}

/** The wait with its timeout, retries and last error. */
interface Wait extends AskPatientlyOptions, Disposable {
  /** Last error; null if the report is up to date. */
  readonly trouble: Error | null
  /** Called with an error when the report becomes stale, and with null when it is current again. */
  stale(error: unknown, readMs?: number): void
}

/** Starts the timeout. With a timeout of 0, errors are not retried. */
function beginWait({ clock }: CommandSession, { timeoutMs }: StatusOptions, io: CommandIo): Wait {
  const ended = new AbortController()
  const timer = timeoutMs === null || timeoutMs === 0 ? null : clock.setTimer(timeoutMs, () => ended.abort())
  const printError = printErrorOnce(io.err)
  let trouble: Error | null = null
  const stale = (error: unknown, readMs?: number): void => {
    printError(error, readMs)
    trouble = error instanceof Error ? error : null
  }
  return {
    clock,
    signal: ended.signal,
    mayPass: (error) => timeoutMs !== 0 && isLate(error),
    failed: (error) => stale(error),
    stale,
    get trouble() {
      return trouble
    },
    [Symbol.dispose]() {
      timer?.cancel()
    },
  }
}

type WaitOptions = StatusOptions & { readonly wait: Wait }

/** @returns the last report */
async function lookUntilEnd(session: CommandSession, options: WaitOptions, io: CommandIo): Promise<RolloutReport> {
  const { name: named, wait, timeoutMs } = options
  const { signal } = wait
  const find = async (): Promise<ObjectKey> => findRollout(session.releaseClient, session.namespace, { named, command: 'status', signal })
  let report: RolloutReport | null = null
  try {
    report = await awaitEnd(session, { ...options, key: await askPatiently(find, wait) }, io)
  } catch (error) {
    // Requests that the timeout aborted are not errors.
    if (!signal.aborted || isAppError(error)) throw error
  }
  if (report !== null) return report
  throw wait.trouble ?? notSeen(timeoutMs ?? 0)
}

function notSeen(timeoutMs: number): AppError {
  return new AppError('API_DEADLINE', `no answer within the --timeout of ${timeoutMs / 1000} s`, {
    hint: 'Increase --timeout, or check the cluster with tranche doctor.',
  })
}

/** @returns the last report; null if the timeout elapsed before the first */
async function awaitEnd(
  session: CommandSession,
  options: WaitOptions & { readonly key: ObjectKey },
  io: CommandIo,
): Promise<RolloutReport | null> {
  const { key, timeoutMs, throughPauses, output, wait } = options
  if (timeoutMs === 0) return session.releaseClient.report(key)
  const { clock } = session
  const { signal } = wait
  let printed: PrintedProgress | null = null
  let latest: RolloutReport | null = null
  const trouble = (error: unknown, readMs: number): void => wait.stale(error, readMs)
  for await (const report of followPatiently(session, { key, part: 'report', signal, trouble, patience: wait })) {
    latest = report
    if (isEnd(report, throughPauses)) break
    const atMs = clock.monotonicMs()
    if (!isNews(printed, report, atMs)) continue
    printed = { report, atMs }
    sayLines(io.err, progressLine(report, createOutputDrawing(io.err, io, { colors: output.colors, nowMs: clock.nowMs(), uncut: true })))
  }
  return latest
}

function isEnd(report: RolloutReport, throughPauses: boolean): boolean {
  const { outcome } = report
  return !isOurs(report) || (outcome !== 'Running' && (outcome !== 'Waiting' || !throughPauses))
}
