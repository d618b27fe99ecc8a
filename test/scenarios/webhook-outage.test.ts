import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '@tranche/certificates'
import { systemClock } from '@tranche/clock'
import { createSimulator } from '@tranche/sim'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type AdmissionCluster, startAdmissionCluster } from './admission-cluster.ts'
import { startTestWebhook, type WebhookAddress } from './test-webhook.ts'

let cluster: AdmissionCluster
beforeAll(async () => void (cluster = await startAdmissionCluster('webhook')), 120_000)
afterAll(() => cluster.end())

const sets = (): string => `/apis/apps/v1/namespaces/${cluster.namespace}/daemonsets`
const rollouts = (): string => `/apis/rollouts.kruise.io/v1beta1/namespaces/${cluster.namespace}/rollouts`
const ofBound = {
  annotations: { 'tranche.dev/rollout': 'bound' },
  labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
}

/** Faults of the webhook, and the resulting message of the API server. */
const outages: readonly [string, () => Promise<WebhookAddress>, RegExp][] = [
  ['is down', async () => ({ ...cluster.webhook, url: 'https://127.0.0.1:1' }), /connection refused/],
  ['does not answer', silent, /deadline exceeded|Client.Timeout exceeded/],
  ['serves an expired certificate', expired, /certificate has expired/],
  [
    'presents a certificate that is not trusted',
    async () => ({ ...cluster.webhook, authority: await anotherAuthority() }),
    /unknown authority/,
  ],
  ['has no trusted authority yet', async () => ({ ...cluster.webhook, authority: '' }), /unknown authority/],
]

describe.each(outages)('while the webhook %s', (_what, webhook, says) => {
  it('only a change that releases a bound DaemonSet is rejected, with the reason (X21)', async () => {
    await cluster.send('POST', sets(), daemonSet('free', 'agent:1'))
    await cluster.send('POST', sets(), daemonSet('bound', 'agent:1', ofBound))
    await cluster.askAt(await webhook(), { timeoutSeconds: 1 })
    const refused = await untilRefused()
    expect(refused).toMatchObject({ status: 500, body: { message: expect.stringMatching(says) as string } })
    expect(refused.body.message).toMatch(/^Internal error occurred: failed calling webhook "daemonsets\.admission\.tranche\.dev"/)

    const free = await cluster.send('PUT', `${sets()}/free`, daemonSet('free', 'agent:2'))
    expect([free.status, free.body.spec.updateStrategy?.type]).toEqual([200, 'RollingUpdate'])
    const labelled = { metadata: { labels: { team: 'a' } }, spec: { minReadySeconds: 5 } }
    expect((await cluster.send('PATCH', `${sets()}/bound`, labelled)).status).toBe(200)
    expect((await cluster.send('PATCH', `${sets()}/bound`, image('agent:2'), 'tranche-controller')).status).toBe(200)
    expect((await cluster.send('POST', rollouts(), wrongRollout)).status).toBe(201)
    expect((await cluster.send('DELETE', `${sets()}/bound`)).status).toBe(200)
    await cluster.send('DELETE', `${sets()}/free`)
    await cluster.send('DELETE', `${rollouts()}/wrong`)
  })
})

it('the webhook is called again as soon as it is back', async () => {
  await cluster.askAt(cluster.webhook)
  await cluster.send('POST', sets(), daemonSet('bound', 'agent:1', ofBound))
  // An API server may notice a changed configuration a moment later.
  for (let asked = 0; asked < 500; asked++)
    if ((await cluster.send('PATCH', `${sets()}/bound`, image(`agent:back-${asked}`))).status === 200) break
  const { body } = await cluster.send('GET', `${sets()}/bound`)
  expect(body.spec.updateStrategy?.type).toBe('OnDelete')
})

async function untilRefused() {
  for (let asked = 0; asked < 500; asked++) {
    const answer = await cluster.send('PATCH', `${sets()}/bound`, image(`agent:new-${asked}`))
    if (answer.status !== 200) return answer
  }
  throw new Error('a new template is accepted without the webhook')
}

/** Accepts connections and reviews, and never answers. */
async function silent(): Promise<WebhookAddress> {
  const { authority, cert, key } = await issueCertificate({ names: ['127.0.0.1'], nowMs: systemClock.nowMs(), lastsMs: 3_600_000 })
  const server = createServer({ cert, key }, () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority }
}

async function expired(): Promise<WebhookAddress> {
  const server = await startTestWebhook(createSimulator({ clock: systemClock, nodes: 0 }).exchangeFor('admin'), -1000)
  onTestFinished(() => server.end())
  return server
}

async function anotherAuthority(): Promise<string> {
  return (await issueCertificate({ names: ['127.0.0.1'], nowMs: systemClock.nowMs(), lastsMs: 3_600_000 })).authority
}

function image(tag: string): object {
  return { spec: { template: { spec: { containers: [{ name: 'agent', image: tag }] } } } }
}

function daemonSet(name: string, tag: string, metadata: object = {}): object {
  const spec = { nodeSelector: { none: 'none' }, containers: [{ name: 'agent', image: tag }] }
  const template = { metadata: { labels: { app: name } }, spec }
  return {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, ...metadata } },
    spec: { selector: { matchLabels: { app: name } }, template },
  }
}

const wrongRollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'wrong' },
  spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'free' }, strategy: { canary: { steps: [] } } },
}
