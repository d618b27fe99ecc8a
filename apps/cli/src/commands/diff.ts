import type { RevisionReport, RevisionTemplate } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { sayLines } from '../output/say-lines.ts'
import { templateDiff } from '../view/reports/template-diff.ts'

/** Options of `diff`. */
export interface DiffOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
  /** Numbers or hashes: empty, the older one, or both. */
  readonly revisions: readonly string[]
}

/** Prints the differences between the templates of two revisions, by default the two newest. Fails if a comparison takes too long. */
export async function diff({ access, output, name, revisions }: DiffOptions, io: CommandIo): Promise<ExitCode> {
  await using session = await openSession(access, io)
  const key = await findRollout(session.releaseClient, session.namespace, { named: name, command: 'diff' })
  const known = (await session.releaseClient.history(key)).revisions
  const [older, newer] = [revisions[0] ?? hashAt(known, 1), revisions[1] ?? hashAt(known, 0)]
  const [from, to] = await Promise.all([
    templateOf(session, key, { wanted: older, known }),
    templateOf(session, key, { wanted: newer, known }),
  ])
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText({ from, to }, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    const lines = templateDiff(from, to, drawing)
    if (lines === undefined) {
      sayLines(io.err, tooDifferentText(from.number, to.number))
      return exitCodes.failed
    }
    if (lines.length === 0) sayLines(io.err, sameText(from.number, to.number, known.length))
    else io.out.write(`${lines.join('\n')}\n`)
  }
  return exitCodes.done
}

function tooDifferentText(from: number, to: number): string {
  return `Revisions ${from} and ${to} are too long and too different to compare here. Compare both templates in the output of -o yaml.`
}

function sameText(from: number, to: number, known: number): string {
  if (from !== to) return `Revisions ${from} and ${to} have the same template.`
  if (known === 1) return `The history has only revision ${from}, so there is nothing to compare.`
  return `Both revisions are ${from}. Name two different ones; tranche history shows them.`
}

/** @returns the hash of the revision at index `place`, newest first; the oldest if there are fewer */
function hashAt(known: readonly RevisionReport[], place: number): string {
  const revision = known[Math.min(place, known.length - 1)]
  if (revision !== undefined) return revision.revision
  throw new AppError('REVISION_NOT_FOUND', 'the DaemonSet has no revisions', { hint: 'Wait until its controller has created one.' })
}

interface Wanted {
  readonly wanted: string
  readonly known: readonly RevisionReport[]
}

async function templateOf({ releaseClient }: CommandSession, key: ObjectKey, { wanted, known }: Wanted): Promise<RevisionTemplate> {
  if (known.some(({ revision, number }) => revision === wanted || String(number) === wanted)) return releaseClient.template(key, wanted)
  throw new AppError('REVISION_NOT_FOUND', `the history has no revision ${wanted}`, {
    details: { revision: wanted },
    hint: `Choose one of ${known.map(({ number }) => number).join(', ')}; tranche history shows them.`,
  })
}
