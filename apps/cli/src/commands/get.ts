import type { ObjectKey } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { rolloutName, valueText } from '../output/print-value.ts'
import { showReleaseScreen } from '../terminal/watch-release.ts'
import { releaseView } from '../view/reports/release-view.ts'

/** Options of `get`. */
export interface GetOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  /** Name as on the command line; undefined: the only Rollout of the namespace. */
  readonly name: string | undefined
  /** Watch until a signal ends the process. */
  readonly watch: boolean
}

/** Shows one Rollout as a tree, once or live. */
export async function get(options: GetOptions, io: CommandIo): Promise<ExitCode> {
  const { access, output, name, watch } = options
  await using session = await openSession(access, io)
  const key = await findRollout(session.releaseClient, session.namespace, { named: name, command: 'get', ...access })
  if (watch) return await showReleaseScreen(session, { key, output }, io)
  io.out.write(await textOf(session, key, { output, io }))
  return exitCodes.done
}

interface Printing {
  readonly output: OutputOptions
  readonly io: CommandIo
}

async function textOf(
  { releaseClient, clock }: CommandSession,
  key: ObjectKey,
  { output: { format, colors }, io }: Printing,
): Promise<string> {
  const picture = await releaseClient.picture(key)
  const { report, ...rest } = picture
  if (format === 'name') return `${rolloutName(report.name)}\n`
  if (format === 'json' || format === 'yaml') return await valueText({ rollout: report, ...rest }, format, io.out)
  const drawing = createOutputDrawing(io.out, io, { colors, nowMs: clock.nowMs() })
  return `${releaseView(picture, drawing, format === 'wide').join('\n')}\n`
}
