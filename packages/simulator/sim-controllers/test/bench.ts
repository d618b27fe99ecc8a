import { FakeClock } from '@tranche/clock'
import type { DaemonSet, Taint } from '@tranche/kube-types'
import {
  type ApiObject,
  type ApiServer,
  createApiServer,
  createRandom,
  type DeleteOptions,
  type ResourceId,
  resources,
  type SimClient,
} from '@tranche/sim-api'
import {
  createDaemonSetCache,
  createExpectations,
  createFailedPodBackoff,
  createOwnWrites,
  type DaemonSetCache,
  type Expectations,
  hashOfRevision,
  syncDaemonSet,
  type SyncPorts,
  wakeConcerned,
  wakeRules,
} from '@tranche/sim-controllers'

const namespace = 'demo'

/** Asked before a request of the controller goes to the server; throws to let it fail. */
export type Gate = (verb: 'get' | 'create' | 'update' | 'delete', id: ResourceId, name: string) => void | Promise<void>

/**
 * One DaemonSet, `demo/agent`, whose passes a test runs one by one, on a real API server and without other programs: no scheduler, no
 * kubelet, no garbage collector. The cache of the controller shows its writes at once, unless `lagging`.
 */
export interface Bench {
  readonly server: ApiServer
  readonly admin: SimClient
  readonly clock: FakeClock
  readonly ports: SyncPorts
  readonly cache: DaemonSetCache
  readonly expectations: Expectations
  /** Keys to come back to, with their delay in milliseconds. */
  readonly later: (readonly [key: string, delayMs: number])[]
  /** Requests of the controller that reached the gate. */
  readonly requests: string[]
  /** @returns keys woken since the last call, each once, in order of name */
  woken(): Promise<readonly string[]>
  /** One pass. @returns pods created, pods deleted, and events about pods that have ended: `5/0/0` */
  pass(): Promise<string>
  /** One pass that takes the cached DaemonSet to be this one. */
  passWith(daemonSet: DaemonSet): Promise<string>
  /** Several passes, each with its result; before each but the first, what `between` does. */
  passes(count: number, between?: () => Promise<void>): Promise<readonly string[]>
  daemonSet(): Promise<DaemonSet>
  patch(spec: object): Promise<void>
  setImage(image: string): Promise<void>
  pods(): Promise<readonly ApiObject[]>
  addNode(words: string): Promise<void>
  /** Adds pods given in the words of {@link BenchOptions.pods}, `apartMs` after each other. @default 0 */
  addPods(words: string, apartMs?: number): Promise<void>
  /** Sets Ready of all pods, or of those for which `which` holds. */
  setReady(ready: boolean, which?: (pod: ApiObject) => boolean): Promise<void>
  /** Lets the cache catch up. */
  settle(): Promise<void>
}

export interface BenchOptions {
  /** Each node as words: its name, `label=value`, `!key:Effect` taints, `NotReady`, `NetworkUnavailable`. */
  readonly nodes?: readonly string[]
  readonly spec?: object
  readonly podSpec?: object
  /**
   * Pods as words: a node, `*n` that many, `old` revision, `unready`, `readyFor=10` seconds, `failed`, `succeeded`,
   * `terminating`, `unbound`, `foreign` labels, `orphan`, `unrelated` (neither labels nor owner), `port=80`. Each is a second younger than the one before.
   */
  readonly pods?: readonly string[]
  readonly gate?: Gate
  /** The cache catches up only between passes. @default false */
  readonly lagging?: boolean
}

/** Builds the cluster: nodes, DaemonSet, its first revision where there are pods, pods. No pass has been run for what comes after. */
export async function createBench({ nodes = [], spec, podSpec, pods = [], gate, lagging }: BenchOptions): Promise<Bench> {
  const clock = new FakeClock()
  const server = createApiServer({ clock, seed: 1, watchDelayMs: { min: 0, max: 0 } })
  const admin = server.clientFor({ name: 'admin' })
  const settle = (): Promise<void> => clock.advanceAsync(0)
  const { ports, counted, later, requests, takeWoken } = createPorts({
    client: server.clientFor({ name: 'daemonset-controller' }),
    clock,
    gate,
    written: lagging === true ? async () => {} : settle,
  })
  await admin.create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })

  async function pass(given = ports): Promise<string> {
    await settle()
    const before = { ...counted }
    try {
      await syncDaemonSet(given, `${namespace}/agent`)
    } finally {
      await settle()
    }
    return `${counted.created - before.created}/${counted.deleted - before.deleted}/${counted.events - before.events}`
  }

  const bench: Bench = {
    server,
    admin,
    clock,
    ports,
    cache: ports.cache,
    expectations: ports.expectations,
    later,
    requests,
    settle,
    async woken() {
      await settle()
      return takeWoken()
    },
    pass: () => pass(),
    passWith: (daemonSet) => pass({ ...ports, cache: { ...ports.cache, daemonSets: { ...ports.cache.daemonSets, get: () => daemonSet } } }),
    async passes(count, between = async () => {}) {
      const results: string[] = []
      for (let at = 0; at < count; at++) {
        if (at > 0) await between()
        results.push(await pass())
      }
      return results
    },
    daemonSet: async () => (await admin.get(resources.daemonSets, 'agent', namespace)) as unknown as DaemonSet,
    async patch(change) {
      await admin.patch(resources.daemonSets, 'agent', namespace, { spec: change })
      await settle()
    },
    async setImage(image) {
      await bench.patch({ template: { spec: { containers: [{ name: 'agent', image, imagePullPolicy: 'IfNotPresent' }] } } })
    },
    pods: async () => (await admin.list(resources.pods, { namespace })).items,
    async addNode(words) {
      await admin.create(resources.nodes, nodeFrom(words))
      await settle()
    },
    async addPods(words, apartMs = 0) {
      const count = Number(/\*(\d+)/.exec(words)?.[1] ?? 1)
      for (let at = 0; at < count; at++) {
        await clock.advanceAsync(apartMs)
        await addPod(bench, words)
      }
      await settle()
    },
    async setReady(ready, which = () => true) {
      for (const pod of (await bench.pods()).filter(which))
        await admin.patch(resources.pods, pod.metadata.name, namespace, { status: readyStatus(clock, ready, 0) }, 'status')
      await settle()
    },
  }
  await admin.create(resources.daemonSets, daemonSetFrom(spec, podSpec))
  // The first revision comes of a pass without nodes, so that pods can carry its hash.
  if (pods.length > 0) await pass()
  for (const words of nodes) await bench.addNode(words)
  for (const words of pods) await bench.addPods(words, 1000)
  await bench.woken()
  return bench
}

interface Counted {
  created: number
  deleted: number
  events: number
}

interface BenchPorts {
  readonly ports: SyncPorts
  readonly counted: Counted
  readonly later: (readonly [key: string, delayMs: number])[]
  readonly requests: string[]
  takeWoken(): readonly string[]
}

interface PortOptions {
  readonly client: SimClient
  readonly clock: FakeClock
  readonly gate: Gate | undefined
  /** Called after each write. */
  readonly written: () => Promise<void>
}

function createPorts({ client: direct, clock, gate, written }: PortOptions): BenchPorts {
  const counted: Counted = { created: 0, deleted: 0, events: 0 }
  const later: (readonly [key: string, delayMs: number])[] = []
  const requests: string[] = []
  const woken = new Set<string>()
  const changedNodes = new Set<string>()
  const monotonicMs = (): number => clock.monotonicMs()
  const expectations = createExpectations(monotonicMs)
  const ownWrites = createOwnWrites(monotonicMs)
  const client = gatedClient({ client: direct, gate, written, counted, requests })
  const wakeAfter = (key: string, delayMs: number): void => void later.push([key, delayMs])
  const cache: DaemonSetCache = createDaemonSetCache(
    client,
    wakeRules({
      wake: (key) => void woken.add(key),
      wakeAfter,
      nodeChanged: (name) => void changedNodes.add(name),
      expectations,
      ownWrites,
      cache: () => cache,
    }),
  )
  const quiet = new Set(['SuccessfulCreate', 'FailedCreate', 'SuccessfulDelete', 'FailedDelete'])
  const ports: SyncPorts = {
    client,
    clock,
    cache,
    expectations,
    ownWrites,
    backoff: createFailedPodBackoff(monotonicMs),
    events: { record: (_about, _type, reason) => void (counted.events += Number(!quiet.has(reason))) },
    random: createRandom('bench').next,
    wakeAfter,
  }
  return {
    ports,
    counted,
    later,
    requests,
    takeWoken() {
      for (const name of changedNodes) wakeConcerned(name, cache, (key) => void woken.add(key))
      const keys = [...woken].sort()
      woken.clear()
      changedNodes.clear()
      return keys
    },
  }
}

interface GateOptions extends Omit<PortOptions, 'clock'> {
  readonly counted: Counted
  readonly requests: string[]
}

function gatedClient({ client, gate, written, counted, requests }: GateOptions): SimClient {
  const ask = async (verb: Parameters<Gate>[0], id: ResourceId, name: string): Promise<void> => {
    requests.push(`${verb} ${id.resource}`)
    await gate?.(verb, id, name)
  }
  return {
    ...client,
    async get(id, name, ns) {
      await ask('get', id, name)
      return client.get(id, name, ns)
    },
    async create(id, object) {
      await ask('create', id, '')
      const created = await client.create(id, object)
      counted.created += Number(id.resource === 'pods')
      await written()
      return created
    },
    async update(id, object, subresource) {
      await ask('update', id, object.metadata.name)
      const updated = await client.update(id, object, subresource)
      await written()
      return updated
    },
    async delete(id, name, ns, options?: DeleteOptions) {
      await ask('delete', id, name)
      await client.delete(id, name, ns, options)
      counted.deleted += Number(id.resource === 'pods')
      await written()
    },
  }
}

function daemonSetFrom(spec: object | undefined, podSpec: object | undefined): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        // There is no kubelet to end a pod, so it is removed at once.
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'agent', image: 'agent:v1' }], ...podSpec },
      },
      ...spec,
    },
  }
}

function nodeFrom(words: string): object {
  const [name = '', ...rest] = words.split(' ')
  const labels = Object.fromEntries(rest.filter((word) => /^[^!]+=/.test(word)).map((word) => word.split('=')))
  const taints = rest.filter((word) => word.startsWith('!')).map(taintFrom)
  const conditions = [
    { type: 'Ready', status: rest.includes('NotReady') ? 'False' : 'True' },
    { type: 'NetworkUnavailable', status: rest.includes('NetworkUnavailable') ? 'True' : 'False' },
  ]
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { taints }, status: { conditions } }
}

function taintFrom(word: string): Taint {
  const at = word.lastIndexOf(':')
  return { key: word.slice(1, at), effect: word.slice(at + 1) }
}

async function addPod(bench: Bench, words: string): Promise<void> {
  const has = (word: string): boolean => words.split(' ').includes(word)
  const { admin, clock } = bench
  const pod = await admin.create(resources.pods, await podFrom(bench, words))
  const phase = has('failed') ? 'Failed' : has('succeeded') ? 'Succeeded' : has('unbound') ? 'Pending' : 'Running'
  const readyFor = Number(/readyFor=(\d+)/.exec(words)?.[1] ?? 3600)
  const ready = !has('unready') && phase === 'Running'
  const status = { phase, ...readyStatus(clock, ready, readyFor) }
  await admin.patch(resources.pods, pod.metadata.name, namespace, { status }, 'status')
  if (has('terminating')) await admin.delete(resources.pods, pod.metadata.name, namespace, { gracePeriodSeconds: 30 })
}

async function podFrom(bench: Bench, words: string): Promise<object> {
  const has = (word: string): boolean => words.split(' ').includes(word)
  const [nodeName = ''] = words.split(/[ *]/)
  const hostPort = Number(/port=(\d+)/.exec(words)?.[1] ?? 0)
  const { metadata } = await bench.daemonSet()
  const [revision] = bench.cache.revisionsFor(await bench.daemonSet())
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }]
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: metadata.name, uid: metadata.uid, controller: true }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'agent-',
      namespace,
      labels: {
        app: has('foreign') || has('unrelated') ? 'other' : 'agent',
        'controller-revision-hash': has('old') || revision === undefined ? 'old' : hashOfRevision(revision),
      },
      // Keeps a terminal pod that is terminating from going at once.
      ...(has('terminating') && { finalizers: ['tests/keep'] }),
      ...(!has('orphan') && !has('unrelated') && { ownerReferences: [owner] }),
    },
    spec: {
      ...(!has('unbound') && { nodeName }),
      terminationGracePeriodSeconds: 0,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      containers: [{ name: 'agent', image: 'agent:v1', ...(hostPort > 0 && { ports: [{ containerPort: hostPort, hostPort }] }) }],
    },
  }
}

function readyStatus(clock: FakeClock, ready: boolean, forSeconds: number): object {
  const lastTransitionTime = new Date(clock.nowMs() - forSeconds * 1000).toISOString().replace(/\.\d+Z/, 'Z')
  return { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }] }
}
