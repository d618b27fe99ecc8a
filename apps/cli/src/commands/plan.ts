import { type ClusterSnapshot, type Forecast, type ForecastRequest, INJECTED_FAULT_FORMS, injectedFaultPattern } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { readSnapshot } from '@tranche/release-client'
import type { CommandIo } from '../process/command-io.ts'
import type { ObjectKey } from '@tranche/kube-types'
import { explained } from '../release-client/explain-error.ts'
import { findRollout } from '../release-client/find-rollout.ts'
import { openCluster, openSession, type CommandSession } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import { findFiles } from '../lint/find-files.ts'
import { readDocuments } from '../lint/read-documents.ts'
import type { AccessOptions, ClusterSource, OutputOptions, ServerSource } from '../options/access-options.ts'
import { createProgress, type ProgressLine } from '../terminal/create-progress.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import type { ForecastRelease } from '../plan/forecast-release.ts'
import { invalid } from '../options/option-values.ts'
import { planManifests } from '../plan/plan-manifests.ts'
import { planView } from '../view/reports/plan-view.ts'
import { readText } from './lint.ts'

/** Options of `plan`. */
export interface PlanOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  /** Name as on the command line; undefined: the only Rollout of the namespace. */
  readonly name: string | undefined
  /** Files or folders of manifests to plan; `-` is standard input. */
  readonly files: readonly string[]
  /** Whether to include subfolders. */
  readonly recursive: boolean
  readonly request: ForecastRequest
}

/**
 * Simulates a release in virtual time on a copy of the cluster, and prints the forecast.
 *
 * @returns failed if the release would not complete
 * @throws {AppError} OPTION_INVALID for a text that is no fault
 */
export async function plan(options: PlanOptions, io: CommandIo, forecastRelease: ForecastRelease): Promise<ExitCode> {
  const { access, output } = options
  checkFaults(options.request.if ?? [])
  await using session = await openSession(access, io)
  const progress = createProgress(io)
  const result = await planWithProgress(session, options, { io, progress, forecastRelease }).finally(progress.clear)
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(result, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: session.clock.nowMs() })
    io.out.write(`${planView(result, drawing, output.format === 'wide').join('\n')}\n`)
  }
  return result.outcome === 'Completes' ? exitCodes.done : exitCodes.failed
}

function checkFaults(faults: readonly string[]): void {
  const wrong = faults.find((text) => !injectedFaultPattern.test(text.trim()))
  if (wrong !== undefined) throw invalid('--if', wrong, `write one of: ${INJECTED_FAULT_FORMS}`)
}

/** Streams, progress line and simulation of a plan. */
interface PlanParts {
  readonly io: CommandIo
  readonly progress: ProgressLine
  readonly forecastRelease: ForecastRelease
}

/** Shows progress on a terminal: a large cluster takes long. */
async function planWithProgress(session: CommandSession, options: PlanOptions, parts: PlanParts): Promise<Forecast> {
  const { source } = options.access
  parts.progress.say('reading the cluster')
  const key = await findRollout(session.releaseClient, session.namespace, { named: options.name, command: 'plan' })
  // Reports a wrong name, address or missing permission as every other command does.
  await session.releaseClient.report(key)
  if (source.kind === 'cluster') return askCluster(source, key, options, parts)
  parts.progress.say('waiting for the server to simulate the release')
  return askServer(source, key, options)
}

/** The server runs the simulation, which takes longer than other requests. */
async function askServer(source: ServerSource, key: ObjectKey, { files, request }: PlanOptions): Promise<Forecast> {
  if (files.length > 0) throw filesOverRest()
  const { openRestClient } = await import('../release-client/open-rest.ts')
  return openRestClient(source).plan(key, request, { deadlineMs: SERVER_DEADLINE_MS })
}

const SERVER_DEADLINE_MS = 90_000

async function askCluster(source: ClusterSource, key: ObjectKey, options: PlanOptions, parts: PlanParts): Promise<Forecast> {
  await using open = await openCluster(source, parts.io)
  const snapshot = await readSnapshot(open.client, key, { nowMs: open.clock.nowMs() }).catch((error: unknown) => {
    throw explained(error, open.cluster)
  })
  return await foretell(snapshot, options, parts)
}

async function foretell(
  snapshot: ClusterSnapshot,
  { files, recursive, request }: PlanOptions,
  { io, progress, forecastRelease }: PlanParts,
): Promise<Forecast> {
  progress.say('simulating the release on a copy of the cluster')
  const found = findFiles(files, recursive)
  const texts = await Promise.all(found.map(async (file) => readDocuments(file, await readText(file, io))))
  const manifests = files.length === 0 ? {} : planManifests(texts.flat(), snapshot)
  const onProgress = (done: number, total: number): void => progress.say(`simulated ${done} of ${total} nodes`)
  return forecastRelease(snapshot, request, { manifests, onProgress })
}

function filesOverRest(): AppError {
  return new AppError('OPTION_INVALID', '--filename cannot be combined with --server, which plans an image or the release in progress', {
    hint: 'Leave --server out to read the cluster by kubeconfig.',
  })
}
