/**
 * Plays a release with programs as processes of the operating system, does to them what happens to machines, and judges
 * the recording. Takes two to three minutes; not part of `pnpm test`.
 *
 *   pnpm exec node scripts/two-executors.ts             30 nodes
 *   pnpm exec node scripts/two-executors.ts --nodes 60  another size
 *   pnpm exec node scripts/two-executors.ts --keep      leave the recording and the logs, and say where
 *
 * `tranche sim`, one `tranche controller`, two `tranche executor`; the manifests of examples/. In mid-batch one executor is
 * stopped (SIGSTOP) for a minute and the other killed (SIGKILL), a third takes its place; the release is paused, the
 * stopped executor comes back into the pause, and the release goes on to its end.
 *
 * Prints one line that begins with `kept` (exit 0) or `broken` (exit 1): whether every node was updated, and whether a
 * deletion that the API server accepted breaks G1, G2, G3, G4 or G9. Ends no process but its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import type { Rollout } from '../packages/api-schema/src/index.ts'
import { systemClock } from '../packages/clock/src/index.ts'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
} from '../packages/kube-client/src/index.ts'
import type { Pod } from '../packages/kube-types/src/index.ts'
import { silentLogger } from '../packages/log/src/index.ts'
import { countDeletions, findBreaches, readRecording } from '../packages/recording/src/index.ts'

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '30' }, keep: { type: 'boolean', default: false } } })
const nodes = Number(values.nodes)
const key = { namespace: 'default', name: 'node-agent' }
const folder = mkdtempSync(join(tmpdir(), 'tranche-two-executors-'))
const recording = join(folder, 'recording.jsonl')
const kubeconfig = join(folder, 'kubeconfig')
const children = new Set<ChildProcess>()
/** Everybody who comes with the kubeconfig is `admin`; nobody but executors deletes pods with it here. */
const query = { daemonSet: key.name, isOurs: (actor: string) => actor === 'admin', watchLagMs: 5_000 }
const startedMs = performance.now()
const newImage = 'registry.k8s.io/pause:3.10'
const quickSteps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: { duration: 3 } }, { replicas: '100%' }]

process.exitCode = await main()

async function main(): Promise<number> {
  let code = 1
  try {
    await play()
    await endAll()
    code = judge()
  } catch (error) {
    console.log(`broken: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await endAll()
    if (code === 0 && !values.keep) rmSync(folder, { recursive: true, force: true })
    else console.error(`logs and recording: ${folder}`)
  }
  return code
}

async function play(): Promise<void> {
  const readyFile = join(folder, 'ready.json')
  const seed = ['--nodes', String(nodes), '--no-demo', '--record', recording, '--ready-file', readyFile, '--kubeconfig', kubeconfig]
  start('sim', ['sim', ...seed])
  await until('the API server answers', () => existsSync(readyFile), 30)
  await using cleanup = new AsyncDisposableStack()
  const sockets = cleanup.adopt(createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig })), (open) =>
    open.close(),
  )
  const client = createKubeClient({ exchange: sockets.exchange, clock: systemClock, log: silentLogger, userAgent: 'two-executors/1' })
  start('controller', ['controller', '--kubeconfig', kubeconfig])
  const first = startExecutor('executor-1')
  const second = startExecutor('executor-2')

  await client.create(resourcePaths.daemonSets, manifest('daemonset.yaml') as never)
  await client.create(resourcePaths.rollouts, manifest('rollout.yaml') as never)
  await patchRollout(client, { spec: { strategy: { canary: { steps: quickSteps } } } })
  await until('every node runs the first version', async () => (await readyPods(client, '')).length === nodes, 60)
  await until('the Rollout is Healthy', async () => (await rollout(client)).status?.phase === 'Healthy', 60)

  await setTemplate(client)
  await until('step 1 is paused', async () => (await rollout(client)).status?.currentStepState === 'StepPaused', 120)
  await approve(client)
  await disturb(client, first, second)
  await until('the release is over', async () => (await rollout(client)).status?.phase === 'Healthy', 300)
  await until('every node runs the new version', async () => (await readyPods(client, newImage)).length === nodes, 30)
}

/** In mid-batch: one executor stops for a minute, the other dies; a pause in which the first comes back. */
async function disturb(client: KubeClient, first: ChildProcess, second: ChildProcess): Promise<void> {
  const updated = async (count: number): Promise<void> =>
    until(`${count} nodes are updated`, async () => (await readyPods(client, newImage)).length >= count, 120)
  const step = Math.ceil(nodes / 10)
  await updated(step + 1)
  say('stops executor-1')
  first.kill('SIGSTOP')
  const stoppedMs = performance.now()
  await updated(2 * step)
  say('kills executor-2 and starts executor-3')
  second.kill('SIGKILL')
  startExecutor('executor-3')
  await updated(3 * step)
  say('pauses the release')
  await patchRollout(client, { spec: { strategy: { paused: true } } })
  await until('the pause is acknowledged', async () => isPaused(await rollout(client)), 60)
  await sleep(Math.max(0, 60_000 - (performance.now() - stoppedMs)))
  say('lets executor-1 go on, into the pause')
  first.kill('SIGCONT')
  await sleep(8_000)
  say('resumes the release')
  await patchRollout(client, { spec: { strategy: { paused: false } } })
}

function judge(): number {
  const writes = readRecording(readFileSync(recording, 'utf8').split('\n'))
  const breaches = findBreaches(writes, query)
  for (const { guarantee, atMs, node, text } of breaches) console.error(`${guarantee} ${new Date(atMs).toISOString()} ${node}: ${text}`)
  const deletions = countDeletions(writes, query)
  const took = `${Math.round((performance.now() - startedMs) / 1000)} s`
  if (breaches.length === 0 && deletions > 0) {
    console.log(`kept: ${nodes} nodes released in ${took} by ${deletions} deletions, none of which breaks G1, G2, G3, G4 or G9`)
    return 0
  }
  console.log(
    `broken: ${breaches.length} of ${deletions} deletions break ${[...new Set(breaches.map(({ guarantee }) => guarantee))].join(', ')}`,
  )
  return 1
}

function startExecutor(name: string): ChildProcess {
  return start(name, ['executor', '--kubeconfig', kubeconfig, '--identity', name])
}

/** Starts the command as a process of its own, its words in a file. */
function start(name: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'w')
  const child = spawn(process.execPath, ['apps/cli/bin/tranche.mjs', ...args], { stdio: ['ignore', log, log] })
  closeSync(log)
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Asks each of our own processes to end, and ends those that do not. */
async function endAll(): Promise<void> {
  const running = [...children]
  for (const child of running) child.kill('SIGCONT')
  for (const child of running) child.kill('SIGTERM')
  for (let waitedMs = 0; children.size > 0 && waitedMs < 20_000; waitedMs += 100) await sleep(100)
  for (const child of children) child.kill('SIGKILL')
}

async function until(what: string, done: () => Promise<boolean> | boolean, withinSeconds: number): Promise<void> {
  const endMs = performance.now() + withinSeconds * 1000
  while (!(await done())) {
    if (performance.now() > endMs) throw new Error(`"${what}" did not come true within ${withinSeconds} s`)
    await sleep(200)
  }
  say(what)
}

function say(what: string): void {
  console.error(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${what}`)
}

function manifest(file: string): object {
  const object = parse(readFileSync(`examples/${file}`, 'utf8')) as { readonly metadata: object }
  return { ...object, metadata: { ...object.metadata, namespace: key.namespace } }
}

async function rollout(client: KubeClient): Promise<Rollout> {
  return client.get<Rollout>(resourcePaths.rollouts, key)
}

function isPaused({ metadata, status }: Rollout): boolean {
  const says = status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
  return says && status?.observedGeneration === metadata.generation
}

async function patchRollout(client: KubeClient, body: object): Promise<void> {
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body })
}

async function approve(client: KubeClient): Promise<void> {
  const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body }, { subresource: 'status' })
}

/** A new image whose pods start slowly, so that a batch has a middle. */
async function setTemplate(client: KubeClient): Promise<void> {
  const annotations = { 'sim.tranche.dev/start-ms': '3000', 'sim.tranche.dev/jitter-ms': '1500' }
  const body = { spec: { template: { metadata: { annotations }, spec: { containers: [{ name: 'agent', image: newImage }] } } } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
}

async function readyPods(client: KubeClient, image: string): Promise<readonly Pod[]> {
  const { items } = await client.list<Pod>(resourcePaths.pods, { namespace: key.namespace })
  return items.filter((pod) => JSON.stringify(pod.spec).includes(image) && isReady(pod))
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  return ready && metadata.deletionTimestamp === undefined
}
