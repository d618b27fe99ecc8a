/**
 * Measures on the real clock how close a release comes to the optimum for its budget and pods. Runs `tranche sim`, `tranche controller` and
 * `tranche executor` as processes.
 *
 *   node scripts/bench/paced-release.ts                       300 and 1,000 nodes, budgets of 1 %, 5 % and 10 %: 12 minutes
 *   node scripts/bench/paced-release.ts --nodes 300 --budget 10   a single run
 *
 * Steps of 10 %, 50 % and 100 % without pauses; a pod takes 0.5 s to stop and 2 to 3 s to start. The slots are measured in the same run, so
 * a busy machine slows down the pods but does not improve the ratio. Prints one line of JSON for each run, {@link PacedRelease}, and exits
 * with 1 if a guarantee is broken. The limits are in scripts/bench.ts.
 */
import { parseArgs } from 'node:util'
import { type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import { type RecordedWrite, releasePace } from '../../packages/simulator/recording/src/index.ts'
import { countReady, installExamples, newImage, readRollout, runStage, type Stage, stageKey } from '../staged-release.ts'

/** Result of one run. */
export interface PacedRelease {
  readonly nodes: number
  /** maxUnavailable in nodes. */
  readonly limit: number
  readonly makespanSeconds: number
  /** Makespan divided by the ideal makespan for the same slots. */
  readonly ratio: number
  readonly reactionP50Ms: number
  readonly reactionP99Ms: number
}

const { values } = parseArgs({
  options: { nodes: { type: 'string' }, budget: { type: 'string' }, keep: { type: 'boolean', default: false } },
})
const steps = [{ replicas: '10%', pause: { duration: 0 } }, { replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }]

let code = 0
for (const nodes of values.nodes === undefined ? [300, 1000] : [Number(values.nodes)]) {
  for (const percent of values.budget === undefined ? [10, 5, 1] : [Number(values.budget)]) {
    if (!(await release(nodes, Math.ceil((nodes * percent) / 100)))) code = 1
  }
}
process.exitCode = code

async function release(nodes: number, limit: number): Promise<boolean> {
  let seen: PacedRelease | undefined
  const measure = (writes: readonly RecordedWrite[]): void => void (seen = paced(writes, nodes, limit))
  const options = { name: 'paced-release', nodes, keep: values.keep, watchDelayMs: '0', measure }
  const code = await runStage(options, (stage, client) => play(stage, client, limit))
  if (code !== 0 || seen === undefined) return false
  console.log(JSON.stringify(seen))
  return true
}

async function play(stage: Stage, client: KubeClient, limit: number): Promise<void> {
  const { nodes, kubeconfig, until } = stage
  stage.start('controller', ['controller', '--kubeconfig', kubeconfig])
  stage.start('executor', ['executor', '--kubeconfig', kubeconfig])
  await installExamples(stage, client, steps)
  await client.patch(resourcePaths.daemonSets, stageKey, {
    type: 'merge',
    body: { spec: { minReadySeconds: 0, updateStrategy: { rollingUpdate: { maxUnavailable: limit } } } },
  })
  await until('the cluster is at rest', async () => (await readRollout(client)).status?.phase === 'Healthy', 60)
  await setTemplate(client)
  await until('the release has begun', async () => (await readRollout(client)).status?.phase === 'Progressing', 60)
  await until('the release is over', async () => (await readRollout(client)).status?.phase === 'Healthy', 30 + (6 * nodes) / limit)
  await until('every node runs the new version', async () => (await countReady(client, newImage)) === nodes, 30)
}

async function setTemplate(client: KubeClient): Promise<void> {
  const annotations = { 'sim.tranche.dev/start-ms': '2000', 'sim.tranche.dev/jitter-ms': '1000', 'sim.tranche.dev/stop-ms': '500' }
  const body = { spec: { template: { metadata: { annotations }, spec: { containers: [{ name: 'agent', image: newImage }] } } } }
  await client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
}

function paced(writes: readonly RecordedWrite[], nodes: number, limit: number): PacedRelease {
  const { makespanMs, idealMs, reactionsMs } = releasePace(writes, { daemonSet: stageKey.name, sinceMs: 0, limit })
  const at = (share: number): number => round(reactionsMs[Math.min(reactionsMs.length - 1, Math.floor(reactionsMs.length * share))] ?? 0)
  return {
    nodes,
    limit,
    makespanSeconds: round(makespanMs / 1000),
    ratio: Math.round((makespanMs / idealMs) * 10_000) / 10_000,
    reactionP50Ms: at(0.5),
    reactionP99Ms: at(0.99),
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
