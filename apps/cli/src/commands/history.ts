import type { CommandIo } from '../process/command-io.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { historyView } from '../view/reports/history-view.ts'

/** Options of `history`. */
export interface HistoryOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly name: string | undefined
}

/** Prints the revisions of a Rollout, its releases with their results, and the actions with their users. */
export async function history({ access, output, name }: HistoryOptions, io: CommandIo): Promise<ExitCode> {
  await using session = await openSession(access, io)
  const key = await findRollout(session.releaseClient, session.namespace, { named: name, command: 'history' })
  const report = await session.releaseClient.history(key)
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(report, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, {
      colors: output.colors,
      nowMs: session.clock.nowMs(),
      uncut: output.format === 'wide',
    })
    io.out.write(`${historyView(report, drawing).join('\n')}\n`)
  }
  return exitCodes.done
}
