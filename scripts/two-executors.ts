/**
 * Runs a release with programs as processes, stops and kills them as machine failures would, and checks the recording. Takes two to three
 * minutes; not part of `pnpm test`.
 *
 * ```text
 * pnpm exec node scripts/two-executors.ts             30 nodes
 * pnpm exec node scripts/two-executors.ts --nodes 60  another size
 * pnpm exec node scripts/two-executors.ts --keep      keep the recording and the logs, and print their folder
 * ```
 *
 * It uses `tranche sim`, one `tranche controller`, two `tranche executor`, and the manifests of examples/. During a batch, one executor
 * is stopped (SIGSTOP) for a minute, and the other is killed (SIGKILL) and replaced by a third. The release is paused, the stopped
 * executor continues during the pause, and the release is resumed and ends.
 *
 * Prints one line that begins with `kept` (exit 0) or `broken` (exit 1). It reports whether every node was updated, and whether a
 * deletion that the API server accepted breaks G1, G2, G3, G4 or G9. Ends only processes that it started.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Rollout } from '../packages/words/api-schema/src/index.ts'
import type { KubeClient } from '../packages/adapters/kube-client/src/index.ts'
import {
  approve,
  countReady,
  installExamples,
  newImage,
  patchRollout,
  readRollout,
  runStage,
  setTemplate,
  type Stage,
} from './staged-release.ts'

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '30' }, keep: { type: 'boolean', default: false } } })
const quickSteps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 3 } }, { replicas: '100%' }]

process.exitCode = await runStage({ name: 'two-executors', nodes: Number(values.nodes), keep: values.keep }, play)

async function play(stage: Stage, client: KubeClient): Promise<void> {
  const { nodes, until } = stage
  stage.start('controller', ['controller', '--kubeconfig', stage.kubeconfig])
  const first = startExecutor(stage, 'executor-1')
  const second = startExecutor(stage, 'executor-2')
  await installExamples(stage, client, quickSteps)

  await setTemplate(client)
  await until('step 1 is paused', async () => (await readRollout(client)).status?.currentStepState === 'StepPaused', 120)
  await approve(client)
  await disturb(stage, client, first, second)
  await until('the release is over', async () => (await readRollout(client)).status?.phase === 'Healthy', 300)
  await until('every node runs the new version', async () => (await countReady(client, newImage)) === nodes, 30)
}

/** During a batch: stops one executor for a minute and kills the other; the first one continues during a pause. */
async function disturb(stage: Stage, client: KubeClient, first: ChildProcess, second: ChildProcess): Promise<void> {
  const { nodes, say, until } = stage
  const updated = (count: number): Promise<void> =>
    until(`${count} nodes are updated`, async () => (await countReady(client, newImage)) >= count, 120)
  const step = Math.ceil(nodes / 10)
  await updated(step + 1)
  say('stops executor-1')
  first.kill('SIGSTOP')
  const stoppedMs = performance.now()
  await updated(2 * step)
  say('kills executor-2 and starts executor-3')
  second.kill('SIGKILL')
  startExecutor(stage, 'executor-3')
  await updated(3 * step)
  say('pauses the release')
  await patchRollout(client, { spec: { strategy: { paused: true } } })
  await until('the pause is acknowledged', async () => isPaused(await readRollout(client)), 60)
  await sleep(Math.max(0, 60_000 - (performance.now() - stoppedMs)))
  say('continues executor-1 during the pause')
  first.kill('SIGCONT')
  await sleep(8_000)
  say('resumes the release')
  await patchRollout(client, { spec: { strategy: { paused: false } } })
}

function startExecutor(stage: Stage, name: string): ChildProcess {
  return stage.start(name, ['executor', '--kubeconfig', stage.kubeconfig, '--identity', name])
}

function isPaused({ metadata, status }: Rollout): boolean {
  const says = status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
  return says && status?.observedGeneration === metadata.generation
}
