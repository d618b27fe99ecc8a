import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import {
  ownedRevisions,
  readNodes,
  releasesOfGroup,
  readPod,
  watchCluster,
  type WatchedCluster,
  type WatchedClusterOptions,
} from '@tranche/cluster'
import { createKubeClient, type KubeClient, type KubePatch, resourcePaths } from '@tranche/kube-client'
import type { ControllerRevision, KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { driveOn } from './sim-stage.ts'

const key = { namespace: 'demo', name: 'agent' }
const signal = new AbortController().signal
let clock: VirtualClock
let client: KubeClient
let faults: FaultInjector
let asked: string[]
let ending: AbortController
let stop: () => void

beforeEach(async () => {
  clock = new VirtualClock()
  faults = {}
  asked = []
  ending = new AbortController()
  const onRequest: FaultInjector['onRequest'] = (call) => faults.onRequest?.(call)
  const simulator = createSimulator({ clock, nodes: 3, heartbeats: false, watchDelayMs: 10, faults: { onRequest } })
  stop = () => simulator.stop()
  const real = simulator.exchangeFor('admin', 'everything')
  const exchange: typeof real = (request, abort) => {
    asked.push(request.path)
    return real(request, abort)
  }
  client = createKubeClient({ exchange, clock, userAgent: 'test/1', log: silentLogger, seed: 1 })
  await drive(simulator.start())
  for (const definition of customResourceDefinitions) await drive(client.create(resourcePaths.customResourceDefinitions, definition))
  for (const name of ['demo', 'other', 'third']) await drive(client.create(resourcePaths.namespaces, { metadata: { name } }))
  for (const namespace of ['demo', 'other', 'third']) await drive(client.create(resourcePaths.daemonSets, daemonSetIn(namespace)))
  await pass(60_000)
})

afterEach(() => {
  ending.abort()
  stop()
})

describe('a watched cluster', () => {
  it('shows the desired nodes of a DaemonSet with their pods, and drops a node that is no longer desired', async () => {
    const cluster = await watch({ withRollouts: false })
    const view = (): ReturnType<WatchedCluster['fleet']['view']> => cluster.fleet.view(cluster.daemonSets.store.get(key)!)
    expect(view().nodes.map(({ desired, pods }) => [desired, pods.length])).toEqual(Array.from({ length: 3 }, () => [true, 1]))
    const [node] = cluster.nodes.store.list()
    const taints = [{ key: 'dedicated', value: 'other', effect: 'NoSchedule' }]
    await drive(client.patch(resourcePaths.nodes, { namespace: '', name: node!.name }, { type: 'merge', body: { spec: { taints } } }))
    await pass(1_000)
    expect(view().desired).toBe(2)
  })

  it('counts a pod as Ready since its own first observation (F6), and since the timestamp of the API server for reports', async () => {
    const observedMs = clock.monotonicMs()
    const [own, reports] = [await watch({ withRollouts: true }), await watch({ withRollouts: true, forReports: true })]
    for (const { readyFromMs } of own.pods.store.list()) expect(readyFromMs).toBeGreaterThanOrEqual(observedMs)
    for (const { readyFromMs, readyStamp } of reports.pods.store.list()) expect(readyFromMs).toBe(Date.parse(readyStamp!))
  })

  it('finds the releases of a group by its name, and by the Lease of their status', async () => {
    const cluster = await watch({ withRollouts: true })
    for (const [name, group] of [
      ['one', 'agents'],
      ['two', 'others'],
      ['three', undefined],
    ] as const)
      await drive(client.create(resourcePaths.batchReleases, releaseOfGroup(name, group)))
    const patch = (name: string, body: object, options = {}): Promise<unknown> =>
      drive(client.patch(resourcePaths.batchReleases, { namespace: 'demo', name }, { type: 'merge', body }, options))
    await patch('three', { status: { groupLease: 'lease' } }, { subresource: 'status' })
    await pass(1_000)
    const found = (group: Parameters<typeof releasesOfGroup>[1]) => releasesOfGroup(cluster, group).map(({ metadata }) => metadata.name)
    expect(found({ namespace: 'demo', group: 'agents' })).toEqual(['one'])
    expect(found({ namespace: 'other', group: 'agents' })).toEqual([])
    expect(found({ lease: 'lease' })).toEqual(['three'])
    // A user who writes only the status of releases cannot make one a member of a group, which would delay it.
    await patch('three', { status: { groupLease: 'demo/agents' } }, { subresource: 'status' })
    await pass(1_000)
    expect(found({ namespace: 'demo', group: 'agents' })).toEqual(['one'])
    await patch('one', { spec: { tranche: { downtime: { group: 'others' } } } })
    await pass(1_000)
    expect(found({ namespace: 'demo', group: 'agents' })).toEqual([])
    expect(found({ namespace: 'demo', group: 'others' }).toSorted()).toEqual(['one', 'two'])
  })

  it('does not report a node if only unused fields have changed', async () => {
    const cluster = await watch({ withRollouts: false })
    const heard: string[] = []
    cluster.nodes.subscribe({ onChange: (_key, previous, current) => void (previous !== current && heard.push(current!.name)) })
    const name = cluster.nodes.store.list()[0]!.name
    const patch = (labels: object): Promise<unknown> =>
      drive(client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: labels }))
    await patch({ metadata: { annotations: { beat: '1' } } })
    await pass(1_000)
    expect(heard).toEqual([])
    await patch({ metadata: { labels: { zone: 'x' } } })
    await pass(1_000)
    expect(heard).toEqual([name])
  })

  it('keeps no managed fields of watched objects', async () => {
    await drive(client.create(resourcePaths.rollouts, rollout))
    await drive(client.create(resourcePaths.batchReleases, batchRelease))
    expect((await drive(client.get<KubeObject>(resourcePaths.daemonSets, key))).metadata).toHaveProperty('managedFields')
    const { daemonSets, rollouts, batchReleases, revisions } = await watch({ withRollouts: true })
    for (const { store } of [daemonSets, rollouts, batchReleases, revisions]) {
      expect(store.size).toBeGreaterThan(0)
      for (const object of store.list() as readonly KubeObject[]) {
        expect(object.metadata).toMatchObject({ uid: expect.any(String), resourceVersion: expect.any(String) })
        expect(object.metadata).not.toHaveProperty('managedFields')
      }
    }
    expect(daemonSets.store.get(key)).toMatchObject({ spec: { selector: { matchLabels: labels } } })
  })

  it('finds the revisions of a DaemonSet, and keeps no revision of another workload kind', async () => {
    await drive(client.create(resourcePaths.controllerRevisions, revisionOf('StatefulSet', 'set-1')))
    await drive(client.create(resourcePaths.controllerRevisions, revisionOf('DaemonSet', 'other-1')))
    const cluster = await watch({ withRollouts: true })
    expect(ownedRevisions(cluster, cluster.daemonSets.store.get(key)!)).toHaveLength(1)
    const names = cluster.revisions.store.list().map(({ metadata }) => metadata.name)
    expect([names.includes('set-1'), names.includes('other-1')]).toEqual([false, true])
  })

  it('keeps an object that a new list shows unchanged, and replaces it if the list shows it with fewer members', async () => {
    await drive(client.create(resourcePaths.rollouts, rollout))
    const { rollouts } = await watch({ withRollouts: true })
    const before = rollouts.store.get(key)
    await drive(rollouts.refresh())
    expect(rollouts.store.get(key)).toBe(before)

    await drive(client.patch(resourcePaths.customResourceDefinitions, rolloutsName, withoutStrategy()))
    await pass(1_000)
    await drive(rollouts.refresh())
    const after = rollouts.store.get(key)
    expect(after?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
    expect([before?.spec, after?.spec].map((spec) => 'strategy' in spec!)).toEqual([true, false])
  })

  it('watches the given namespaces, and all nodes', async () => {
    asked.length = 0
    const cluster = await watch({ withRollouts: true, namespaces: ['demo', 'other'] })
    expect(cluster.daemonSets.store.list().map(({ metadata }) => metadata.namespace)).toEqual(['demo', 'other'])
    expect(cluster.pods.store.size).toBe(6)
    expect(cluster.nodes.store.size).toBe(3)
    expect(ownedRevisions(cluster, cluster.daemonSets.store.get(key)!)).toHaveLength(1)
    expect(asked.filter((path) => path.includes('/namespaces/third/') || /\/v1\/(pods|daemonsets)\?/.test(path))).toEqual([])
  })
})

describe('the first lists of a program', () => {
  const withoutPolicies = (code: number, reason: string): FaultInjector => ({
    onRequest: ({ resource }) =>
      resource.resource === 'releasepolicies' ? { kind: 'error', error: new ApiStatusError(code, reason, reason) } : undefined,
  })

  it.each([
    [404, 'NotFound'],
    [403, 'Forbidden'],
  ])('is ready without policies if the API server returns %i for their list', async (code, reason) => {
    faults = withoutPolicies(code, reason)
    const cluster = await watch({ withRollouts: true })
    expect([cluster.rollouts.synced, cluster.policies.synced]).toEqual([true, false])
  })

  it('waits for policies while the API server fails to list them', async () => {
    faults = withoutPolicies(500, 'InternalError')
    const cluster = watchCluster({ client, clock, log: silentLogger, withRollouts: true })
    let isReady = false
    const ready = cluster.start(ending.signal, () => {}).then(() => (isReady = true))
    await pass(30_000)
    expect(isReady).toBe(false)
    faults = {}
    await drive(ready)
    expect(cluster.policies.synced).toBe(true)
  })

  it('are limited to what it reads: an executor watches no Rollouts, revisions, policies or other controllers', async () => {
    asked.length = 0
    await watch({ withRollouts: false })
    expect(resourcesAsked()).toEqual(['batchreleases', 'daemonsets', 'nodes', 'pods'])
  })

  it('has neither policies nor the watch of OpenKruise for reports', async () => {
    asked.length = 0
    await watch({ withRollouts: true, forReports: true })
    expect(resourcesAsked()).toEqual(['batchreleases', 'controllerrevisions', 'daemonsets', 'nodes', 'pods', 'rollouts'])
  })

  const resourcesAsked = (): readonly string[] => [...new Set(asked.map((path) => path.split('?')[0]!.split('/').at(-1)!))].toSorted()
})

it('a watched cluster reports every object that the program has written, and when its own watch shows it', async () => {
  const written: string[] = []
  const cluster = await watch({
    withRollouts: true,
    onWritten({ resource, shown }) {
      written.push(resource)
      void shown.then(() => written.push(`${resource} shown`))
    },
  })
  const body = { metadata: { annotations: { seen: 'yes' } } }
  cluster.overlay.daemonSets.learn(await drive(client.patch(resourcePaths.daemonSets, key, { type: 'merge', body })))
  await pass(0)
  expect(written).toEqual(['daemonsets'])
  await pass(1_000)
  expect(written).toEqual(['daemonsets', 'daemonsets shown'])
  const created = await drive(client.create(resourcePaths.rollouts, rollout))
  cluster.overlay.rollouts.learn(created as unknown as Rollout)
  await pass(1_000)
  expect(written.slice(2)).toEqual(['rollouts', 'rollouts shown'])
})

describe('a live read', () => {
  it('returns the current node, or none if it does not exist', async () => {
    const [node] = (await watch({ withRollouts: false })).nodes.store.list()
    const read = (...names: readonly string[]): ReturnType<typeof readNodes> => drive(readNodes(client, new Set(names), signal))
    const { name } = node!
    expect([await read(name), await read('nowhere'), await read(name, 'nowhere')]).toEqual([
      new Map([[name, node]]),
      new Map(),
      new Map([[name, node]]),
    ])
  })

  it('returns the current pod, or none if it does not exist', async () => {
    const [pod] = (await watch({ withRollouts: false })).pods.store.list()
    const { name, namespace, uid, resourceVersion } = pod!
    expect(await drive(readPod(client, { namespace, name }, signal))).toMatchObject({ name, uid, resourceVersion })
    expect(await drive(readPod(client, { namespace, name: 'nowhere' }, signal))).toBeNull()
  })

  it.each<[string, () => Promise<unknown>]>([
    ['node', () => readNodes(client, new Set(['node-1']), signal)],
    ['pod', () => readPod(client, key, signal)],
  ])('of a %s throws if the API server gives no clear response, instead of reporting it as missing', async (_kind, read) => {
    faults = { onRequest: () => ({ kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no') }) }
    await expect(drive(read())).rejects.toMatchObject({ status: 403 })
  })
})

async function watch(
  options: Pick<WatchedClusterOptions, 'withRollouts' | 'forReports' | 'namespaces' | 'onWritten'>,
): Promise<WatchedCluster> {
  const cluster = watchCluster({ client, clock, log: silentLogger, ...options })
  await drive(cluster.start(ending.signal, () => {}))
  return cluster
}

function drive<T>(promise: Promise<T>): Promise<T> {
  return driveOn(clock, promise)
}

function pass(ms: number): Promise<void> {
  return drive(new Promise<void>((resolve) => clock.setTimer(ms, resolve)))
}

const labels = { app: 'agent' }

function daemonSetIn(namespace: string) {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name: 'agent' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
    },
  }
}

const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { ...key },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: '100%' }] } },
  },
}

const batchRelease = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'BatchRelease',
  metadata: { ...key },
  spec: { releasePlan: { enableExtraWorkloadForCanary: false } },
}

function releaseOfGroup(name: string, group: string | undefined) {
  const tranche = group === undefined ? {} : { downtime: { group } }
  return { ...batchRelease, metadata: { ...key, name }, spec: { ...batchRelease.spec, tranche } }
}

const rolloutsName = { namespace: '', name: 'rollouts.rollouts.kruise.io' }

/** A definition of Rollouts that drops their strategies. */
function withoutStrategy(): KubePatch {
  const { versions } = customResourceDefinitions.find(({ metadata }) => metadata.name === rolloutsName.name)!.spec
  const spec = '/schema/openAPIV3Schema/properties/spec'
  return {
    type: 'json',
    body: versions.flatMap((_version, at) => [
      { op: 'remove', path: `/spec/versions/${at}${spec}/properties/strategy` },
      { op: 'replace', path: `/spec/versions/${at}${spec}/required`, value: ['workloadRef'] },
    ]),
  }
}

/** Of a controller that is not there; its data names a DaemonSet whatever controls it. */
function revisionOf(kind: string, name: string): Pick<ControllerRevision, 'metadata'> {
  const owner = { apiVersion: 'apps/v1', kind, name: 'set', uid: 'gone', controller: true }
  const metadata = { namespace: 'demo', name, labels: { like: 'DaemonSet' }, ownerReferences: [owner] }
  return { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: 1, data: {} } as unknown as Pick<
    ControllerRevision,
    'metadata'
  >
}
