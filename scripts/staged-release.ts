/** Common code of the demonstrations: programs as processes, a release with them, and the check of its recording. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import type { Rollout } from '../packages/words/api-schema/src/index.ts'
import { systemClock } from '../packages/words/clock/src/index.ts'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
} from '../packages/adapters/kube-client/src/index.ts'
import type { Pod } from '../packages/words/kube-types/src/index.ts'
import { silentLogger } from '../packages/words/telemetry/src/index.ts'
import { countDeletions, findBreaches, readRecording, type RecordedWrite } from '../packages/simulator/recording/src/index.ts'

/** Options of a demonstration. */
export interface StageOptions {
  /** Name of the script and of its temporary folder. */
  readonly name: string
  readonly nodes: number
  /** Whether to keep recording and logs after success. */
  readonly keep: boolean
  /** Value of the simulator's `--watch-delay-ms`. */
  readonly watchDelayMs?: string
  /** File that Node.js runs as `tranche`. @default the launcher of the checkout */
  readonly program?: string
  /** Checks the recording of a release that kept every guarantee. */
  readonly measure?: (writes: readonly RecordedWrite[]) => void
}

/** A simulated cluster as a process, and all other started processes. */
export interface Stage {
  readonly nodes: number
  readonly kubeconfig: string
  /** Starts the tranche command as a process, with its output in a file of that name. */
  start(name: string, args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess
  /** Prints a line of progress with the time since the start. */
  say(what: string): void
  /** Waits until a condition is true, and prints it. @throws if it does not become true in time */
  until(what: string, isTrue: () => Promise<boolean> | boolean, withinSeconds: number): Promise<void>
}

/** The key of the DaemonSet and the Rollout of `examples/`. */
export const stageKey = { namespace: 'default', name: 'node-agent' }
/** Image that a staged release rolls out. */
export const newImage = 'registry.k8s.io/pause:3.10'
/** Only executors delete pods here; every user of the kubeconfig is `admin`. */
const query = { daemonSet: stageKey.name, isOurs: (actor: string) => actor === 'admin', watchLagMs: 5_000 }

/**
 * Starts the simulator, runs the play, ends all started processes, and checks the recording. The last printed line begins with `kept` or
 * `broken`.
 *
 * @returns the exit code: 0 if the play completed and no deletion breaks G1, G2, G3, G4 or G9
 */
export async function runStage(options: StageOptions, play: (stage: Stage, client: KubeClient) => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  const folder = mkdtempSync(join(tmpdir(), `tranche-${options.name}-`))
  const recording = join(folder, 'recording.jsonl')
  const children = new Set<ChildProcess>()
  const stage = createStage(options, { folder, startedMs, children })
  let code = 1
  try {
    await using cleanup = new AsyncDisposableStack()
    await play(stage, await startCluster(stage, { ...options, folder, recording }, cleanup))
    await endAll(children)
    code = judge(recording, options, startedMs)
  } catch (error) {
    console.log(`broken: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await endAll(children)
    if (code === 0 && !options.keep) rmSync(folder, { recursive: true, force: true })
    else console.error(`logs and recording: ${folder}`)
  }
  return code
}

interface StageParts {
  readonly folder: string
  readonly startedMs: number
  readonly children: Set<ChildProcess>
}

function createStage(
  { nodes, program = 'apps/launcher/bin/tranche.mjs' }: StageOptions,
  { folder, startedMs, children }: StageParts,
): Stage {
  const say = (what: string): void => console.error(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${what}`)
  return {
    nodes,
    kubeconfig: join(folder, 'kubeconfig'),
    say,
    start(name, args, env = {}) {
      const log = openSync(join(folder, `${name}.log`), 'w')
      const command = [program, ...args]
      const child = spawn(process.execPath, command, { stdio: ['ignore', log, log], env: { ...process.env, ...env } })
      closeSync(log)
      children.add(child)
      child.once('exit', () => children.delete(child))
      return child
    },
    async until(what, isTrue, withinSeconds) {
      const endMs = performance.now() + withinSeconds * 1000
      while (!(await isTrue())) {
        if (performance.now() > endMs) throw new Error(`"${what}" did not become true within ${withinSeconds} s`)
        await sleep(200)
      }
      say(what)
    },
  }
}

async function startCluster(
  stage: Stage,
  {
    folder,
    recording,
    watchDelayMs = '0-20',
  }: Pick<StageOptions, 'watchDelayMs'> & { readonly folder: string; readonly recording: string },
  cleanup: AsyncDisposableStack,
): Promise<KubeClient> {
  const readyFile = join(folder, 'ready.json')
  const files = ['--record', recording, '--ready-file', readyFile, '--kubeconfig', stage.kubeconfig, '--watch-delay-ms', watchDelayMs]
  stage.start('sim', ['sim', '--nodes', String(stage.nodes), '--no-demo', ...files])
  await stage.until('the API server answers', () => existsSync(readyFile), 30)
  const cluster = await loadKubeConfig({ clock: systemClock, path: stage.kubeconfig })
  const { exchange } = cleanup.adopt(createUndiciExchange(cluster), (open) => open.close())
  return createKubeClient({ exchange, clock: systemClock, log: silentLogger, userAgent: 'staged-release/1' })
}

function judge(recording: string, { nodes, measure }: StageOptions, startedMs: number): number {
  const writes = readRecording(readFileSync(recording, 'utf8').split('\n'))
  const breaches = findBreaches(writes, query)
  for (const { guarantee, atMs, node, text } of breaches) console.error(`${guarantee} ${new Date(atMs).toISOString()} ${node}: ${text}`)
  const deletions = countDeletions(writes, query)
  const took = `${Math.round((performance.now() - startedMs) / 1000)} s`
  if (breaches.length === 0 && deletions > 0) {
    console.log(`kept: ${nodes} nodes released in ${took} by ${deletions} deletions, none of which breaks G1, G2, G3, G4 or G9`)
    measure?.(writes)
    return 0
  }
  const broken = [...new Set(breaches.map(({ guarantee }) => guarantee))].join(', ')
  console.log(`broken: ${breaches.length} of ${deletions} deletions break ${broken}`)
  return 1
}

/** Asks each started process to end, the cluster last, and kills those that do not end. */
async function endAll(children: ReadonlySet<ChildProcess>): Promise<void> {
  const [cluster, ...programs] = children
  await end(programs)
  if (cluster !== undefined) await end([cluster])
}

async function end(processes: readonly ChildProcess[]): Promise<void> {
  const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null
  for (const child of processes) child.kill('SIGCONT')
  for (const child of processes) child.kill('SIGTERM')
  for (let waitedMs = 0; processes.some(isRunning) && waitedMs < 20_000; waitedMs += 100) await sleep(100)
  for (const child of processes.filter(isRunning)) child.kill('SIGKILL')
}

/** Applies the manifests of `examples/` with different steps, and waits until the first version runs on every node. */
export async function installExamples({ nodes, until }: Stage, client: KubeClient, steps: readonly object[]): Promise<void> {
  await client.create(resourcePaths.daemonSets, manifest('daemonset.yaml') as never)
  await client.create(resourcePaths.rollouts, manifest('rollout.yaml') as never)
  await patchRollout(client, { spec: { strategy: { canary: { steps } } } })
  await until('every node runs the first version', async () => (await countReady(client, '')) === nodes, 120)
  await until('the Rollout is Healthy', async () => (await readRollout(client)).status?.phase === 'Healthy', 60)
}

function manifest(file: string): object {
  const object = parse(readFileSync(`examples/${file}`, 'utf8')) as { readonly metadata: object }
  return { ...object, metadata: { ...object.metadata, namespace: stageKey.namespace } }
}

/** @returns the current Rollout */
export function readRollout(client: KubeClient): Promise<Rollout> {
  return client.get<Rollout>(resourcePaths.rollouts, stageKey)
}

/** Patches the Rollout, as a user would. */
export async function patchRollout(client: KubeClient, body: object): Promise<void> {
  await client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body })
}

/** Approves the waiting step. */
export async function approve(client: KubeClient): Promise<void> {
  const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
  await client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
}

/** Sets a new image whose pods start slowly, so that a batch takes time. */
export async function setTemplate(client: KubeClient): Promise<void> {
  const annotations = { 'sim.tranche.dev/start-ms': '3000', 'sim.tranche.dev/jitter-ms': '1500' }
  const body = { spec: { template: { metadata: { annotations }, spec: { containers: [{ name: 'agent', image: newImage }] } } } }
  await client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
}

/** @returns the number of ready pods with `image` that are not terminating */
export async function countReady(client: KubeClient, image: string): Promise<number> {
  const { items } = await client.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  return items.filter((pod) => JSON.stringify(pod.spec).includes(image) && isReady(pod)).length
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  return ready && metadata.deletionTimestamp === undefined
}
