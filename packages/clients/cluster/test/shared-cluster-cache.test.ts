import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import {
  type ClusterCacheOptions,
  type SharedClusterCache,
  createSharedClusterCache,
  watchCluster,
  type WatchedCluster,
} from '@tranche/cluster'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }
let clock: VirtualClock
let client: KubeClient
let faults: FaultInjector
let asked: string[]
let parts: ClusterCacheOptions
let ending: AbortController
let stop: () => void

beforeEach(async () => {
  clock = new VirtualClock()
  faults = {}
  asked = []
  ending = new AbortController()
  const onRequest: FaultInjector['onRequest'] = (call) => faults.onRequest?.(call)
  const simulator = createSimulator({ clock, nodes: 3, heartbeats: false, watchDelayMs: { min: 50, max: 50 }, faults: { onRequest } })
  stop = () => simulator.stop()
  const real = simulator.exchangeFor('admin')
  const exchange: typeof real = (request, signal) => {
    asked.push(request.path)
    return real(request, signal)
  }
  client = createKubeClient({ exchange, clock, userAgent: 'test/1', log: silentLogger, seed: 1 })
  parts = { client, clock, log: silentLogger }
  await drive(simulator.start())
  for (const definition of customResourceDefinitions) await drive(client.create(resourcePaths.customResourceDefinitions, definition))
  await drive(client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } }))
  await drive(client.create(resourcePaths.daemonSets, daemonSet))
  await drive(client.create(resourcePaths.rollouts, rollout))
  await pass(60_000)
})

afterEach(() => {
  ending.abort()
  stop()
})

it('a shared cluster cache lists and watches each resource once, however many programs read it', async () => {
  asked.length = 0
  const { clusterCache } = share()
  await drive(Promise.all([...programs(clusterCache)].map((program) => program.start(ending.signal, () => {}))))
  for (const plural of ['nodes', 'pods', 'daemonsets', 'controllerrevisions', 'rollouts', 'batchreleases']) {
    const about = asked.filter((path) => path.split('?')[0]!.endsWith(`/${plural}`))
    expect(about.map((path) => (path.includes('watch=true') ? 'watch' : 'list'))).toEqual(['list', 'watch'])
  }
})

it('a shared cluster cache shows reports the same as a separate cache, whenever this process saw a pod first', async () => {
  const { clusterCache } = share()
  const shared = watchCluster({ ...parts, withRollouts: true, forReports: true, clusterCache })
  const own = watchCluster({ ...parts, withRollouts: true, forReports: true })
  await drive(Promise.all([shared, own].map((cluster) => cluster.start(ending.signal, () => {}))))
  const view = ({ fleet, daemonSets }: Pick<WatchedCluster, 'fleet' | 'daemonSets'>): ReturnType<WatchedCluster['fleet']['view']> =>
    fleet.view(daemonSets.store.get(key)!)

  expect(view(shared)).toEqual(view(own))
  expect(view(shared)).toBe(view(shared))
  expect(view(shared).nodes).not.toEqual(view(clusterCache).nodes)
  for (let round = 0; round < 3; round++) {
    const before = view(shared)
    const pod = clusterCache.pods.store.list()[round]!
    await drive(client.delete(resourcePaths.pods, { namespace: 'demo', name: pod.name }))
    await pass(round === 0 ? 100 : 30_000)
    expect(view(shared)).toEqual(view(own))
    expect(view(shared)).not.toBe(before)
  }
})

it('a program on a shared cluster cache waits only for what it reads itself', async () => {
  faults = {
    onRequest: ({ verb, resource }) =>
      verb === 'list' && resource.resource === 'rollouts'
        ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'no') }
        : undefined,
  }
  const { clusterCache } = share()
  const [controller, executor] = programs(clusterCache)
  let isControllerReady = false
  const ready = controller.start(ending.signal, () => {}).then(() => (isControllerReady = true))
  await drive(executor.start(ending.signal, () => {}))
  expect(isControllerReady).toBe(false)
  faults = {}
  await drive(ready)
})

it('a shared cluster cache hides the writes of one program from the others until the watch shows them', async () => {
  const { clusterCache } = share()
  const [controller, executor] = programs(clusterCache)
  await drive(Promise.all([controller, executor].map((program) => program.start(ending.signal, () => {}))))
  const known = executor.overlay.daemonSets.get(key)
  const patch = { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } } as const
  controller.overlay.daemonSets.learn(await drive(client.patch<DaemonSet>(resourcePaths.daemonSets, key, patch)))
  expect(controller.overlay.daemonSets.get(key)?.metadata.annotations).toMatchObject({ seen: 'yes' })
  expect(executor.overlay.daemonSets.get(key)).toBe(known)
  await pass(50)
  expect(executor.overlay.daemonSets.get(key)?.metadata.annotations).toMatchObject({ seen: 'yes' })
})

it('a shared cluster cache keeps a shared watch after an error of one program', async () => {
  const { clusterCache, failures } = share()
  const [controller] = programs(clusterCache)
  await drive(controller.start(ending.signal, () => {}))
  clusterCache.daemonSets.subscribe({
    onChange() {
      throw new Error('a handler failed')
    },
  })
  await drive(client.patch(resourcePaths.daemonSets, key, { type: 'merge', body: { metadata: { annotations: { seen: 'yes' } } } }))
  await pass(1_000)
  expect(failures).toEqual([])
  expect(controller.daemonSets.store.get(key)?.metadata.annotations).toMatchObject({ seen: 'yes' })
})

function share(): { readonly clusterCache: SharedClusterCache; readonly failures: readonly unknown[] } {
  const clusterCache = createSharedClusterCache(parts)
  const failures: unknown[] = []
  clusterCache.start(ending.signal, (error) => failures.push(error))
  return { clusterCache, failures }
}

/** As controller, executor and REST API read the cluster. */
function programs(clusterCache: SharedClusterCache): readonly [WatchedCluster, WatchedCluster, WatchedCluster] {
  return [
    watchCluster({ ...parts, withRollouts: true, clusterCache }),
    watchCluster({ ...parts, withRollouts: false, clusterCache }),
    watchCluster({ ...parts, withRollouts: true, forReports: true, clusterCache }),
  ]
}

async function drive<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}

function pass(ms: number): Promise<void> {
  return drive(new Promise<void>((resolve) => clock.setTimer(ms, resolve)))
}

const labels = { app: 'agent' }
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { ...key },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
  },
}
const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { ...key },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: '100%' }] } },
  },
} satisfies Omit<Rollout, 'metadata'> & { readonly metadata: object }
