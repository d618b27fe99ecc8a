import { REASON_MAX, type RolloutReport, type WishAnswer, type WishBody, type WishType } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../command-io.ts'
import { findRollout } from '../desk/find-rollout.ts'
import { openSession, type Session } from '../desk/open-session.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { invalid } from '../option-values.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { rolloutName, valueText } from '../output/print-value.ts'
import { confirmed } from '../terminal/confirm.ts'
import { wishPreview } from '../view/reports/wish-preview.ts'
import { printable } from '../view/styled-line.ts'

/** What a command that asks something of a release is told. */
export interface WishOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
  readonly type: WishType
  readonly body: WishBody
  /** How long to wait until the controller has acted on it, in milliseconds. */
  readonly waitMs: number
  readonly idempotencyKey: string | undefined
  readonly dryRun: boolean
  /** Ask nobody. */
  readonly yes: boolean
}

/** Those that cannot be taken back by the opposite wish. */
const askedBefore: readonly WishType[] = ['abort', 'undo']

/**
 * Asks something of a release. `approve` and `jump` are meant for the step that the release is at when the command looks, unless one is
 * given: had it moved on since, the wish would be refused.
 *
 * @returns failed where somebody at the terminal says no
 * @throws {AppError} with the code and the reason of a refusal
 */
export async function wish(options: WishOptions, io: CommandIo): Promise<ExitCode> {
  const { access, type, waitMs, idempotencyKey, dryRun } = options
  checkReason(options.body)
  await using session = await openSession(access, io)
  const key = await findRollout(session.desk, session.namespace, { named: named(options), command: type })
  const report = needsReport(options, io) ? await session.desk.report(key) : null
  if (report !== null && !(await agreed(session, { options, report }, io))) {
    io.err.write('Nothing was done.\n')
    return exitCodes.failed
  }
  const sawStep = asksStep(options) && options.body.revision === undefined
  const answer = await session.desk.wish(key, { type, body: withStep(options, report), waitMs, idempotencyKey, sawStep, dryRun })
  io.out.write(await answerText(answer, key, options))
  return exitCodes.done
}

function checkReason({ reason = '' }: WishBody): void {
  if (reason.length > REASON_MAX) throw invalid('--reason', `${reason.slice(0, 20)}…`, `give at most ${REASON_MAX} characters`)
}

/** One acts on what one has named. */
function named({ name, type }: WishOptions): string {
  if (name !== undefined) return name
  throw new AppError('OPTION_INVALID', `tranche ${type} is given no Rollout`, {
    hint: `Name it: tranche ${type} NAME. tranche list shows them.`,
  })
}

function needsReport(options: WishOptions, io: CommandIo): boolean {
  return asksStep(options) || asksPerson(options, io)
}

function asksStep({ type, body }: WishOptions): boolean {
  return (type === 'approve' || type === 'jump') && body.expectedStep === undefined
}

function asksPerson({ type, yes, dryRun }: WishOptions, io: CommandIo): boolean {
  return askedBefore.includes(type) && !yes && !dryRun && io.in?.isTTY === true && io.err.isTTY === true
}

async function agreed(
  { clock }: Session,
  { options, report }: { readonly options: WishOptions; readonly report: RolloutReport },
  io: CommandIo,
): Promise<boolean> {
  if (!asksPerson(options, io)) return true
  const drawing = createOutputDrawing(io.err, io, { colors: options.output.colors, nowMs: clock.nowMs() })
  io.err.write(`${wishPreview(options, report, drawing).join('\n')}\n`)
  return confirmed(`${options.type} ${report.namespace}/${report.name}?`, io)
}

function withStep(options: WishOptions, report: RolloutReport | null): WishBody {
  if (!asksStep(options) || report?.step === undefined) return options.body
  const { step, canaryRevision } = report
  return { ...(canaryRevision !== undefined && { revision: canaryRevision }), ...options.body, expectedStep: step.index }
}

async function answerText(answer: WishAnswer, key: ObjectKey, { output: { format }, dryRun }: WishOptions): Promise<string> {
  if (format === 'json' || format === 'yaml') return await valueText(answer, format)
  if (format === 'name') return `${rolloutName(key.name)}\n`
  const state = answer.repeated ? 'asked for before' : dryRun ? 'would be accepted' : answer.state
  return `${printable(`${key.namespace}/${key.name}: ${answer.type} ${state}: ${answer.message}`)}\n`
}
