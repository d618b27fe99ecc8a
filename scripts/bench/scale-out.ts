/**
 * Releases many DaemonSets at once with several executors on a real Redis. Every request of an executor takes 500 ms, so the processors of
 * this machine do not limit the executors. They start when the controller has opened all releases. Prints one JSON object, {@link ScaleOut}.
 *
 * ```text
 * node scripts/bench/scale-out.ts 4               4 executors, 200 DaemonSets on four nodes each
 * node scripts/bench/scale-out.ts 4 hot           one DaemonSet changes fifty times a second
 * node scripts/bench/scale-out.ts 4 fail-over     the master of Redis dies in the middle of the releases
 * node scripts/bench/scale-out.ts 2 plain 20      another number of DaemonSets
 * ```
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BatchRelease } from '../../packages/words/api-schema/src/index.ts'
import type { DaemonSet } from '../../packages/words/kube-types/src/index.ts'
import { type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import { findRedis } from '../redis-server.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { leaderOf } from './hand-over.ts'
import { openMemoryStage, startOne } from './memory-run.ts'
import { startWatchedRedis } from './sentinel.ts'
import { until } from './until.ts'

/** Result of one run. Times are seconds from the start of the executors. */
export interface ScaleOut {
  readonly executors: number
  readonly seconds: number
  readonly nodesPerSecond: number
  /** When the first, the middle and the last DaemonSet were completely updated, without the hot one. */
  readonly firstSeconds: number
  readonly medianSeconds: number
  readonly lastSeconds: number
  /** Updated nodes of the DaemonSet that is furthest behind, and the average, when half of all nodes were updated. */
  readonly behindAtHalf: number
  readonly averageAtHalf: number
  /** Processor time of each executor, in seconds. */
  readonly executorSeconds: readonly number[]
}

const NODES_EACH = 4
const GROUPS = 10
const LATENCY = '500ms'
const POLL_MS = 1_000
const HOT_EVERY_MS = 20
const HOT = 'agent-0'
const AT_ONCE = 16
const PATIENT = { deadlineMs: 120_000 }
const LONGEST_MS = 900_000

const [executorText = '4', mode = 'plain', daemonSetText = '200'] = process.argv.slice(2)
console.log(JSON.stringify(await measure(Number(executorText), Number(daemonSetText))))

async function measure(executors: number, daemonSets: number): Promise<ScaleOut> {
  await using cleanup = new AsyncDisposableStack()
  const found = await findRedis()
  if ('missing' in found) throw new Error(found.missing)
  const faults = [{ kind: 'Delay', by: LATENCY, actors: ['tranche-executor'] }]
  const opened = await openMemoryStage({ nodes: NODES_EACH * GROUPS, daemonSets, foreign: 0, groups: GROUPS, faults }, cleanup)
  const watched = mode === 'fail-over' ? await startWatchedRedis(found.program, cleanup) : null
  const stage = { ...opened, redis: watched?.url ?? opened.redis }
  const { client } = stage.cluster
  await forEach(daemonSets, (name) => prepare(client, name))
  const start = async (component: 'controller' | 'executor', name: string): Promise<MeasuredProcess> =>
    cleanup.adopt(await startOne(stage, component, name), (started) => started.stop())
  const controller = await start('controller', 'controller')
  await leaderOf(client, [{ name: 'controller', process: controller }])
  await forEach(daemonSets, (name) => change(client, name))
  await until('all releases to be open', () => areOpen(client, daemonSets), { withinSeconds: 900, everyMs: 1_000 })
  const isOver = new AbortController()
  const heat = mode === 'hot' ? keepHot(client, isOver.signal) : Promise.resolve()
  const startMs = performance.now()
  const names = Array.from({ length: executors }, (_none, index) => `executor-${index + 1}`)
  const running = await Promise.all(names.map((name) => start('executor', name)))
  const progress = await follow(client, daemonSets, startMs, async () => watched?.master.kill())
  isOver.abort()
  await heat
  const executorSeconds = running.map((executor) => executor.busySeconds())
  return { executors, ...progress, executorSeconds }
}

/** Calls `act` for the names of all DaemonSets, several at a time. */
async function forEach(count: number, act: (name: string) => Promise<void>): Promise<void> {
  let next = 0
  const actOnSome = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await act(`agent-${index}`)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, actOnSome))
}

async function prepare(client: KubeClient, name: string): Promise<void> {
  const key = { namespace: 'bench', name }
  const steps = [{ replicas: '100%' }]
  await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { strategy: { canary: { steps } } } } })
  const updateStrategy = { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'merge', body: { spec: { updateStrategy } } })
}

async function change(client: KubeClient, name: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v2' }] } } } }
  await client.patch(resourcePaths.daemonSets, { namespace: 'bench', name }, { type: 'strategic', body })
}

async function areOpen(client: KubeClient, count: number): Promise<true | string> {
  const { items } = await client.list<BatchRelease>(resourcePaths.batchReleases, { namespace: 'bench' })
  const open = items.filter(({ status }) => status?.flight?.state === 'open').length
  return open === count || `${open} of ${count} are`
}

async function keepHot(client: KubeClient, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const body = { metadata: { annotations: { 'bench.example.com/round': String(round) } } }
    await client.patch(resourcePaths.daemonSets, { namespace: 'bench', name: HOT }, { type: 'merge', body }, PATIENT)
    await sleep(HOT_EVERY_MS)
  }
}

type Progress = Omit<ScaleOut, 'executors' | 'executorSeconds'>

/** @param onThird called once, when a third of the nodes are updated */
async function follow(
  client: KubeClient,
  daemonSets: number,
  startMs: number,
  onThird: () => Promise<void> | undefined,
): Promise<Progress> {
  const all = daemonSets * NODES_EACH
  const ends = new Map<string, number>()
  let half: Pick<Progress, 'behindAtHalf' | 'averageAtHalf'> | undefined
  let wasCalled = false
  while (ends.size < daemonSets) {
    if (performance.now() - startMs > LONGEST_MS) throw new Error(`${ends.size} of ${daemonSets} DaemonSets were updated in time`)
    await sleep(POLL_MS)
    const { items } = await client.list<DaemonSet>(resourcePaths.daemonSets, { namespace: 'bench' })
    const seconds = (performance.now() - startMs) / 1000
    const updated = items.map((daemonSet) => updatedNodes(daemonSet))
    for (const [at, count] of updated.entries())
      if (count === NODES_EACH && !ends.has(items[at]!.metadata.name)) ends.set(items[at]!.metadata.name, seconds)
    const sum = updated.reduce((total, count) => total + count, 0)
    if (sum >= all / 2) half ??= { behindAtHalf: Math.min(...updated), averageAtHalf: sum / daemonSets }
    if (sum < all / 3 || wasCalled) continue
    wasCalled = true
    await onThird()
  }
  const others = [...ends].filter(([name]) => mode !== 'hot' || name !== HOT).map(([, seconds]) => seconds)
  const sorted = others.toSorted((a, b) => a - b)
  const seconds = sorted.at(-1)!
  return {
    seconds,
    nodesPerSecond: all / seconds,
    firstSeconds: sorted[0]!,
    medianSeconds: sorted[Math.floor(sorted.length / 2)]!,
    lastSeconds: seconds,
    ...half!,
  }
}

function updatedNodes({ metadata, status }: DaemonSet): number {
  if (metadata.generation === undefined || status?.observedGeneration !== metadata.generation) return 0
  return Math.min(status.updatedNumberScheduled ?? 0, status.numberAvailable ?? 0)
}
