import { VirtualClock } from '@tranche/clock'
import { type PeerWatch, watchPeer } from '@tranche/cluster'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/log'
import { createSimulator } from '@tranche/sim'
import { afterEach, beforeEach, expect, it } from 'vitest'

const leaseKey = { namespace: 'kruise-rollout', name: '71ddec2c.kruise.io' }
const webhooksName = 'kruise-rollout-mutating-webhook-configuration'
let clock: VirtualClock
let client: KubeClient
let peer: PeerWatch
let changes: number
const stops: (() => void)[] = []

beforeEach(async () => {
  clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 0, watchDelayMs: 10 })
  client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'test/1', log: silentLogger, seed: 1 })
  await drive(client.create(resourcePaths.namespaces, { metadata: { name: leaseKey.namespace } } as never))
  peer = watchPeer({ client, clock, log: silentLogger })
  changes = 0
  peer.subscribe(() => changes++)
  const ending = new AbortController()
  for (const reflector of peer.reflectors) reflector.start(ending.signal).catch(() => {})
  await drive(Promise.all(peer.reflectors.map((reflector) => reflector.whenSynced())))
  stops.push(
    () => ending.abort(),
    () => simulator.stop(),
  )
})

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

it('sees it while its Lease is renewed and its webhook for DaemonSets is there', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew()
  expect(peer.sighting()).toEqual({ lease: 'kruise-rollout/71ddec2c.kruise.io', holder: 'manager-0', activeForMs: expect.any(Number) })
  expect(peer.sighting()?.activeForMs).toBeGreaterThan(14_000)
})

it('sees it by the Lease in the namespace of the Service of its webhook', async () => {
  await registerWebhook('mdaemonset-native.kb.io', { service: { namespace: leaseKey.namespace, name: 'webhook' } })
  await renew()
  expect(peer.sighting()?.lease).toBe('kruise-rollout/71ddec2c.kruise.io')
})

it('goes by its own clock, whatever time the Lease says', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew('1999-01-01T00:00:00.000000Z')
  await pass(10_000)
  await renew('1999-01-01T00:00:02.000000Z')
  await pass(10_000)
  expect(peer.sighting()).not.toBeNull()
  await pass(6_000)
  expect(peer.sighting()).toBeNull()
})

it('calls back when it begins or gives up, and not for each renewal', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew('2024-01-01T00:00:00.000000Z')
  const begun = changes
  expect(begun).toBeGreaterThan(0)
  for (const second of [2, 4, 6]) await renew(`2024-01-01T00:00:0${second}.000000Z`)
  expect(changes).toBe(begun)
  await drive(client.patch(resourcePaths.leases, leaseKey, { type: 'merge', body: { spec: { holderIdentity: '' } } }))
  await pass(100)
  expect([changes, peer.sighting()]).toEqual([begun + 1, null])
})

it.each<[string, () => Promise<unknown>]>([
  ['its webhook is not there', () => renew()],
  ['it has no webhook for DaemonSets', async () => [await registerWebhook('mdeployment.kb.io'), await renew()]],
  ['nobody holds its Lease', () => registerWebhook('mdaemonset-native.kb.io')],
  [
    'a Lease of that name is in another namespace than the Service of its webhook',
    async () => [
      await registerWebhook('mdaemonset-native.kb.io', { service: { namespace: 'kruise-system', name: 'webhook' } }),
      await renew(),
    ],
  ],
  ['another Lease is renewed', async () => [await registerWebhook('mdaemonset-native.kb.io'), await renew(undefined, 'another')]],
])('does not see it where %s', async (_what, set) => {
  await set()
  expect(peer.sighting()).toBeNull()
})

async function registerWebhook(name: string, clientConfig: object = { url: 'https://127.0.0.1:1/none' }): Promise<void> {
  const webhook = { name, clientConfig, admissionReviewVersions: ['v1'], sideEffects: 'None' }
  const configuration = { metadata: { name: webhooksName }, webhooks: [webhook] }
  await drive(client.create(resourcePaths.mutatingWebhookConfigurations, configuration as never))
  await pass(100)
}

async function renew(renewTime = '2024-01-01T00:00:00.000000Z', name = leaseKey.name): Promise<void> {
  const key = { ...leaseKey, name }
  const spec = { holderIdentity: 'manager-0', leaseDurationSeconds: 15, renewTime }
  const patched = client.patch(resourcePaths.leases, key, { type: 'merge', body: { spec } })
  await drive(patched.catch(() => client.create(resourcePaths.leases, { metadata: key, spec } as never)))
  await pass(100)
}

async function pass(ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  clock.setTimer(ms, () => {})
  await clock.run({ untilMs })
}

async function drive<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}
