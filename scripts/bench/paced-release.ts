/**
 * Measures on the real clock how close a release comes to the optimum for its budget and pods. Runs `tranche sim`, `tranche controller` and
 * `tranche executor` as processes.
 *
 *   node scripts/bench/paced-release.ts                       300 and 1,000 nodes, budgets of 1 %, 5 % and 10 %: 12 minutes
 *   node scripts/bench/paced-release.ts --nodes 300 --budget 10   a single run
 *
 * Steps of 10 %, 50 % and 100 % without pauses; a pod takes 0.5 s to stop and 2 to 3 s to start. The slots are measured in the same run, so
 * a busy machine slows down the pods but does not improve the ratio. Prints one line of JSON for each run, {@link PacedRelease}, and exits
 * with 1 if a guarantee is broken. The limits are in scripts/bench/sets/paced.ts.
 */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import { type RecordedWrite, releasePace } from '../../packages/simulator/recording/src/index.ts'
import { busySeconds, peakMegabytes, resetPeak } from './measured-process.ts'
import { containerEnv } from './memory-run.ts'
import { quantile } from './sets/quantile.ts'
import { countReady, installExamples, newImage, readRollout, runStage, type Stage, stageKey } from '../staged-release.ts'

/** Result of one run. */
export interface PacedRelease {
  readonly nodes: number
  /** maxUnavailable in nodes. */
  readonly limit: number
  readonly makespanSeconds: number
  /** Makespan divided by the ideal makespan for the same slots. */
  readonly ratio: number
  /** Makespan from the change of the DaemonSet, divided by the lower bound with and without batches. */
  readonly boundRatio: number
  readonly boundWithoutBatchesRatio: number
  readonly firstDeletionMs: number
  /** Use of each program during the release. */
  readonly controller: ProcessUse
  readonly executor: ProcessUse
  readonly reactionP50Ms: number
  readonly reactionP99Ms: number
}

/** Processor time per node in milliseconds, and peak memory in megabytes (10⁶ bytes). */
export interface ProcessUse {
  readonly cpuMsPerNode: number
  readonly peakRss: number
}

const { values } = parseArgs({
  options: { nodes: { type: 'string' }, budget: { type: 'string' }, keep: { type: 'boolean', default: false } },
})
const steps = [{ replicas: '10%', pause: { duration: 0 } }, { replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }]

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
execFileSync(process.execPath, ['scripts/bundle-cli.ts', join(folder, 'image')])
const program = join(folder, 'image/bin/tranche.mjs')

let code = 0
for (const nodes of values.nodes === undefined ? [300, 1000] : [Number(values.nodes)]) {
  for (const percent of values.budget === undefined ? [10, 5, 1] : [Number(values.budget)]) {
    if (!(await release(nodes, Math.ceil((nodes * percent) / 100)))) code = 1
  }
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = code

async function release(nodes: number, limit: number): Promise<boolean> {
  let seen: PacedRelease | undefined
  let used: Used | undefined
  const measure = (writes: readonly RecordedWrite[]): void => void (used && (seen = paced(writes, { nodes, limit }, used)))
  const options = { name: 'paced-release', nodes, keep: values.keep, watchDelayMs: '0', measure, program }
  const code = await runStage(options, async (stage, client) => void (used = await play(stage, client, limit)))
  if (code !== 0 || seen === undefined) return false
  console.log(JSON.stringify(seen))
  return true
}

type Used = Pick<PacedRelease, 'controller' | 'executor'>

async function play(stage: Stage, client: KubeClient, limit: number): Promise<Used> {
  const { nodes, kubeconfig, until } = stage
  const start = (name: 'controller' | 'executor'): ChildProcess => {
    const { NODE_OPTIONS = '' } = containerEnv(name)
    return stage.start(name, [name, '--kubeconfig', kubeconfig], { NODE_OPTIONS, MALLOC_ARENA_MAX: '1' })
  }
  const [controller, executor] = [start('controller'), start('executor')]
  await installExamples(stage, client, steps)
  await client.patch(resourcePaths.daemonSets, stageKey, {
    type: 'merge',
    body: { spec: { minReadySeconds: 0, updateStrategy: { rollingUpdate: { maxUnavailable: limit } } } },
  })
  await until('the cluster is at rest', async () => (await readRollout(client)).status?.phase === 'Healthy', 60)
  const uses = [controller, executor].map((child) => meter(child, nodes))
  await setTemplate(client)
  await until('the release has begun', async () => (await readRollout(client)).status?.phase === 'Progressing', 60)
  await until('the release is over', async () => (await readRollout(client)).status?.phase === 'Healthy', 60 + (6 * nodes) / limit)
  await until('every node runs the new version', async () => (await countReady(client, newImage)) === nodes, 60)
  return { controller: uses[0]!(), executor: uses[1]!() }
}

/** @returns function that returns what the process used since now */
function meter(child: ChildProcess, nodes: number): () => ProcessUse {
  resetPeak(child)
  const before = busySeconds(child)
  return () => ({ cpuMsPerNode: round(((busySeconds(child) - before) * 1000) / nodes), peakRss: round(peakMegabytes(child)) })
}

async function setTemplate(client: KubeClient): Promise<void> {
  const annotations = { 'sim.tranche.dev/start-ms': '2000', 'sim.tranche.dev/jitter-ms': '1000', 'sim.tranche.dev/stop-ms': '500' }
  const body = { spec: { template: { metadata: { annotations }, spec: { containers: [{ name: 'agent', image: newImage }] } } } }
  await client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
}

function paced(writes: readonly RecordedWrite[], { nodes, limit }: Pick<PacedRelease, 'nodes' | 'limit'>, used: Used): PacedRelease {
  const pace = releasePace(writes, { daemonSet: stageKey.name, sinceMs: 0, limit })
  const { makespanMs, idealMs, boundMs, boundWithoutBatchesMs, reactionsMs } = pace
  const firstDeletionMs = pace.firstDeletionMs ?? Number.NaN
  const ratio = (value: number): number => Math.round(value * 10_000) / 10_000
  return {
    nodes,
    limit,
    makespanSeconds: round(makespanMs / 1000),
    ratio: ratio(makespanMs / idealMs),
    boundRatio: ratio((makespanMs + firstDeletionMs) / boundMs),
    boundWithoutBatchesRatio: ratio((makespanMs + firstDeletionMs) / boundWithoutBatchesMs),
    firstDeletionMs: round(firstDeletionMs),
    reactionP50Ms: round(quantile(reactionsMs, 0.5)),
    reactionP99Ms: round(quantile(reactionsMs, 0.99)),
    ...used,
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
