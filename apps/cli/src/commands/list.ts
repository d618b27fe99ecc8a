import type { Outcome, RolloutSummary } from '@tranche/api-schema'
import type { CommandIo } from '../process/command-io.ts'
import { openSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { rolloutName, valueText } from '../output/print-value.ts'
import { sayLines } from '../output/say-lines.ts'
import { watchList } from '../terminal/watch-list.ts'
import { listView } from '../view/reports/list-view.ts'
import { printable } from '../view/printable.ts'

/** Options of `list`. */
export interface ListCommandOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  /** Only Rollouts with this outcome. */
  readonly outcome: Outcome | undefined
  /** Watch until a signal ends the process. */
  readonly watch: boolean
}

/** Prints the Rollouts of a namespace, or of all, sorted by namespace and name. */
export async function list({ access, output, outcome, watch }: ListCommandOptions, io: CommandIo): Promise<ExitCode> {
  await using session = await openSession(access, io)
  const { releaseClient, namespace, clock } = session
  const look = async (): Promise<readonly RolloutSummary[]> => {
    const all = await releaseClient.list({ namespace: access.allNamespaces ? undefined : namespace, labelSelector: access.selector })
    return all.filter((rollout) => outcome === undefined || rollout.outcome === outcome).toSorted(byKey)
  }
  const columns = { namespaces: access.allNamespaces, wide: output.format === 'wide' }
  const none = nothingFound(access, namespace, outcome)
  if (watch) return await watchList(session, { look, none, columns, output }, io)
  const items = await look()
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText({ items }, output.format, io.out))
  else if (output.format === 'name') io.out.write(items.map(({ name }) => `${rolloutName(name)}\n`).join(''))
  else if (items.length === 0) sayLines(io.err, none)
  else {
    // As in kubectl, -o wide cuts nothing, and the terminal wraps long lines.
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: clock.nowMs(), uncut: columns.wide })
    const lines = listView(items, columns, drawing)
    io.out.write(`${lines.join('\n')}\n`)
  }
  return exitCodes.done
}

function byKey(a: NamedItem, b: NamedItem): number {
  return a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name, 'en', { numeric: true })
}

interface NamedItem {
  readonly namespace: string
  readonly name: string
}

function nothingFound({ allNamespaces, selector }: AccessOptions, namespace: string, outcome: Outcome | undefined): string {
  const labelled = selector === undefined ? 'No Rollouts' : `No Rollouts with ${printable(selector)}`
  const which = outcome === undefined ? labelled : `${labelled} that are ${outcome}`
  return allNamespaces ? `${which} in any namespace.` : `${which} in namespace ${namespace}; use -A for all namespaces.`
}
