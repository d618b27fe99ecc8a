import { AppError } from '@tranche/errors'
import type { RevisionTemplate } from '@tranche/steering'
import type { CommandIo } from '../command-io.ts'
import { findRollout } from '../desk/find-rollout.ts'
import { openSession } from '../desk/open-session.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { templateDiff } from '../view/reports/template-diff.ts'

/** What `diff` is told. */
export interface DiffOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
  /** Numbers or hashes: none, the older one, or both. */
  readonly revisions: readonly string[]
}

/** Prints what differs between the templates of two revisions; without any named, what the newest has changed. */
export async function diff({ access, output, name, revisions }: DiffOptions, io: CommandIo): Promise<ExitCode> {
  await using session = await openSession(access, io)
  const key = await findRollout(session.desk, session.namespace, { named: name, command: 'diff' })
  const templates = await session.desk.templates(key)
  const from = revisions[0] === undefined ? previousOf(templates) : chosen(templates, revisions[0])
  const to = revisions[1] === undefined ? newestOf(templates) : chosen(templates, revisions[1])
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText({ from, to }, output.format))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    const lines = templateDiff(from, to, drawing)
    if (lines.length === 0) io.err.write(`Revisions ${from.revision.number} and ${to.revision.number} have the same template.\n`)
    else io.out.write(`${lines.join('\n')}\n`)
  }
  return exitCodes.done
}

function newestOf([newest]: readonly RevisionTemplate[]): RevisionTemplate {
  if (newest !== undefined) return newest
  throw new AppError('REVISION_NOT_FOUND', 'the DaemonSet has no revisions', { hint: 'Wait until its controller has looked at it.' })
}

function previousOf([newest, previous]: readonly RevisionTemplate[]): RevisionTemplate {
  return previous ?? newestOf(newest === undefined ? [] : [newest])
}

function chosen(templates: readonly RevisionTemplate[], wanted: string): RevisionTemplate {
  const found = templates.find(({ revision }) => revision.revision === wanted || String(revision.number) === wanted)
  if (found !== undefined) return found
  const known = templates.map(({ revision }) => revision.number).join(', ')
  throw new AppError('REVISION_NOT_FOUND', `the history has no revision ${wanted}`, {
    details: { revision: wanted },
    hint: `Choose one of ${known}; tranche history shows them.`,
  })
}
