import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '@tranche/clock'
import {
  createKubeClient,
  createReflector,
  createUndiciExchange,
  type Credentials,
  type KubeClient,
  resourcePaths,
  type UndiciExchange,
} from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, describe, expect, it } from 'vitest'
import { type HttpsServer, startHttpsServer } from './https-server.ts'

// Real sockets on loopback need the clock of this machine: tests wait only for events, never for a duration.

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe('over a real connection', () => {
  it('sends many calls over one connection, or two while the first is being returned, with the credentials in each', async () => {
    const authorizations = new Set<string | undefined>()
    const { client, server } = await connected((request, response) => {
      authorizations.add(request.headers.authorization)
      json(response, 200, { metadata: { name: request.url } })
    })
    for (let i = 0; i < 50; i++) await client.get(resourcePaths.nodes, { namespace: '', name: `n${i}` })
    expect(server.connections()).toBeLessThanOrEqual(2)
    expect([...authorizations]).toEqual(['Bearer token-1'])
  })

  it('sends a header of several values as several lines', async () => {
    const groups: (readonly string[] | undefined)[] = []
    const { client } = await connected(
      (request, response) => {
        groups.push(request.headersDistinct['impersonate-group'])
        json(response, 200, {})
      },
      { headers: { 'impersonate-group': ['a,b', 'c'] } },
    )
    await client.text('/version')
    expect(groups).toEqual([['a,b', 'c']])
  })

  it('sends bodies and reads errors', async () => {
    const { client } = await connected(async (request, response) => {
      json(response, 422, { kind: 'Status', code: 422, reason: 'Invalid', message: await textOf(request) })
    })
    const patch = client.patch(resourcePaths.nodes, { namespace: '', name: 'ü' }, { type: 'merge', body: { name: 'größer' } })
    await expect(patch).rejects.toMatchObject({
      status: 422,
      message: 'PATCH /api/v1/nodes/%C3%BC was answered with 422 Invalid: {"name":"größer"}',
    })
  })

  it('reports a refused connection', async () => {
    const { client, server } = await connected(() => {})
    await server.close()
    const port = new URL(server.url).port
    await expect(client.text('/readyz', { deadlineMs: 5_000 })).rejects.toMatchObject({
      code: 'API_UNREACHABLE',
      message: `GET /readyz got no answer: connect ECONNREFUSED 127.0.0.1:${port}`,
    })
  })

  it('does not renew credentials after a refused connection, and rejects requests once closed', async () => {
    const server = await startHttpsServer(() => {})
    await server.close()
    let renewals = 0
    const transport = createUndiciExchange({
      server: server.url,
      credentials: async () => ({ headers: {} }),
      renew: async () => (renewals++, null),
    })
    const send = (): Promise<unknown> => transport.exchange({ method: 'GET', path: '/', headers: {} }, new AbortController().signal)
    await expect(send()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(renewals).toBe(0)
    await transport.close()
    await expect(send()).rejects.toThrow('the connections to the API server were closed')
  })

  it('does not trust a server that another authority vouches for', async () => {
    const other = await startHttpsServer(() => {})
    closing.push(() => other.close())
    const { client } = await connected((_request, response) => json(response, 200, {}), { ca: other.ca })
    await expect(client.delete(resourcePaths.nodes, { namespace: '', name: 'n' })).rejects.toMatchObject({ code: 'API_UNREACHABLE' })
  })

  it('keeps to the deadline if the server is silent, and closes that connection', async () => {
    const { client, server } = await connected(() => {})
    await expect(client.text('/readyz', { deadlineMs: 50 })).rejects.toMatchObject({ code: 'API_DEADLINE' })
    await until(() => server.sockets.size === 0)
  })

  it('does not delay an urgent call behind calls that use all connections', async () => {
    const held: ServerResponse[] = []
    const { client, transport } = await connected((request, response) => {
      if (request.url?.startsWith('/apis') === true) return json(response, 200, { metadata: { name: 'leader' } })
      held.push(response)
    })
    const urgent = createKubeClient({ exchange: transport.urgentExchange, clock: systemClock, userAgent: 'test/1', log: silentLogger })
    const calls = Array.from({ length: 100 }, (_, i) => client.get(resourcePaths.nodes, { namespace: '', name: `n${i}` }))
    for (const call of calls) call.catch(() => {})
    await until(() => held.length === 32)
    await expect(urgent.get(resourcePaths.leases, { namespace: 'a', name: 'leader' })).resolves.toMatchObject({
      metadata: { name: 'leader' },
    })
    expect(held).toHaveLength(32)
  })

  it('closes at once, although the server accepts the connection and never responds', async () => {
    const accepted = Promise.withResolvers<void>()
    const silent = createServer(() => accepted.resolve()).listen(0, '127.0.0.1')
    closing.push(async () => void silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const transport = createUndiciExchange({ server: `https://127.0.0.1:${port}`, credentials: async () => ({ headers: {} }) })
    const client = createKubeClient({ exchange: transport.exchange, clock: systemClock, userAgent: 'tranche-test/1', log: silentLogger })
    const call = client.text('/version').catch(() => 'broken')
    await accepted.promise
    const startMs = systemClock.monotonicMs()
    await transport.close()
    expect(await call).toBe('broken')
    expect(systemClock.monotonicMs() - startMs).toBeLessThan(5_000)
  })

  it('uses new certificates for new connections without losing a call', async () => {
    const names: (string | undefined)[] = []
    const { client, server, credentials } = await connected((request, response) => {
      names.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined)
      json(response, 200, {})
    })
    await client.text('/version')
    credentials.cert = server.ca
    credentials.key = server.key
    await client.text('/version')
    expect(names).toEqual([undefined, 'test'])
    expect(server.connections()).toBe(2)
  })
})

describe('a watch over a real connection', () => {
  it('has its own connection, and ends when the reader leaves', async () => {
    const { client, server } = await connected((request, response) => {
      if (isWatch(request)) response.write(event('ADDED', 'a', 6))
      else json(response, 200, {})
    })
    for await (const { type } of client.watch(resourcePaths.nodes, { resourceVersion: '5' })) {
      expect(type).toBe('ADDED')
      await Promise.all([client.text('/version'), client.text('/version')])
      break
    }
    await until(() => server.sockets.size === 2)
    expect(server.connections()).toBe(3)
  })

  it('decodes characters that the network splits', async () => {
    const bytes = Buffer.from(event('ADDED', 'größe-✓', 6))
    const { client } = await connected(async (_request, response) => {
      for (const byte of bytes) await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()))
      response.end()
    })
    const names: string[] = []
    for await (const one of client.watch<KubeObject>(resourcePaths.nodes, { resourceVersion: '5' })) {
      if (one.type !== 'BOOKMARK') names.push(one.object.metadata.name)
    }
    expect(names).toEqual(['größe-✓'])
  })

  it('survives a reset and a silent half-open connection: the reflector resumes', async () => {
    const froms: (string | null)[] = []
    const { client, server } = await connected((request, response) => {
      const url = new URL(request.url!, 'https://x')
      if (!isWatch(request)) return json(response, 200, { metadata: { resourceVersion: '5' }, items: [] })
      froms.push(url.searchParams.get('resourceVersion'))
      const turn = froms.length
      response.write(event('ADDED', `node-${turn}`, 5 + turn), () => {
        if (turn === 1) server.reset(request)
        // The second stays open and says nothing more.
      })
    })
    const reflector = createReflector({
      client,
      resource: resourcePaths.nodes,
      transform: (node: KubeObject) => node.metadata.name,
      clock: systemClock,
      log: silentLogger,
      idleTimeoutMs: 150,
    })
    const run = reflector.start()
    await reflector.whenReached('8')
    expect(froms).toEqual(['5', '6', '7'])
    expect(reflector.store.list()).toEqual(['node-1', 'node-2', 'node-3'])
    reflector.stop()
    await run
  })

  it('ends when the transport is closed', async () => {
    const { client, transport } = await connected((_request, response) => response.write(event('ADDED', 'a', 6)))
    const watching = (async () => {
      for await (const _event of client.watch(resourcePaths.nodes, { resourceVersion: '5' })) void transport.close()
    })()
    await expect(watching).rejects.toMatchObject({ code: 'API_UNREACHABLE' })
  })
})

interface Connected {
  readonly client: KubeClient
  readonly transport: UndiciExchange
  readonly server: HttpsServer
  /** Changing it is a rotation. */
  readonly credentials: { -readonly [Field in keyof Credentials]: Credentials[Field] }
}

async function connected(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  trusted: Partial<Credentials> = {},
): Promise<Connected> {
  const server = await startHttpsServer((request, response) => void handle(request, response))
  const credentials = { ca: server.ca, headers: { authorization: 'Bearer token-1' }, ...trusted }
  const transport = createUndiciExchange({ server: server.url, credentials: async () => ({ ...credentials }) })
  closing.push(
    () => server.close(),
    () => transport.close(),
  )
  const { exchange, watchExchange } = transport
  const client = createKubeClient({ exchange, watchExchange, clock: systemClock, userAgent: 'tranche-test/1', log: silentLogger })
  return { client, transport, server, credentials }
}

function isWatch(request: IncomingMessage): boolean {
  return request.url!.includes('watch=true')
}

function event(type: string, name: string, version: number): string {
  return `${JSON.stringify({ type, object: { metadata: { name, uid: name, resourceVersion: String(version) } } })}\n`
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** Checks after each iteration of the event loop, up to the time limit of the test. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
