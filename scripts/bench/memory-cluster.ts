/** A simulated cluster with many bound DaemonSets, and with unrelated pods. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../packages/words/clock/src/index.ts'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  loadKubeConfig,
  type ResourcePath,
  resourcePaths,
} from '../../packages/adapters/kube-client/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import type { Exchange } from '../../packages/words/wire/src/index.ts'
import { endProcess } from './end-process.ts'
import { until } from './until.ts'

/** Size of a cluster. */
export interface ClusterSize {
  readonly nodes: number
  /** Number of DaemonSets, each with a Rollout. */
  readonly daemonSets: number
  /** Number of groups of nodes, among which the DaemonSets are distributed. A node takes 110 pods. @default one */
  readonly groups?: number
  /** Faults of the simulator from the start. @default none */
  readonly faults?: readonly object[]
  /** Number of unrelated pods. */
  readonly foreign: number
}

/** A simulated cluster in its own process. */
export interface MemoryCluster {
  readonly kubeconfig: string
  readonly client: KubeClient
  /** Milliseconds to list everything that a controller reads, without parsing the answers. */
  listMs(): Promise<number>
  /** Changes one unrelated pod after another, until the signal aborts. */
  disturb(signal: AbortSignal): Promise<void>
  /** Adds unrelated pods until there are this many. @default as the size says */
  addForeign(count?: number): Promise<void>
  stop(): Promise<void>
}

/** Size of an unrelated pod as JSON, in bytes. */
const FOREIGN_BYTES = 8 * 1024
/** Maximum number of concurrent requests of this program. */
const AT_ONCE = 16
/** Label of the group of a node. */
const GROUP = 'bench.example.com/group'
/** Longer than usual: the simulated cluster is busy while it is filled. */
const PATIENT = { deadlineMs: 120_000 }
/** Time between two changes of unrelated pods, in milliseconds. */
const DISTURB_EVERY_MS = 50

/** Starts the cluster and waits until all pods of the DaemonSets are available. */
export async function startMemoryCluster(image: string, folder: string, size: ClusterSize): Promise<MemoryCluster> {
  const readyFile = join(folder, 'ready.json')
  const faults = join(folder, 'faults.json')
  writeFileSync(faults, JSON.stringify({ faults: size.faults ?? [] }))
  const injected = size.faults === undefined ? [] : ['--faults', faults]
  const args = ['sim', '--nodes', String(size.nodes), '--speed', '1000', '--no-demo', '--ready-file', readyFile, ...injected]
  const sim = spawn(process.execPath, ['--max-old-space-size=8192', join(image, 'bin/tranche.mjs'), ...args], { stdio: 'ignore' })
  while (!existsSync(readyFile)) {
    if (sim.exitCode !== null || sim.signalCode !== null) throw new Error(`tranche sim has ended with ${sim.exitCode ?? sim.signalCode}`)
    await sleep(20)
  }
  const { kubeconfig } = JSON.parse(readFileSync(readyFile, 'utf8')) as { readonly kubeconfig: string }
  const cluster = await loadKubeConfig({ clock: systemClock, path: kubeconfig, context: undefined, env: {} })
  const sockets = createUndiciExchange(cluster)
  const client = createKubeClient({ exchange: sockets.exchange, clock: systemClock, userAgent: 'bench/1', log: silentLogger })
  try {
    await furnish(client, size)
  } catch (error) {
    await sockets.close()
    await endProcess(sim, 'the simulated cluster')
    throw error
  }
  return {
    kubeconfig,
    client,
    listMs: () => listEverything(sockets.exchange),
    disturb: (signal) => disturb(client, signal),
    addForeign: (count = size.foreign) => addForeign(client, size.nodes, count),
    async stop() {
      await sockets.close()
      await endProcess(sim, 'the simulated cluster')
    },
  }
}

async function furnish(client: KubeClient, { nodes, daemonSets, groups = 1 }: ClusterSize): Promise<void> {
  for (const name of ['bench', 'foreign']) await client.create(resourcePaths.namespaces, { metadata: { name } })
  if (groups > 1) for (let index = 0; index < nodes; index++) await labelNode(client, nodeName(index, nodes), index % groups)
  for (let index = 0; index < daemonSets; index++) {
    await client.create(resourcePaths.daemonSets, daemonSetNamed(`agent-${index}`, groups > 1 ? index % groups : undefined))
    await client.create(resourcePaths.rollouts, rolloutFor(`agent-${index}`))
    // Some at a time: each wait takes as long as the pods take to start.
    if ((index + 1) % groups > 0 && index + 1 < daemonSets) continue
    for (let other = index - (index % groups); other <= index; other++) await untilAvailable(client, `agent-${other}`, nodes / groups)
  }
}

async function labelNode(client: KubeClient, name: string, group: number): Promise<void> {
  const body = { metadata: { labels: { [GROUP]: String(group) } } }
  await client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body })
}

function daemonSetNamed(name: string, group: number | undefined): { readonly metadata: { readonly name: string } } {
  const labels = { app: name }
  const containers = [{ name: 'agent', image: 'registry.example/agent:v1', resources: { requests: { cpu: '50m', memory: '64Mi' } } }]
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'bench', labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'OnDelete' },
      template: {
        metadata: { labels },
        spec: {
          tolerations: [{ operator: 'Exists' }],
          containers,
          ...(group !== undefined && { nodeSelector: { [GROUP]: String(group) } }),
        },
      },
    },
  } as never
}

function rolloutFor(name: string): { readonly metadata: { readonly name: string } } {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { name, namespace: 'bench' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
      strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
    },
  } as never
}

async function untilAvailable(client: KubeClient, name: string, nodes: number): Promise<void> {
  type Counted = { readonly status?: { readonly numberAvailable?: number } }
  const read = (): Promise<Counted> => client.get(resourcePaths.daemonSets, { namespace: 'bench', name }, PATIENT)
  const look = async (): Promise<true | string> => {
    const { numberAvailable = 0 } = (await read()).status ?? {}
    return numberAvailable === nodes || `${numberAvailable} are`
  }
  await until(`${nodes} pods of ${name} to be available`, look, { withinSeconds: 600, everyMs: 100 })
}

/** No two DaemonSets have a label in common. */
async function addForeign(client: KubeClient, nodes: number, count: number): Promise<void> {
  let next = foreignCount.get(client) ?? 0
  const addSome = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await client.create(resourcePaths.pods, foreignPod(index, nodes), PATIENT)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, addSome))
  foreignCount.set(client, count)
}

/** Number of unrelated pods so far, by the client of the cluster. */
const foreignCount = new WeakMap<KubeClient, number>()

/** Nodes are numbered from 1. */
function nodeName(index: number, nodes: number): string {
  return `node-${String(index + 1).padStart(Math.max(3, String(nodes).length), '0')}`
}

function foreignName(index: number): string {
  return `web-${String(index).padStart(6, '0')}`
}

/** A pod with many small, distinct fields, like pods of applications. */
function foreignPod(index: number, nodes: number): { readonly metadata: { readonly name: string } } {
  const variable = (at: number): object => ({
    name: `SETTING_${at}`,
    value: `${((index + 1) * 7919 * (at + 1)).toString(36).padStart(24, '-')}`,
  })
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: foreignName(index), namespace: 'foreign', labels: { [`web-${index}`]: `of-${index}` } },
    spec: {
      nodeName: nodeName(index % nodes, nodes),
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'web', image: `registry.example/web:${index}`, env: [] as readonly object[] }],
    },
  }
  const count = Math.ceil((FOREIGN_BYTES - JSON.stringify(pod).length) / (JSON.stringify(variable(10)).length + 1))
  pod.spec.containers[0]!.env = Array.from({ length: count }, (_none, at) => variable(at))
  return pod
}

async function disturb(client: KubeClient, signal: AbortSignal): Promise<void> {
  const foreign = foreignCount.get(client) ?? 0
  for (let round = 0; !signal.aborted; round++) {
    const key = { namespace: 'foreign', name: foreignName((round * 7919) % foreign) }
    await client.patch(resourcePaths.pods, key, { type: 'merge', body: { metadata: { annotations: { round: String(round) } } } })
    await sleep(DISTURB_EVERY_MS)
  }
}

const LISTED: readonly ResourcePath[] = [
  resourcePaths.nodes,
  resourcePaths.pods,
  resourcePaths.daemonSets,
  resourcePaths.controllerRevisions,
  resourcePaths.rollouts,
  resourcePaths.batchReleases,
]

/** Lists concurrently and in chunks, as usual, without parsing the answers. */
async function listEverything(exchange: Exchange): Promise<number> {
  const startMs = performance.now()
  await Promise.all(LISTED.map((resource) => listAway(exchange, resource)))
  return performance.now() - startMs
}

async function listAway(exchange: Exchange, { group, version, plural }: ResourcePath): Promise<void> {
  const path = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${plural}?limit=500`
  for (let next: string | undefined = ''; next !== undefined; ) {
    const asked = next === '' ? path : `${path}&continue=${encodeURIComponent(next)}`
    const headers = { accept: 'application/json', 'user-agent': 'bench/1' }
    const { status, body } = await exchange({ method: 'GET', path: asked, headers }, AbortSignal.timeout(60_000))
    if (status !== 200) throw new Error(`GET ${asked} was answered with ${status}`)
    next = await continueIn(body)
  }
}

/** Lists begin with their metadata. */
async function continueIn(body: AsyncIterable<string>): Promise<string | undefined> {
  let next: string | undefined
  let isFirst = true
  for await (const chunk of body) {
    if (isFirst) next = /"continue":"([^"]+)"/.exec(chunk.slice(0, 2_000))?.[1]
    isFirst = false
  }
  return next
}
