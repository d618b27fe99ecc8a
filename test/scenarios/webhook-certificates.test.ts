import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { admissionWebhooks } from '@tranche/admission'
import { issueCertificate } from '@tranche/certificates'
import { FakeClock, systemClock } from '@tranche/clock'
import { startWebhook } from '@tranche/controller'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { expect, it, onTestFinished } from 'vitest'

const DAY_MS = 24 * 3_600_000
const service = { namespace: 'tranche-system', name: 'tranche-webhook' }
const key = { namespace: 'default', name: 'agent' }
const validating = { ...resourcePaths.mutatingWebhookConfigurations, plural: 'validatingwebhookconfigurations' }

it('a controller creates its certificate, publishes its CA, and serves TLS under the name of its Service', {
  timeout: 60_000,
}, async () => {
  const { running, setImage, client } = await setUp({})
  await running.ready
  await until(async () => bundlesOf(client).then((bundles) => bundles.every((bundle) => bundle !== '')))
  expect(await setImage('v2')).toBe('OnDelete')
})

it('a controller renews a certificate that expires soon, and answers at every moment meanwhile', async () => {
  const soon = await issueCertificate({ names: ['tranche-webhook.tranche-system.svc'], nowMs: Date.now(), lastsMs: 20 * DAY_MS })
  const data = { 'tls.crt': soon.cert, 'tls.key': soon.key, 'ca.crt': soon.authority }
  const { running, clock, client, setImage, lines, showing } = await setUp(data)
  await running.ready
  await until(async () => bundlesOf(client).then((bundles) => bundles.every((bundle) => bundle !== '')))
  const first = await showing()
  expect(first).toBe(new X509Certificate(soon.cert).fingerprint256)
  for (let passed = 0; (await showing()) === first; passed++) {
    expect(passed).toBeLessThan(100)
    expect(await setImage(`during-${passed}`)).toBe('OnDelete')
    clock.advance(5_000)
  }
  expect(await setImage('after')).toBe('OnDelete')
  expect(lines.filter((line) => line.includes('certificate'))).toEqual([
    'info reloaded certificate',
    'info updated caBundle for the webhook certificate',
    'info updated caBundle for the webhook certificate',
    'info created next webhook certificate',
    'info updated caBundle for the webhook certificate',
    'info updated caBundle for the webhook certificate',
    'info renewed webhook certificate',
    'info reloaded certificate',
  ])
})

it('a controller reports once that its Secret is missing, and continues when it exists', async () => {
  const { running, clock, client, lines } = await setUp(null)
  for (let passed = 0; passed < 3; passed++) {
    await until(async () => lines.length === 1)
    clock.advance(1_000)
  }
  expect(lines).toEqual(['error failed to maintain the webhook certificate'])
  await client.create(resourcePaths.secrets, { metadata: { ...service } })
  let isReady = false
  running.ready.then(
    () => (isReady = true),
    () => {},
  )
  await until(async () => {
    clock.advance(1_000)
    return isReady
  })
  expect(lines).toContain('info created webhook certificate')
})

/** Starts a webhook behind a Service of the simulator, with a bound DaemonSet. @param data content of the Secret; null for no Secret */
async function setUp(data: Readonly<Record<string, string>> | null) {
  const clock = new FakeClock(Date.now())
  const lines: string[] = []
  let port = 0
  const simulator = createSimulator({
    clock: systemClock,
    nodes: 0,
    webhooks: { resolveService: ({ name }) => (name === service.name ? { host: '127.0.0.1', port } : undefined) },
  })
  const client = createKubeClient({
    exchange: simulator.exchangeFor('admin'),
    clock: systemClock,
    userAgent: 'kubectl/1',
    log: silentLogger,
  })
  await furnish(client, data)
  const running = await startWebhook({
    ...{ exchange: simulator.exchangeFor('controller-1'), clock, log: linesTo(lines), identity: 'webhook-1' },
    listen: { host: '127.0.0.1', port: 0 },
    certificate: { kind: 'own', secret: service, service, configuration: 'tranche', isLeading: () => true },
  })
  port = Number(new URL(running.url).port)
  onTestFinished(() => running.stop())
  return {
    ...{ running, clock, client, lines },
    /** @returns strategy of the DaemonSet after the new template */
    async setImage(tag: string): Promise<string | undefined> {
      const change = {
        spec: { updateStrategy: { type: 'RollingUpdate' }, template: { spec: { containers: [{ name: 'agent', image: tag }] } } },
      }
      const changed = await client.patch<DaemonSet>(resourcePaths.daemonSets, key, { type: 'strategic', body: change })
      return changed.spec.updateStrategy?.type
    },
    /** @returns fingerprint of the certificate that the webhook serves */
    async showing(): Promise<string> {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
      await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    },
  }
}

async function furnish(client: KubeClient, data: Readonly<Record<string, string>> | null): Promise<void> {
  await client.create(resourcePaths.namespaces, { metadata: { name: service.namespace } })
  const values = Object.entries(data ?? {}).map(([name, text]) => [name, Buffer.from(text).toString('base64')] as const)
  if (data !== null) await client.create(resourcePaths.secrets, { metadata: { ...service }, data: Object.fromEntries(values) } as never)
  for (const [kind, resource] of [
    ['Mutating', resourcePaths.mutatingWebhookConfigurations] as const,
    ['Validating', validating] as const,
  ]) {
    const webhooks = admissionWebhooks
      .filter((one) => one.kind === kind)
      .map(({ name, webhook }) => ({ ...webhook, clientConfig: { service: { ...service, path: `/${name}` } } }))
    await client.create(resource, { metadata: { name: 'tranche' }, webhooks } as never)
  }
  const labels = { 'rollouts.kruise.io/workload-type': 'daemonset' }
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image: 'v1' }] } }
  const metadata = { ...key, labels, annotations: { 'tranche.dev/rollout': 'agent' } }
  await client.create(resourcePaths.daemonSets, { metadata, spec: { selector: { matchLabels: { app: 'agent' } }, template } } as never)
}

async function bundlesOf(client: KubeClient): Promise<readonly string[]> {
  const read = [resourcePaths.mutatingWebhookConfigurations, validating].map((resource) =>
    client.get<Configuration>(resource, { namespace: '', name: 'tranche' }),
  )
  return (await Promise.all(read)).flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ''))
}

interface Configuration extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[]
}

/** Runs this process until `done` holds, without waiting for timers. */
async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve))
}

function linesTo(lines: string[]): Logger {
  const say =
    (level: string) =>
    (_fields: object, message: string): void =>
      void lines.push(`${level} ${message}`)
  const log: Logger = { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error'), child: () => log }
  return log
}
