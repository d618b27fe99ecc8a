/**
 * Measures controller, executor and REST API on a large cluster: as their containers start them, with a real Redis, and as one process; with
 * and without unrelated pods. Prints one JSON object, {@link MemoryRun}.
 *
 *   node scripts/bench/memory-run.ts                 1,000 nodes, 20 DaemonSets, 30,000 unrelated pods; 16 minutes
 *   node scripts/bench/memory-run.ts 200 5 2000 1    another size, and once instead of three times
 *
 * The simulated cluster runs in its own process. Twenty unrelated pods per second change while the processes are idle.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { findRedis, startRedis } from '../redis-server.ts'
import { handOver, leaderOf, type NamedController } from './hand-over.ts'
import { type Component, type MeasuredProcess, type Memory, startMeasured } from './measured-process.ts'
import { type ClusterSize, type MemoryCluster, startMemoryCluster } from './memory-cluster.ts'

/** Memory and start time of one process, in megabytes (10⁶ bytes) and milliseconds. */
export interface ProcessFigures extends Memory {
  readonly readyMs: number
  /** Processor time while idle, in milliseconds per second. */
  readonly idleCpuMs: number
}

/** Results of all processes in one round. `standby` is a controller that does not lead. */
export type Round = Readonly<Record<'leader' | 'standby' | 'executor' | 'api' | 'all-in-one', ProcessFigures>> & {
  /** Milliseconds to list everything without parsing the answers. */
  readonly listMs: number
}

/** Results of all rounds. */
export interface MemoryRun {
  readonly without: readonly Round[]
  readonly withForeign: readonly Round[]
  /** Milliseconds from the signal until another controller has acted as leader. */
  readonly handOver: { readonly stoppedMs: readonly number[]; readonly killedMs: readonly number[] }
}

const STOPS = 5
const KILLS = 3
/** Idle time of the processes before they are measured, in milliseconds. */
const REST_MS = 30_000

/** Runs all measurements on one cluster, and ends the processes that it started. */
export async function measureMemory(size: ClusterSize, rounds: number): Promise<MemoryRun> {
  await using cleanup = new AsyncDisposableStack()
  const stage = await openMemoryStage(size, cleanup)
  const without: Round[] = []
  for (let round = 0; round < rounds; round++) without.push(await playRound(stage, false))
  await stage.cluster.addForeign()
  const withForeign: Round[] = []
  for (let round = 0; round < rounds; round++) withForeign.push(await playRound(stage, true))
  return { without, withForeign, handOver: await measureHandOver(stage) }
}

/** Bundled programs, a cluster, and the address of a Redis. */
export interface MemoryStage {
  readonly image: string
  readonly cluster: MemoryCluster
  readonly redis: string
  /** Time limit for a process to be ready, in seconds. @default that of a measured process */
  readonly readyWithinSeconds?: number
}

/** Bundles the programs, and starts a cluster and a Redis. @param cleanup ends what was started */
export async function openMemoryStage(size: ClusterSize, cleanup: AsyncDisposableStack): Promise<MemoryStage> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const image = join(folder, 'image')
  await promisify(execFile)(process.execPath, ['scripts/bundle-cli.ts', image])
  const found = await findRedis()
  if ('missing' in found) throw new Error(found.missing)
  const redis = cleanup.adopt(await startRedis({ program: found.program }), (server) => server.dispose())
  const cluster = cleanup.adopt(await startMemoryCluster(image, folder, size), (started) => started.stop())
  return { image, cluster, redis: `redis://127.0.0.1:${redis.port}` }
}

/** Starts all processes, lets them rest, and measures them. @param isDisturbed whether unrelated pods change meanwhile */
export async function playRound(stage: MemoryStage, isDisturbed: boolean): Promise<Round> {
  const listMs = await stage.cluster.listMs()
  return { ...(await playApart(stage, isDisturbed)), 'all-in-one': await playAllInOne(stage, isDisturbed), listMs }
}

async function playApart(stage: MemoryStage, isDisturbed: boolean): Promise<Omit<Round, 'all-in-one' | 'listMs'>> {
  await using cleanup = new AsyncDisposableStack()
  const start = async (component: Component, name: string): Promise<MeasuredProcess> =>
    cleanup.adopt(await startOne(stage, component, name), (started) => started.stop())
  const leader = await start('controller', 'leader')
  await leaderOf(stage.cluster.client, [{ name: 'leader', process: leader }])
  const processes = {
    leader,
    standby: await start('controller', 'standby'),
    executor: await start('executor', 'executor'),
    api: await start('api', 'api'),
  }
  const figures = await restAndMeasure(stage, isDisturbed, Object.values(processes))
  const [leaderFigures, standby, executor, api] = figures as [ProcessFigures, ProcessFigures, ProcessFigures, ProcessFigures]
  return { leader: leaderFigures, standby, executor, api }
}

/** The controller leads, because the others have ended. */
async function playAllInOne(stage: MemoryStage, isDisturbed: boolean): Promise<ProcessFigures> {
  await using cleanup = new AsyncDisposableStack()
  const name = 'all-in-one'
  const process = cleanup.adopt(await startOne(stage, name, name), (started) => started.stop())
  await leaderOf(stage.cluster.client, [{ name, process }])
  const [figures] = await restAndMeasure(stage, isDisturbed, [process])
  return figures!
}

async function restAndMeasure(
  { cluster }: MemoryStage,
  isDisturbed: boolean,
  processes: readonly MeasuredProcess[],
): Promise<readonly ProcessFigures[]> {
  const before = processes.map((process) => process.busySeconds())
  const isOver = AbortSignal.timeout(REST_MS)
  await (isDisturbed ? cluster.disturb(isOver) : sleep(REST_MS))
  const idleCpuMs = processes.map((process, at) => ((process.busySeconds() - before[at]!) * 1_000_000) / REST_MS)
  const figures: ProcessFigures[] = []
  for (const [at, { readyMs, measure }] of processes.entries()) figures.push({ readyMs, idleCpuMs: idleCpuMs[at]!, ...(await measure()) })
  return figures
}

/** Starts a program as its container does. @param name prefix of its identity */
export function startOne(
  { image, cluster, redis, readyWithinSeconds }: MemoryStage,
  component: Component,
  name: string,
): Promise<MeasuredProcess> {
  const args = ['--kubeconfig', cluster.kubeconfig]
  const shared = component === 'all-in-one' ? [] : ['--redis', redis]
  const own = component === 'api' ? [] : ['--identity', name, ...shared]
  return startMeasured({ component, image, args: [...args, ...own], env: containerEnv(component), readyWithinSeconds })
}

/** Node.js limits the heap to half of the container's limit; the other options are those of the chart. */
export function containerEnv(component: Component): Record<string, string> {
  const values = parse(readFileSync('charts/tranche/values.yaml', 'utf8')) as Record<string, ComponentValues>
  const { nodeOptions, resources } = values[component === 'all-in-one' ? 'allInOne' : component]!
  const [, size, unit] = /^(\d+)([MG])i$/.exec(resources.limits.memory) ?? []
  const limit = Number(size) * (unit === 'G' ? 1024 : 1)
  return { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: `${nodeOptions} --max-old-space-size=${limit / 2}`, MALLOC_ARENA_MAX: '1' }
}

interface ComponentValues {
  readonly nodeOptions: string
  readonly resources: { readonly limits: { readonly memory: string } }
}

async function measureHandOver(stage: MemoryStage): Promise<MemoryRun['handOver']> {
  await using cleanup = new AsyncDisposableStack()
  const { client } = stage.cluster
  let count = 0
  const another = async (): Promise<NamedController> => {
    const name = `controller-${count++}`
    return { name, process: cleanup.adopt(await startOne(stage, 'controller', name), (started) => started.stop()) }
  }
  let controllers: readonly NamedController[] = [await another(), await another()]
  const times = async (rounds: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<readonly number[]> => {
    const values: number[] = []
    for (let round = 0; round < rounds; round++) {
      const leader = await leaderOf(client, controllers)
      values.push(await handOver(client, leader, signal))
      controllers = [...controllers.filter((one) => one !== leader), await another()]
    }
    return values
  }
  return { stoppedMs: await times(STOPS, 'SIGTERM'), killedMs: await times(KILLS, 'SIGKILL') }
}

if (import.meta.main) {
  const [nodes = 1_000, daemonSets = 20, foreign = 30_000, rounds = 3] = process.argv.slice(2).map(Number)
  console.log(JSON.stringify(await measureMemory({ nodes, daemonSets, foreign }, rounds)))
}
