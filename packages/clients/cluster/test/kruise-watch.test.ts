import { VirtualClock } from '@tranche/clock'
import { kruiseNamespace, type KruiseWatch, watchKruise } from '@tranche/cluster'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { driveOn } from './sim-stage.ts'

const leaseKey = { namespace: 'kruise-rollout', name: '71ddec2c.kruise.io' }
const webhooksName = 'kruise-rollout-mutating-webhook-configuration'
const WATCH_DELAY_MS = 10
/** From a write of a test until it looks. */
const SEEN_AFTER_MS = 100
let clock: VirtualClock
let client: KubeClient
let kruise: KruiseWatch
let changes: number
const stops: (() => void)[] = []

beforeEach(async () => {
  clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 0, watchDelayMs: WATCH_DELAY_MS })
  client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'test/1', log: silentLogger, seed: 1 })
  await drive(client.create(resourcePaths.namespaces, { metadata: { name: leaseKey.namespace } } as never))
  kruise = watchKruise({ client, clock, log: silentLogger })
  changes = 0
  kruise.subscribe(() => changes++)
  const ending = new AbortController()
  for (const reflector of kruise.reflectors) reflector.start(ending.signal).catch(() => {})
  await drive(Promise.all(kruise.reflectors.map((reflector) => reflector.whenSynced())))
  stops.push(
    () => ending.abort(),
    () => simulator.stop(),
  )
})

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

it('OpenKruise is active while its Lease is renewed and its webhook for DaemonSets exists', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew()
  expect(kruise.activity()).toEqual({ lease: 'kruise-rollout/71ddec2c.kruise.io', holder: 'manager-0', activeForMs: expect.any(Number) })
  const { activeForMs } = kruise.activity()!
  expectFifteenSeconds(activeForMs)
  await pass(activeForMs - 1)
  expect(kruise.activity()?.activeForMs).toBeCloseTo(1)
  await pass(1)
  expect(kruise.activity()).toBeNull()
})

it('OpenKruise is active for 15 seconds after a renewal without a lease duration', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await drive(client.create(resourcePaths.leases, { metadata: leaseKey, spec: { holderIdentity: 'manager-0' } } as never))
  await pass(SEEN_AFTER_MS)
  expectFifteenSeconds(kruise.activity()!.activeForMs)
})

it.each<[string, Parameters<typeof kruiseNamespace>[0]['webhooks'], string | null]>([
  ['is that of its webhook Service', [hook('mdaemonset-native.kb.io', { service: { namespace: 'kruise-system' } })], 'kruise-system'],
  ['is any namespace if its webhook names no Service', [hook('mdaemonset-native.kb.io', {}), hook('mpod.kb.io')], ''],
  ['is absent without a webhook for DaemonSets', [hook('mdeployment.kb.io', { service: { namespace: 'kruise-system' } })], null],
  ['is absent without webhooks', undefined, null],
])('the namespace of its leader %s', (_what, webhooks, want) => {
  expect(kruiseNamespace({ metadata: {}, webhooks } as never)).toBe(want)
})

it('OpenKruise is detected by the Lease in the namespace of its webhook Service', async () => {
  await registerWebhook('mdaemonset-native.kb.io', { service: { namespace: leaseKey.namespace, name: 'webhook' } })
  await renew()
  expect(kruise.activity()?.lease).toBe('kruise-rollout/71ddec2c.kruise.io')
})

it('the watch of OpenKruise uses its own clock, whatever time the Lease states', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew('1999-01-01T00:00:00.000000Z')
  await pass(10_000)
  await renew('1999-01-01T00:00:02.000000Z')
  await pass(10_000)
  expect(kruise.activity()).not.toBeNull()
  await pass(6_000)
  expect(kruise.activity()).toBeNull()
})

it('the watch of OpenKruise calls back when its controller starts or stops, and not for each renewal', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  await renew('2024-01-01T00:00:00.000000Z')
  const begun = changes
  expect(begun).toBeGreaterThan(0)
  for (const second of [2, 4, 6]) await renew(`2024-01-01T00:00:0${second}.000000Z`)
  expect(changes).toBe(begun)
  await drive(client.patch(resourcePaths.leases, leaseKey, { type: 'merge', body: { spec: { holderIdentity: '' } } }))
  await pass(100)
  expect([changes, kruise.activity()]).toEqual([begun + 1, null])
})

it('the watch of OpenKruise calls back when its webhook is created', async () => {
  await registerWebhook('mdaemonset-native.kb.io')
  expect(changes).toBe(1)
})

it('the watch of OpenKruise calls back when its controller returns after its Lease expired, and when its Lease is deleted', async () => {
  await renew('2024-01-01T00:00:00.000000Z')
  const begun = changes
  await pass(20_000)
  await renew('2024-01-01T00:00:20.000000Z')
  expect(changes).toBe(begun + 1)
  await drive(client.delete(resourcePaths.leases, leaseKey))
  await pass(100)
  expect(changes).toBe(begun + 2)
})

it('the watch of OpenKruise does not call back for a change of a Lease without a holder', async () => {
  await drive(client.create(resourcePaths.leases, { metadata: leaseKey } as never))
  await pass(100)
  await drive(client.patch(resourcePaths.leases, leaseKey, { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } }))
  await drive(client.patch(resourcePaths.leases, leaseKey, { type: 'merge', body: { spec: { holderIdentity: '' } } }))
  await pass(100)
  expect([changes, kruise.activity()]).toEqual([0, null])
})

it.each<[string, () => Promise<unknown>]>([
  ['its webhook does not exist', () => renew()],
  ['it has no webhook for DaemonSets', async () => [await registerWebhook('mdeployment.kb.io'), await renew()]],
  ['its Lease has no holder', () => registerWebhook('mdaemonset-native.kb.io')],
  [
    'a Lease of that name is not in the namespace of the Service of its webhook',
    async () => [
      await registerWebhook('mdaemonset-native.kb.io', { service: { namespace: 'kruise-system', name: 'webhook' } }),
      await renew(),
    ],
  ],
  [
    'another configuration has a webhook of that name',
    async () => [await registerWebhook('mdaemonset-native.kb.io', undefined, 'another'), await renew()],
  ],
  ['another Lease is renewed', async () => [await registerWebhook('mdaemonset-native.kb.io'), await renew(undefined, 'another')]],
])('OpenKruise is not active if %s', async (_what, set) => {
  await set()
  expect(kruise.activity()).toBeNull()
})

/** Less the time since this process has seen the Lease. */
function expectFifteenSeconds(activeForMs: number): void {
  const seenForMs = SEEN_AFTER_MS - WATCH_DELAY_MS
  expect(activeForMs).toBeLessThanOrEqual(15_000 - seenForMs)
  expect(activeForMs).toBeGreaterThan(15_000 - SEEN_AFTER_MS)
}

function hook(name: string, clientConfig?: object): { readonly name: string; readonly clientConfig?: object } {
  return { name, ...(clientConfig !== undefined && { clientConfig }) }
}

async function registerWebhook(
  name: string,
  clientConfig: object = { url: 'https://127.0.0.1:1/none' },
  configurationName = webhooksName,
): Promise<void> {
  const webhook = { name, clientConfig, admissionReviewVersions: ['v1'], sideEffects: 'None' }
  const configuration = { metadata: { name: configurationName }, webhooks: [webhook] }
  await drive(client.create(resourcePaths.mutatingWebhookConfigurations, configuration as never))
  await pass(100)
}

async function renew(renewTime = '2024-01-01T00:00:00.000000Z', name = leaseKey.name): Promise<void> {
  const key = { ...leaseKey, name }
  const spec = { holderIdentity: 'manager-0', leaseDurationSeconds: 15, renewTime }
  const patched = client.patch(resourcePaths.leases, key, { type: 'merge', body: { spec } })
  await drive(patched.catch(() => client.create(resourcePaths.leases, { metadata: key, spec } as never)))
  await pass(SEEN_AFTER_MS)
}

async function pass(ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  clock.setTimer(ms, () => {})
  await clock.run({ untilMs })
}

function drive<T>(promise: Promise<T>): Promise<T> {
  return driveOn(clock, promise)
}
