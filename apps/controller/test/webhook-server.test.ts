import { once } from 'node:events'
import { request } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Certificate, issueCertificate } from '@tranche/certificates'
import { systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createMetrics, type Metrics } from '@tranche/metrics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWebhookHandler } from '../src/webhook/webhook-handler.ts'
import { openWebhookServer, type WebhookServer } from '../src/webhook/webhook-server.ts'

const listen = { host: '127.0.0.1', port: 0 }
let server: WebhookServer
let metrics: Metrics
let authority = ''
let certificate: Certificate
beforeAll(async () => {
  metrics = await createMetrics({ clock: systemClock, log: silentLogger, version: '0.1.0' })
  const gone = () => Promise.reject(new Error('the API server is unavailable'))
  server = await openWebhookServer(
    listen,
    createWebhookHandler({ client: { get: gone, list: gone }, clock: systemClock, log: silentLogger, metrics }),
  )
})
afterAll(() => server.close())

describe('the webhook server', () => {
  it('accepts no connection before it has a certificate', async () => {
    await expect(ask('POST', '/daemonsets', '')).rejects.toThrow(/handshake|alert|ECONNRESET|disconnected|hang up/)
    const issued = await issueCertificate({ names: ['127.0.0.1'], nowMs: Date.now(), lastsMs: 60_000 })
    server.use(issued)
    authority = issued.authority
    certificate = issued
  })

  it.each<[string, string, string, string, number]>([
    ['another path', 'POST', '/pods', review({}), 404],
    ['another method', 'GET', '/daemonsets', '', 405],
    ['no review', 'POST', '/daemonsets', '{}', 400],
    ['a review that is too large', 'POST', '/daemonsets', ' '.repeat(8 * 1024 * 1024 + 1), 413],
    ['a review with a timeout parameter', 'POST', '/daemonsets?timeout=5s', review({}), 200],
    ['a deletion', 'POST', '/rollouts', review({ operation: 'DELETE', object: null }), 200],
  ])('answers %s', async (_what, method, path, body, status) => {
    expect((await ask(method, path, body)).status).toBe(status)
  })

  it('decides on a DaemonSet even without access to the API server', async () => {
    const annotations = { 'tranche.dev/rollout': 'agent' }
    const spec = (image: string) => ({ updateStrategy: { type: 'RollingUpdate' }, template: { spec: { containers: [{ image }] } } })
    const bound = { oldObject: { metadata: { annotations }, spec: spec('a') }, object: { metadata: { annotations }, spec: spec('b') } }
    const { body } = await ask('POST', '/daemonsets', review(bound))
    expect(JSON.parse(body)).toMatchObject({ response: { uid: 'u', allowed: true, patchType: 'JSONPatch' } })
  })

  it('fails if it cannot read refused revisions, so that the failurePolicy of the webhook applies', async () => {
    expect((await ask('POST', '/reapply', review({}))).status).toBe(500)
  })

  it('counts its answers', async () => {
    const text = await metrics.text()
    for (const [webhook, outcome] of [
      ['daemonsets', 'changed'],
      ['daemonsets', 'failed'],
      ['rollouts', 'allowed'],
      ['reapply', 'failed'],
    ])
      expect(text).toContain(`tranche_webhook_reviews_total{webhook="${webhook}",outcome="${outcome}"} 1\n`)
  })

  it('answers while one address holds 300 silent connections', async () => {
    const port = Number(new URL(server.url).port)
    const silent = Array.from({ length: 300 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}))
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    try {
      expect(await answersOfFive()).toEqual([200, 200, 200, 200, 200])
    } finally {
      for (const socket of silent) socket.destroy()
    }
  })

  it('answers while one address holds 300 idle TLS connections', async () => {
    const port = Number(new URL(server.url).port)
    const idle = Array.from({ length: 300 }, () => connectTls({ host: '127.0.0.1', port, ca: authority }).on('error', () => {}))
    try {
      await Promise.allSettled(idle.map((socket) => Promise.race([once(socket, 'secureConnect'), once(socket, 'close')])))
      await expect(answersOfFive()).resolves.toEqual([200, 200, 200, 200, 200])
    } finally {
      for (const socket of idle) socket.destroy()
    }
  })

  it('keeps at most 32 MiB of unfinished bodies, and answers other requests', async () => {
    const port = Number(new URL(server.url).port)
    const head = `POST /rollouts HTTP/1.1\r\nhost: a\r\ncontent-length: ${8 * 1024 * 1024}\r\n\r\n`
    let closed = 0
    const halfOpen = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connectTls({ host: '127.0.0.1', port, ca: authority }).on('error', () => {})
        socket.once('close', () => closed++)
        await once(socket, 'secureConnect')
        socket.write(head + ' '.repeat(7 * 1024 * 1024))
        return socket
      }),
    )
    try {
      await expect.poll(() => closed, { timeout: 8_000 }).toBe(4)
      expect(await answersOfFive()).toEqual([200, 200, 200, 200, 200])
    } finally {
      for (const socket of halfOpen) socket.destroy()
    }
  })

  it('handles at most 32 concurrent reviews of one address, and refuses further ones', async () => {
    const reads: (() => void)[] = []
    const slow = await openWebhookServer(listen, async () => {
      await new Promise<void>((resolve) => reads.push(resolve))
      return { status: 200, body: '' }
    })
    slow.use(certificate)
    const asked = Array.from({ length: 60 }, () => ask('POST', '/reapply', review({}), slow.url))
    await expect.poll(() => reads.length).toBe(32)
    const turnedAway = asked.map((one) => one.then(({ status }) => status))
    await expect.poll(async () => (await Promise.all(turnedAway.map(settledOrNull))).filter((status) => status === 429).length).toBe(28)
    for (const resolve of reads) resolve()
    expect((await Promise.all(turnedAway)).filter((status) => status === 200)).toHaveLength(32)
    await slow.close()
  })

  it('names the port that is in use', async () => {
    const port = Number(new URL(server.url).port)
    const second = openWebhookServer({ ...listen, port }, async () => ({ status: 200, body: '' }))
    await expect(second).rejects.toMatchObject({ code: 'PORT_IN_USE', hint: 'Choose another --webhook-port; 0 picks a free one.' })
  })
})

async function answersOfFive(): Promise<readonly (number | undefined)[]> {
  const asked = Array.from({ length: 5 }, () => ask('POST', '/rollouts', review({ operation: 'DELETE', object: null })))
  return (await Promise.all(asked)).map(({ status }) => status)
}

function review(fields: object): string {
  const object = { metadata: {} }
  const asked = { uid: 'u', operation: 'UPDATE', namespace: 'default', oldObject: object, object, ...fields }
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: asked })
}

/** @returns null for a pending promise */
function settledOrNull<T>(promise: Promise<T>): Promise<T | null> {
  return Promise.race([promise, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
}

function ask(
  method: string,
  path: string,
  body: string,
  at = server.url,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${at}${path}`, { method, agent: false, ...(authority !== '' && { ca: authority }) }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.once('end', () => resolve({ status: response.statusCode, body: text }))
    })
    // The server does not read the rest of an oversized body.
    sent.on('error', reject)
    sent.end(body)
  })
}
