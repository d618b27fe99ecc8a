import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Notification, Receiver } from '@tranche/api-schema'
import { FakeClock, systemClock } from '@tranche/clock'
import { createNotifier, signatureOf, type NotifierResult, createEgressClient, parseHostRule, type SecretReader } from '@tranche/egress'
import { afterEach, describe, expect, it } from 'vitest'

// Real sockets on loopback.

const closing: (() => Promise<void>)[] = []
const wallMs = 1_700_000_000_000

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const notification: Notification = {
  id: 'id-1',
  receiver: 'ops',
  event: 'ReleaseFailed',
  message: '2 nodes <failed> & more',
  at: '2026-01-01T00:00:00Z',
  revision: 'abc',
  step: 2,
  nodes: ['node-1', 'node-2'],
}

describe('a webhook', () => {
  it('receives every field, with the id as idempotency key', async () => {
    const server = await serve()
    expect(await notify({ webhook: { url: `${server.url}/hook` } })).toEqual({ kind: 'taken' })
    const [request] = server.requests
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'id-1',
        'x-tranche-event': 'ReleaseFailed',
        'user-agent': 'tranche/1',
      },
    })
    expect(request?.headers['x-tranche-signature']).toBeUndefined()
    expect(JSON.parse(request?.body ?? '')).toEqual({
      id: 'id-1',
      event: 'ReleaseFailed',
      at: '2026-01-01T00:00:00Z',
      namespace: 'demo',
      rollout: 'agent',
      revision: 'abc',
      step: 2,
      nodes: ['node-1', 'node-2'],
      message: '2 nodes <failed> & more',
      text: 'ReleaseFailed demo/agent: 2 nodes <failed> & more',
      dropped: 0,
    })
  })

  it('can verify sender, content and time by the signature', async () => {
    const server = await serve()
    await notify({ webhook: { url: server.url, hmac: { name: 'keys', key: 'hmac' } } })
    const { body, headers } = server.requests[0]!
    const v1 = createHmac('sha256', 'hmac key').update(`1700000000.${body}`).digest('hex')
    expect(headers['x-tranche-signature']).toBe(`t=1700000000,v1=${v1}`)
    expect(signatureOf(body, 'another key', 1_700_000_000)).not.toBe(headers['x-tranche-signature'])
  })

  it('receives the headers of the policy, also from Secrets, trimmed', async () => {
    const server = await serve()
    const headers = [
      { name: 'X-Team', value: 'ops' },
      { name: 'Authorization', valueFrom: { name: 'keys', key: 'token' } },
    ]
    await notify({ webhook: { url: server.url, headers } })
    expect(server.requests[0]?.headers).toMatchObject({ 'x-team': 'ops', authorization: 'Bearer s3cret' })
  })

  it('receives the text of the template in the policy', async () => {
    const server = await serve()
    const template =
      '{{event}}|{{namespace}}|{{rollout}}|{{revision}}|{{step}}|{{nodes}}|{{message}}|{{at}}|{{receiver}}|{{id}}|{{dropped}}'
    await notify({ template, webhook: { url: server.url } }, { ...notification, dropped: 3 })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      text: 'ReleaseFailed|demo|agent|abc|2|node-1, node-2|2 nodes <failed> & more|2026-01-01T00:00:00Z|ops|id-1|3',
      dropped: 3,
    })
  })

  it('learns how many messages were dropped', async () => {
    const server = await serve()
    await notify({ webhook: { url: server.url } }, { ...notification, message: 'm', dropped: 3 })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      text: 'ReleaseFailed demo/agent: m (3 other messages were dropped because too many were waiting)',
    })
  })
})

describe('Slack', () => {
  it('receives a text with escaped values, at the URL from the Secret', async () => {
    const server = await serve()
    await notify({ slack: { url: { name: 'keys', key: 'slack' } }, template: '*{{event}}* {{message}}' }, notification, {
      slack: `${server.url}/services/T0\n`,
    })
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/services/T0', headers: { 'idempotency-key': 'id-1' } })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ text: '*ReleaseFailed* 2 nodes &lt;failed&gt; &amp; more' })
  })

  it('reports why it rejects a message', async () => {
    const server = await serve((response) => response.writeHead(404).end('no_service\n'))
    const result = await notify({ slack: { url: { name: 'keys', key: 'slack' } } }, notification, { slack: server.url })
    expect(result).toEqual({ kind: 'refused', message: 'slack.url: answered with 404: no_service', retryAfterMs: null })
  })
})

describe('a receiver that rejects a message', () => {
  it.each([300, 400, 409, 500])('is reported with its response %i', async (status) => {
    const server = await serve((response) => response.writeHead(status).end())
    expect(await notify({ webhook: { url: server.url } })).toEqual({
      kind: 'refused',
      message: `webhook.url: answered with ${status}`,
      retryAfterMs: null,
    })
  })

  it('can request a delay', async () => {
    const server = await serve((response) => response.writeHead(429, { 'retry-after': '30' }).end())
    expect(await notify({ webhook: { url: server.url } })).toMatchObject({ kind: 'refused', retryAfterMs: 30_000 })
  })

  it('is abandoned after ten seconds, and the message names the field', async () => {
    const clock = new FakeClock(wallMs)
    const server = await serve(() => setImmediate(() => clock.advance(10_000)))
    expect(await notify({ webhook: { url: server.url } }, notification, {}, clock)).toMatchObject({
      message: `webhook.url: 127.0.0.1:${server.port} did not answer within 10000 ms`,
    })
  })

  it('may be at a host that is not allowed', async () => {
    expect(await notify({ webhook: { url: 'https://hooks.example.com/secret' } })).toMatchObject({
      message: 'webhook.url: hooks.example.com is not an allowed host; the operator of the controller can allow it with --allow-host',
    })
  })

  it.each<[string, Partial<Receiver>, string]>([
    [
      'a Secret that is not there',
      { webhook: { url: 'http://127.0.0.1/', hmac: { name: 'none', key: 'k' } } },
      'webhook.hmac: there is no Secret none; create it',
    ],
    [
      'a Secret that cannot be read',
      { webhook: { url: 'http://127.0.0.1/', headers: [{ name: 'a', valueFrom: { name: 'locked', key: 'k' } }] } },
      'webhook.headers[0].valueFrom: the Secret locked cannot be read: the API server did not answer',
    ],
    [
      'a Secret with nothing in it',
      { slack: { url: { name: 'keys', key: 'empty' } } },
      'slack.url: the key empty of the Secret keys is empty; set a value',
    ],
    ['no address at all', {}, 'slack and webhook are missing; set one of them'],
  ])('may have %s', async (_what, receiver, message) => {
    expect(await notify(receiver)).toEqual({ kind: 'refused', message, retryAfterMs: null })
  })

  it('keeps a secret out of the result, even if the receiver echoes it', async () => {
    const server = await serve((response, { headers, body }) => response.writeHead(500).end(JSON.stringify([headers, body])))
    const receiver = { webhook: { url: server.url, headers: [{ name: 'authorization', valueFrom: { name: 'keys', key: 'token' } }] } }
    expect(await notify(receiver)).toMatchObject({ message: 'webhook.url: answered with 500' })
    for (const other of ['s3cret:whatever', 's3cret', 'http:s3cret', 's3cret://host'])
      expect(await notify({ slack: { url: { name: 'keys', key: 'slack' } } }, notification, { slack: other })).toEqual({
        kind: 'refused',
        message: 'slack.url: the key slack of the Secret keys does not hold a URL; write one that starts with https://',
        retryAfterMs: null,
      })
    const gone = `http://127.0.0.1:1/services/s3cret`
    expect(JSON.stringify(await notify({ slack: { url: { name: 'keys', key: 'slack' } } }, notification, { slack: gone }))).not.toContain(
      's3cret',
    )
  })
})

interface Request {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function serve(
  answer: (response: ServerResponse, request: Request) => unknown = (response) => response.end('ok'),
): Promise<{ readonly url: string; readonly port: number; readonly requests: readonly Request[] }> {
  const requests: Request[] = []
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const taken = { method: request.method, path: request.url, headers: request.headers, body: await text(request) }
      requests.push(taken)
      answer(response, taken)
    }
    void take()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { url: `http://127.0.0.1:${port}`, port, requests }
}

async function notify(
  receiver: Partial<Receiver>,
  what = notification,
  more: Readonly<Record<string, string>> = {},
  timers: typeof systemClock = systemClock,
): Promise<NotifierResult> {
  const rule = parseHostRule('127.0.0.1')
  if (typeof rule === 'string') throw new Error(rule)
  const egress = createEgressClient({ clock: timers, allowHosts: [rule], userAgent: 'tranche/1' })
  closing.push(() => egress.close())
  const notifier = createNotifier({ egress, secrets: secretsWith(more), clock: new FakeClock(wallMs) })
  const notifyRequest = { namespace: 'demo', rollout: 'agent', notification: what, receiver: { name: 'ops', ...receiver } }
  return notifier.notify(notifyRequest, new AbortController().signal)
}

function secretsWith(more: Readonly<Record<string, string>>): SecretReader {
  const values: Record<string, string> = { hmac: 'hmac key', token: 'Bearer s3cret\n', empty: '\n', ...more }
  return {
    async read({ name, key }) {
      if (name === 'locked') throw new Error('s3cret is no JSON')
      const value = name === 'keys' ? values[key] : undefined
      return value === undefined ? { kind: 'missing', message: `there is no Secret ${name}`, fix: 'create it' } : { kind: 'found', value }
    },
  }
}
