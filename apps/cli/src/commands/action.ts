import { REASON_MAX, type ActionAnswer, type ActionBody, type ActionType } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { inOptions } from '../release-client/in-options.ts'
import { lookBeforeAction, membersToSee, type ActionLook } from '../release-client/look-before-action.ts'
import { openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import { invalid } from '../options/option-values.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { rolloutName, valueText } from '../output/print-value.ts'
import { sayLines } from '../output/say-lines.ts'
import { confirmed } from '../terminal/confirm.ts'
import { actionPreview } from '../view/reports/action-preview.ts'
import { printable } from '../view/printable.ts'

/** Options of the commands that act on a release. */
export interface ActionOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
  readonly type: ActionType
  readonly body: ActionBody
  /** Maximum time to wait until the controller has acted, in milliseconds. */
  readonly waitMs: number
  readonly idempotencyKey: string | undefined
  readonly dryRun: boolean
  /** Skip the confirmation prompt. */
  readonly yes: boolean
}

/** Actions that prompt for confirmation: no opposite action reverts them. */
const askedBefore: readonly ActionType[] = ['abort', 'undo', 'promote']

/**
 * Sends an action to a release. Unless the user gives them, the command reads the preconditions first:
 * - `approve` and `jump` apply to the current step and revision,
 * - `undo` applies to the current template and the revision before it,
 * - a confirmed action applies to the state shown at the prompt.
 *
 * If the release has changed since, the action is rejected.
 *
 * @returns failed if the user declines at the prompt
 * @throws {AppError} with the code and reason of the rejection
 */
export async function act(options: ActionOptions, io: CommandIo): Promise<ExitCode> {
  const { access, type, waitMs, idempotencyKey, dryRun } = options
  checkReason(options.body)
  await using session = await openSession(access, io)
  const key = await findRollout(session.releaseClient, session.namespace, { named: named(options), command: type })
  const look = needsLook(options, io) ? await lookBeforeAction(session.releaseClient, key, options) : null
  if (look !== null && !(await agreed(session, { options, look }, io))) {
    io.err.write('Cancelled; nothing was changed.\n')
    return exitCodes.failed
  }
  const { body } = look ?? options
  const seen = membersToSee(options)
  const answer = await session.releaseClient.act(key, { type, body, waitMs, idempotencyKey, seen, dryRun }).catch((error: unknown) => {
    throw inOptions(error, options.body)
  })
  const { format } = options.output
  if (format === 'json' || format === 'yaml') io.out.write(await valueText(answer, format, io.out))
  else if (format === 'name') io.out.write(`${rolloutName(key.name)}\n`)
  else sayLines(io.out, answerLine(answer, key, options))
  return exitCodes.done
}

function checkReason({ reason = '' }: ActionBody): void {
  if (reason.length > REASON_MAX) throw invalid('--reason', `${reason.slice(0, 20)}…`, `give at most ${REASON_MAX} characters`)
}

/** Returns the given name: actions never default to the only Rollout of a namespace. */
function named({ name, type }: ActionOptions): string {
  if (name !== undefined) return name
  throw new AppError('OPTION_INVALID', `tranche ${type} requires a Rollout`, {
    hint: `Run tranche ${type} NAME; tranche list shows the names.`,
  })
}

function needsLook(options: ActionOptions, io: CommandIo): boolean {
  const { type, body } = options
  if (type === 'approve' || type === 'jump') return body.expectedStep === undefined
  return asksPerson(options, io) || (type === 'undo' && membersToSee(options).length > 0)
}

function asksPerson({ type, yes, dryRun }: ActionOptions, io: CommandIo): boolean {
  return askedBefore.includes(type) && !yes && !dryRun && io.in?.isTTY === true && io.err.isTTY === true
}

async function agreed(
  session: CommandSession,
  { options, look }: { readonly options: ActionOptions; readonly look: ActionLook },
  io: CommandIo,
): Promise<boolean> {
  if (!asksPerson(options, io)) return true
  checkRevision(options, look)
  if (options.access.source.kind === 'cluster') await checkRefusal(session, options, look)
  const drawing = createOutputDrawing(io.err, io, { colors: options.output.colors, nowMs: session.clock.nowMs() })
  const { report, revisions, body } = look
  io.err.write(`${actionPreview({ type: options.type, body, revisions }, report, drawing).join('\n')}\n`)
  return confirmed(`${options.type} ${report.namespace}/${report.name}?`, io)
}

/** Runs the action as a dry run before the prompt, so that a rejection comes without one. The REST API has no dry run. */
async function checkRefusal(
  { releaseClient }: CommandSession,
  options: ActionOptions,
  { body, report: { namespace, name } }: ActionLook,
): Promise<void> {
  const { type, idempotencyKey } = options
  const tried = { type, body, waitMs: 0, idempotencyKey, seen: membersToSee(options), dryRun: true }
  await releaseClient.act({ namespace, name }, tried).catch((error: unknown) => {
    throw inOptions(error, options.body)
  })
}

/** Rejects an unknown revision before the prompt. With an idempotency key, the recorded first attempt decides. */
function checkRevision({ body: { toRevision }, idempotencyKey }: ActionOptions, { revisions }: ActionLook): void {
  if (toRevision === undefined || toRevision === '0' || idempotencyKey !== undefined) return
  if (revisions.some(({ revision, number }) => revision === toRevision || String(number) === toRevision)) return
  const names = revisions.map(({ number, revision }) => `${number} (${revision})`).join(', ')
  const error = new AppError('REVISION_NOT_FOUND', `there is no revision ${toRevision} in the history`, {
    details: { path: 'toRevision' },
    hint: `Name one of ${names}.`,
  })
  throw inOptions(error, { toRevision })
}

function answerLine(answer: ActionAnswer, key: ObjectKey, { dryRun }: ActionOptions): string {
  const state = answer.repeated ? 'already requested' : dryRun ? 'would be accepted' : answer.state
  return printable(`${key.namespace}/${key.name}: ${answer.type} ${state}: ${answer.message}`)
}
