/**
 * Loads the REST API: `tranche api` in its own process, against a simulated cluster of 1,000 nodes and 100 Rollouts in another. Requests per
 * core second count the processor time of the API, so they are also valid on a busy machine. Three programs share the cores: the API, the
 * simulated API server, and this one, which sends the requests.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
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
import { bodyText, type Exchange } from '../../packages/words/wire/src/index.ts'
import { defaultLimits } from '../../apps/api/src/index.ts'
import { busySeconds } from './measured-process.ts'
import { type PacedLoad, pacedLoad } from './paced-load.ts'
import { end, untilReady } from './started-process.ts'
import { until, within } from './until.ts'

/** Result of the API. */
export interface RestLoad {
  /** GET requests of one Rollout per second of processor time. */
  readonly perCoreSecond: number
  /** GET requests of one Rollout per wall-clock second. */
  readonly perSecond: number
  /** Latency at a constant 500 requests per second. */
  readonly paced: PacedLoad & LoopDelay
  /** Number of processors, and load average of the minute before the paced requests. */
  readonly machine: { readonly cores: number; readonly load: number }
  /** Memory of 500 streams, in MiB. */
  readonly streamsMebibytes: number
  /** Milliseconds from the API server's answer to a write until the last of 500 streams has sent the change; slowest of ten. */
  readonly eventMs: number
}

/** Event loop delay of the API during the load, in milliseconds: the part of the latency that it causes itself, or by sharing cores. */
export interface LoopDelay {
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** Longest garbage collection. */
  readonly longestCollectionMs: number
}

const NODES = Number(process.argv[2] ?? 1_000)
const ROLLOUTS = 100
/** Longer than callers are cached, so that the API server reviews them several times. */
const PACED_SECONDS = 25
const STREAMS = Number(process.argv[3] ?? 500)
const CHANGES = 10

/** Starts both processes, loads the API, and ends both. */
export async function measureRestLoad(cli: string): Promise<RestLoad> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const readyFile = join(folder, 'ready.json')
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const sim = spawn(process.execPath, [cli, 'sim', '--nodes', String(NODES), '--speed', '1000', '--no-demo', '--ready-file', readyFile], {
    stdio: 'ignore',
  })
  cleanup.defer(() => end(sim))
  const ready = (await untilReady(sim, { name: 'tranche sim', readyFile })) as { kubeconfig: string; token: string }
  const cluster = await loadKubeConfig({ clock: systemClock, path: ready.kubeconfig, context: undefined, env: {} })
  const sockets = cleanup.adopt(createUndiciExchange(cluster), (open) => open.close())
  const client = createKubeClient({ exchange: sockets.exchange, clock: systemClock, userAgent: 'bench/1', log: silentLogger })
  await furnish(client)
  const viewers = await createViewers(client, sockets.exchange)
  const args = ['api', '--kubeconfig', ready.kubeconfig, '--api-port', '0', '--requests-per-second', '1000000']
  const watching = ['--expose-gc', '--import', new URL('./watch-loop.mjs', import.meta.url).href]
  const api = spawn(process.execPath, [...watching, cli, ...args], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  cleanup.defer(() => end(api))
  const url = await urlOf(api)
  await until('tranche api to be ready', () => readyzOf(url), { withinSeconds: 60, everyMs: 50 })
  return await load({ api, url, token: ready.token, viewers, client })
}

/** One DaemonSet on all nodes, the others on one node each; all pods available. */
async function furnish(client: KubeClient): Promise<void> {
  await client.create(resourcePaths.namespaces, { metadata: { name: 'bench' } })
  for (let index = 0; index < ROLLOUTS; index++) {
    const name = `agent-${index}`
    const labels = { app: name }
    const nodeSelector = index === 0 ? {} : { 'kubernetes.io/hostname': `node-${String(index).padStart(String(NODES).length, '0')}` }
    await client.create(resourcePaths.daemonSets, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: 'bench' },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'OnDelete' },
        template: { metadata: { labels }, spec: { nodeSelector, containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
      },
    } as never)
    await client.create(resourcePaths.rollouts, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { name, namespace: 'bench' },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
        strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
      },
    } as never)
  }
  const available = async (): Promise<true | string> => {
    const key = { namespace: 'bench', name: 'agent-0' }
    const { status } = await client.get<{ status?: { numberAvailable?: number } }>(resourcePaths.daemonSets, key)
    return status?.numberAvailable === NODES || `${status?.numberAvailable ?? 0} of ${NODES} are`
  }
  await until('all pods of agent-0 to be available', available, { withinSeconds: 120, everyMs: 200 })
}

/** Service accounts that may list Rollouts, each of a namespace, enough of them for all streams. @returns a token of each */
async function createViewers(client: KubeClient, exchange: Exchange): Promise<readonly string[]> {
  const names = Array.from({ length: Math.ceil(STREAMS / defaultLimits.streamsOfCaller) }, (_none, index) => `viewer-${index}`)
  const rules = [{ apiGroups: ['rollouts.kruise.io'], resources: ['rollouts'], verbs: ['list'] }]
  await client.create(rbac('clusterroles'), { metadata: { name: 'bench-viewer' }, rules } as never)
  await client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'bench-viewer' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'bench-viewer' },
    subjects: names.map((name) => ({ kind: 'ServiceAccount', namespace: name, name })),
  } as never)
  return Promise.all(
    names.map(async (name) => {
      await client.create(resourcePaths.namespaces, { metadata: { name } } as never)
      await client.create(serviceAccounts, { metadata: { name, namespace: name } })
      return tokenOf(exchange, name)
    }),
  )
}

const RBAC = 'rbac.authorization.k8s.io'
const serviceAccounts: ResourcePath = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }

function rbac(plural: string): ResourcePath {
  return { group: RBAC, version: 'v1', plural, namespaced: false }
}

/** @see authentication/v1 TokenRequest */
async function tokenOf(exchange: Exchange, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${name}/serviceaccounts/${name}/token`
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const answer = await exchange({ method: 'POST', path, headers, body }, AbortSignal.timeout(15_000))
  const said = await bodyText(answer)
  if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status}: ${said}`)
  return (JSON.parse(said) as { readonly status: { readonly token: string } }).status.token
}

async function urlOf(api: ChildProcess): Promise<string> {
  let said = ''
  api.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const urlIn = (): string | undefined => /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
  const listens = (): true | string => {
    if (urlIn() === undefined && api.exitCode !== null) throw new Error(`tranche api has ended: ${said}`)
    return urlIn() !== undefined || `its output is ${JSON.stringify(said)}`
  }
  await until('tranche api to listen', listens, { withinSeconds: 60 })
  return urlIn()!
}

async function readyzOf(url: string): Promise<true | string> {
  const answer = await fetch(`${url}/readyz`)
  return answer.ok || `/readyz is answered with ${answer.status}: ${await answer.text()}`
}

interface Loaded {
  readonly api: ChildProcess
  readonly url: string
  readonly token: string
  /** Tokens of the callers, among which the streams are distributed. */
  readonly viewers: readonly string[]
  readonly client: KubeClient
}

async function load(loaded: Loaded): Promise<RestLoad> {
  // Measured first: memory that requests used would be released during the measurement.
  const streams = await measureStreams(loaded)
  const { api, url, token } = loaded
  const request = { url: `${url}/api/v1/namespaces/bench/rollouts/agent-0`, headers: { authorization: `Bearer ${token}` } }
  await autocannon({ ...request, connections: 16, duration: 2 })
  const busyBefore = busySeconds(api)
  const full = await autocannon({ ...request, connections: 16, duration: 8 })
  const busy = busySeconds(api) - busyBefore
  if (full.non2xx > 0 || full.errors > 0) throw new Error(`${full.non2xx} requests were rejected, ${full.errors} failed`)
  const machine = { cores: availableParallelism(), load: loadavg()[0]! }
  await loopDelay(api)
  const paced = { ...(await pacedLoad({ ...request, perSecond: 500, seconds: PACED_SECONDS })), ...(await loopDelay(api)) }
  return { perCoreSecond: full.requests.total / busy, perSecond: full.requests.average, paced, machine, ...streams }
}

/** Delay since the last call. */
function loopDelay(api: ChildProcess): Promise<LoopDelay> {
  const reported = new Promise<LoopDelay>((resolve) => {
    api.once('message', (delay) => resolve(delay as LoopDelay))
    api.send('tell')
  })
  return within('tranche api to report the delay of its event loop', reported, { withinSeconds: 30 })
}

async function measureStreams({ api, url, viewers, client }: Loaded): Promise<Pick<RestLoad, 'streamsMebibytes' | 'eventMs'>> {
  await sleep(2_000)
  const before = residentMebibytes(api)
  const heard = new Map<string, Set<number>>()
  const onRollout = (stream: number, name: string): void => void (heard.get(name) ?? heard.set(name, new Set()).get(name)!).add(stream)
  const open = (index: number): Promise<IncomingMessage> =>
    openStream(url, viewers[index % viewers.length]!, (name) => onRollout(index, name))
  // One stream per caller first: requests of many unknown callers at once would be rejected.
  const first = await Promise.all(viewers.map((_viewer, index) => open(index)))
  const others = Array.from({ length: STREAMS - first.length }, (_none, index) => open(first.length + index))
  const streams = [...first, ...(await Promise.all(others))]
  const reported = (name: string): true | string => {
    const count = heard.get(name)?.size ?? 0
    return count === STREAMS || `${count} of them have sent it`
  }
  await until(`${STREAMS} streams to send the existing Rollouts`, () => reported(`agent-${ROLLOUTS - 1}`), { withinSeconds: 60 })
  await sleep(3_000)
  const streamsMebibytes = residentMebibytes(api) - before
  let eventMs = 0
  for (let change = 0; change < CHANGES; change++) {
    const name = `agent-${change + 1}`
    heard.delete(name)
    await client.patch(resourcePaths.rollouts, { namespace: 'bench', name }, { type: 'merge', body: { spec: { disabled: true } } })
    const startMs = performance.now()
    await until(`${STREAMS} streams to send the change of ${name}`, () => reported(name), { withinSeconds: 30, everyMs: 1 })
    eventMs = Math.max(eventMs, performance.now() - startMs)
  }
  for (const stream of streams) stream.destroy()
  return { streamsMebibytes, eventMs }
}

function openStream(url: string, token: string, onRollout: (name: string) => void): Promise<IncomingMessage> {
  const opened = new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/api/v1/stream`, { agent: false, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode !== 200) return void refusal(answer).then(reject, reject)
      let rest = ''
      answer.setEncoding('utf8').on('data', (said: string) => {
        const lines = (rest + said).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line.startsWith('data: {"type":"rollout"')) onRollout(/"name":"([^"]+)"/.exec(line)?.[1] ?? '')
      })
      answer.on('error', () => {})
      resolve(answer)
    }).on('error', reject)
  })
  return within('a stream to begin', opened, { withinSeconds: 60 })
}

async function refusal(answer: IncomingMessage): Promise<Error> {
  return new Error(`GET /api/v1/stream was answered with ${answer.statusCode}: ${await text(answer)}`)
}

function residentMebibytes({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

if (import.meta.main) console.log(JSON.stringify(await measureRestLoad('apps/launcher/bin/tranche.mjs')))
