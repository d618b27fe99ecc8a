import { customResourceDefinitions } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { watchCluster } from '@tranche/cluster'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { expect, it } from 'vitest'

const NODES = 3
const FOREIGN = 100

it('a cluster cache keeps no pod that no DaemonSet owns, either from lists or from events', async () => {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: NODES, heartbeats: false })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'test/1', log: silentLogger })
  const drive = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false
    const mark = (): void => void (settled = true)
    promise.then(mark, mark)
    await clock.run({ done: () => settled })
    return promise
  }
  const pass = (ms: number): Promise<void> => drive(new Promise<void>((resolve) => clock.setTimer(ms, resolve)))
  await drive(simulator.start())
  for (const definition of customResourceDefinitions) await drive(client.create(resourcePaths.customResourceDefinitions, definition))
  await drive(client.create(resourcePaths.namespaces, { metadata: { name: 'demo' } }))
  await drive(client.create(resourcePaths.daemonSets, daemonSet))
  for (let index = 0; index < FOREIGN; index++) await drive(client.create(resourcePaths.pods, foreignPod(index)))
  await pass(10_000)

  const cluster = watchCluster({ client, clock, log: silentLogger, withRollouts: true })
  const ending = new AbortController()
  await drive(cluster.start(ending.signal, () => {}))
  expect(cluster.pods.store.size).toBe(NODES)

  const heard: string[] = []
  cluster.pods.subscribe({ onChange: ({ name }) => heard.push(name) })
  const before = Number(cluster.pods.resourceVersion)
  await drive(client.create(resourcePaths.pods, foreignPod(FOREIGN)))
  const key = { namespace: 'demo', name: 'web-0' }
  await drive(client.patch(resourcePaths.pods, key, { type: 'merge', body: { metadata: { annotations: { round: '1' } } } }))
  await drive(client.delete(resourcePaths.pods, key, { gracePeriodSeconds: 0 }))
  await pass(10_000)

  expect(Number(cluster.pods.resourceVersion)).toBeGreaterThan(before + 2)
  expect(heard).toEqual([])
  expect(cluster.pods.store.size).toBe(NODES)
  ending.abort()
  simulator.stop()
})

const labels = { app: 'agent' }
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'demo' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
  },
}

function foreignPod(index: number): { readonly metadata: { readonly name: string; readonly namespace: string } } {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `web-${index}`, namespace: 'demo', labels: { [`web-${index}`]: `of-${index}` } },
    spec: { nodeName: `node-${(index % NODES) + 1}`, containers: [{ name: 'web', image: 'registry.example/web:v1' }] },
  }
  return pod
}
