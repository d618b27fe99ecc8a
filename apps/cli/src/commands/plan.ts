import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { startController } from '@tranche/controller'
import { AppError } from '@tranche/errors'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import { readSnapshot } from '@tranche/steering'
import type { CommandIo } from '../command-io.ts'
import type { ObjectKey } from '@tranche/kube-types'
import { explained } from '../desk/explain-error.ts'
import { findRollout } from '../desk/find-rollout.ts'
import { openCluster, openSession } from '../desk/open-session.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { readDocuments } from '../lint/read-documents.ts'
import type { AccessOptions, ClusterSource, OutputOptions, ServerSource } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { planManifests } from '../plan/plan-manifests.ts'
import { planView } from '../view/reports/plan-view.ts'
import { readText } from './lint.ts'

/** What `plan` is told. */
export interface PlanOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  /** As on the command line; undefined: the only one there is. */
  readonly name: string | undefined
  /** Manifests to plan; `-` is standard input. */
  readonly files: readonly string[]
  readonly request: ForecastRequest
}

/**
 * Runs a release in virtual time on a copy of the cluster, and tells what would come of it.
 *
 * @returns failed when it would not complete
 */
export async function plan(options: PlanOptions, io: CommandIo): Promise<ExitCode> {
  const { access, output } = options
  await using session = await openSession(access, io)
  const key = await findRollout(session.desk, session.namespace, { named: options.name, command: 'plan' })
  // What is wrong with the name, the address or the rights is said as for every other command.
  await session.desk.report(key)
  const told =
    access.source.kind === 'server' ? await askServer(access.source, key, options) : await askCluster(access.source, key, options, io)
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(told, output.format))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    io.out.write(`${planView(told, drawing, output.format === 'wide').join('\n')}\n`)
  }
  return told.outcome === 'Completes' ? exitCodes.done : exitCodes.failed
}

/** The server plays it; a whole forecast takes longer than other answers. */
async function askServer(source: ServerSource, key: ObjectKey, { files, request }: PlanOptions): Promise<Forecast> {
  if (files.length > 0) throw filesOverRest()
  const { openRestClient } = await import('../desk/open-rest.ts')
  return openRestClient(source).plan(key, request, { deadlineMs: SERVER_DEADLINE_MS })
}

const SERVER_DEADLINE_MS = 90_000

async function askCluster(source: ClusterSource, key: ObjectKey, options: PlanOptions, io: CommandIo): Promise<Forecast> {
  await using open = await openCluster(source, io)
  const snapshot = await readSnapshot(open.client, key, { nowMs: systemClock.nowMs() }).catch((error: unknown) => {
    throw explained(error, open.cluster)
  })
  return foretell(snapshot, options, io)
}

async function foretell(snapshot: ClusterSnapshot, { files, request }: PlanOptions, io: CommandIo): Promise<Forecast> {
  const texts = await Promise.all(files.map(async (file) => readDocuments(file, await readText(file, io))))
  const manifests = files.length === 0 ? {} : planManifests(texts.flat(), snapshot)
  const programs = { startController, startExecutor }
  const bar = createProgress(io)
  try {
    return await forecast(snapshot, request, programs, { manifests, onProgress: bar.show })
  } finally {
    bar.clear()
  }
}

/** One line that is written over and over on a terminal; nothing elsewhere. */
function createProgress({ err }: CommandIo): { readonly show: (done: number, total: number) => void; readonly clear: () => void } {
  if (err.isTTY !== true) return { show: () => {}, clear: () => {} }
  let shown = -1
  return {
    show(done, total) {
      const percent = Math.floor((done / Math.max(1, total)) * 100)
      if (percent === shown) return
      shown = percent
      err.write(`\r${done} of ${total} nodes played`)
    },
    clear() {
      if (shown >= 0) err.write('\r\u001b[K')
    },
  }
}

function filesOverRest(): AppError {
  return new AppError('OPTION_INVALID', '--filename stands beside --server, which plans an image or what is under way', {
    hint: 'Leave --server out: the cluster is then read with your kubeconfig.',
  })
}
