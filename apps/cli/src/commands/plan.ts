import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { AppError } from '@tranche/errors'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import { readSnapshot } from '@tranche/release-client'
import type { CommandIo } from '../command-io.ts'
import type { ObjectKey } from '@tranche/kube-types'
import { explained } from '../release-client/explain-error.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openCluster, openSession, type Session } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { findFiles } from '../lint/find-files.ts'
import { readDocuments } from '../lint/read-documents.ts'
import type { AccessOptions, ClusterSource, OutputOptions, ServerSource } from '../options/access-options.ts'
import { createProgress, type Progress } from '../terminal/create-progress.ts'
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
  /** Manifests to plan, or folders of them; `-` is standard input. */
  readonly files: readonly string[]
  /** Whether the folders in a folder are looked into too. */
  readonly recursive: boolean
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
  const progress = createProgress(io)
  const result = await planWithProgress(session, options, { io, progress }).finally(progress.clear)
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(result, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    io.out.write(`${planView(result, drawing, output.format === 'wide').join('\n')}\n`)
  }
  return result.outcome === 'Completes' ? exitCodes.done : exitCodes.failed
}

/** What a plan is made with beside its options. */
interface PlanTerminal {
  readonly io: CommandIo
  readonly progress: Progress
}

/** A large cluster takes its time: people at a terminal are told what goes on. */
async function planWithProgress(session: Session, options: PlanOptions, terminal: PlanTerminal): Promise<Forecast> {
  const { source } = options.access
  terminal.progress.say('reads the cluster')
  const key = await findRollout(session.releaseClient, session.namespace, { named: options.name, command: 'plan' })
  // What is wrong with the name, the address or the rights is said as for every other command.
  await session.releaseClient.report(key)
  if (source.kind === 'cluster') return askCluster(source, key, options, terminal)
  terminal.progress.say('waits for the server, which plays the release')
  return askServer(source, key, options)
}

/** The server plays it; a whole forecast takes longer than other answers. */
async function askServer(source: ServerSource, key: ObjectKey, { files, request }: PlanOptions): Promise<Forecast> {
  if (files.length > 0) throw filesOverRest()
  const { openRestClient } = await import('../release-client/open-rest.ts')
  return openRestClient(source).plan(key, request, { deadlineMs: SERVER_DEADLINE_MS })
}

const SERVER_DEADLINE_MS = 90_000

async function askCluster(source: ClusterSource, key: ObjectKey, options: PlanOptions, terminal: PlanTerminal): Promise<Forecast> {
  await using open = await openCluster(source, terminal.io)
  const snapshot = await readSnapshot(open.client, key, { nowMs: open.clock.nowMs() }).catch((error: unknown) => {
    throw explained(error, open.cluster)
  })
  return await foretell(snapshot, options, terminal)
}

async function foretell(
  snapshot: ClusterSnapshot,
  { files, recursive, request }: PlanOptions,
  { io, progress }: PlanTerminal,
): Promise<Forecast> {
  progress.say('plays the release on a copy of the cluster')
  const found = findFiles(files, recursive)
  const texts = await Promise.all(found.map(async (file) => readDocuments(file, await readText(file, io))))
  const manifests = files.length === 0 ? {} : planManifests(texts.flat(), snapshot)
  const programs = { createSharedClusterCache, startController, startExecutor }
  const onProgress = (done: number, total: number): void => progress.say(`${done} of ${total} nodes played`)
  return forecast(snapshot, request, programs, { manifests, onProgress })
}

function filesOverRest(): AppError {
  return new AppError('OPTION_INVALID', '--filename stands beside --server, which plans an image or what is under way', {
    hint: 'Leave --server out: the cluster is then read with your kubeconfig.',
  })
}
