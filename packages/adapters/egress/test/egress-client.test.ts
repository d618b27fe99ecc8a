import { lookup } from 'node:dns'
import { text } from 'node:stream/consumers'
import { FakeClock, systemClock } from '@tranche/clock'
import { createEgressClient, MAX_ANSWER_BYTES, type EgressClient, type EgressRequest, parseHostRule, type Resolve } from '@tranche/egress'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, startServer, type TestServer } from './servers.ts'

// Real sockets on loopback: 127.0.0.1 and localhost are two hosts.

const closing: (() => Promise<void>)[] = []
const never = new AbortController().signal

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe('an egress request', () => {
  it('returns any response', async () => {
    const server = await serve((_request, response) => response.writeHead(503, { 'x-a': 'b' }).end('größer'))
    expect(await get(server.url)).toMatchObject({ kind: 'answered', status: 503, headers: { 'x-a': 'b' }, body: 'größer' })
  })

  it('carries method, headers, body, and user agent', async () => {
    const server = await serve(async (request, response) => {
      const { method, headers } = request
      response.end(JSON.stringify([method, headers['user-agent'], headers['x-a'], headers['authorization'], await text(request)]))
    })
    const result = await get(server.url, { method: 'POST', headers: { 'x-a': '1' }, privateHeaders: { authorization: 's' }, body: 'hello' })
    expect(result).toMatchObject({ body: '["POST","test/1","1","s","hello"]' })
  })

  it('is not sent to a host that is not allowed', async () => {
    const server = await serve((_request, response) => response.end())
    expect(await get(server.url, {}, ['localhost', '127.0.0.1:1'])).toEqual({
      kind: 'failed',
      reason: 'HostNotAllowed',
      message: `127.0.0.1:${server.port} is not an allowed host; the operator of the controller can allow it with --allow-host`,
    })
    expect(server.requests).toEqual([])
  })

  it.each(['ftp://127.0.0.1/', 'http://user:secret@127.0.0.1/', '/path', 'http://'])('is not sent to the URL %s', async (url) => {
    const result = await get(url)
    expect(result).toMatchObject({ kind: 'failed', reason: 'InvalidUrl' })
    expect(JSON.stringify(result)).not.toContain('secret@')
  })

  it('names the host and no path if the connection is refused', async () => {
    const server = await serve(() => {})
    await server.close()
    closing.length = 0
    expect(await get(`${server.url}/services/SECRET?token=SECRET`)).toEqual({
      kind: 'failed',
      reason: 'Unreachable',
      message: `127.0.0.1:${server.port} cannot be reached: connect ECONNREFUSED 127.0.0.1:${server.port}`,
    })
  })

  it('reports a broken connection', async () => {
    const server = await serve((request) => request.socket.destroy())
    expect(await get(server.url)).toMatchObject({ kind: 'failed', reason: 'Unreachable' })
  })

  it('is retried once after a broken connection, if it is a GET', async () => {
    const server = await serve((request, response) => (server.requests.length % 2 === 1 ? request.socket.destroy() : response.end('there')))
    expect(await get(server.url)).toMatchObject({ kind: 'answered', body: 'there' })
    expect(await get(server.url, { method: 'POST' })).toMatchObject({ kind: 'failed', reason: 'Unreachable' })
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
  })

  it('is aborted with its caller', async () => {
    const stop = new AbortController()
    const server = await serve(() => stop.abort(new Error('stopped')))
    await expect(egress().send({ caller: 'demo', url: server.url, method: 'GET', timeoutMs: 60_000 }, stop.signal)).rejects.toThrow(
      'stopped',
    )
  })
})

describe('a server that does not answer as it should', () => {
  it.each([
    ['says nothing', (_response: Response) => {}],
    ['stops in the middle of its answer', (response: Response) => void response.write('{')],
  ])('is aborted at the deadline if it %s', async (_name, answer) => {
    const clock = new FakeClock()
    const server = await serve((_request, response) => {
      answer(response)
      setImmediate(() => clock.advance(10_000))
    })
    const result = await egress(clock).send({ caller: 'demo', url: server.url, method: 'GET', timeoutMs: 10_000 }, never)
    expect(result).toEqual({ kind: 'failed', reason: 'Timeout', message: `127.0.0.1:${server.port} did not answer within 10000 ms` })
    expect(clock.pendingTimers).toBe(0)
  })

  it('may return 1 MiB and no more', async () => {
    const server = await serve((request, response) => response.end('x'.repeat(MAX_ANSWER_BYTES + (request.url === '/more' ? 1 : 0))))
    expect(await get(server.url)).toMatchObject({ kind: 'answered' })
    expect(await get(`${server.url}/more`)).toMatchObject({ kind: 'failed', reason: 'TooLarge' })
  })

  it('is not read without end', async () => {
    const server = await serve((_request, response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', flood)
      }
      flood()
    })
    expect(await get(server.url)).toMatchObject({ kind: 'failed', reason: 'TooLarge' })
  })
})

describe('a name that resolves to', () => {
  /** Resolves every name to an address, or to one after the other. */
  const resolving =
    (addresses: readonly string[], asked: string[] = []): Resolve =>
    (name, _options, done) => {
      const address = addresses[Math.min(asked.push(name), addresses.length) - 1]!
      done(null, [{ address, family: address.includes(':') ? 6 : 4 }])
    }

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    'fe80::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:169.254.169.254',
    '::ffff:127.0.0.1',
    '64:ff9b::a9fe:a9fe',
  ])('%s is refused, though the name is allowed', async (address) => {
    const made = egress(systemClock, ['metrics.example', '*.example'], resolving([address]))
    const result = await made.send(
      { caller: 'demo', url: 'http://metrics.example:1/latest/meta-data', method: 'GET', timeoutMs: 20_000 },
      never,
    )
    expect(result).toMatchObject({ kind: 'failed', reason: 'HostNotAllowed' })
    expect(JSON.stringify(result)).toContain('an address of this machine or of its cloud')
  })

  it('this machine is allowed if a rule contains its address', async () => {
    const server = await serve((_request, response) => response.end('there'))
    const made = egress(systemClock, ['metrics.example', '127.0.0.1'], resolving(['127.0.0.1']))
    const request = { caller: 'demo', url: `http://metrics.example:${server.port}/`, method: 'GET', timeoutMs: 20_000 } as const
    expect(await made.send(request, never)).toMatchObject({ body: 'there' })
  })

  it('another address the next time is connected only at the checked address', async () => {
    const server = await serve((_request, response) => response.end('secret'))
    const asked: string[] = []
    const made = egress(systemClock, ['metrics.example'], resolving(['::ffff:127.0.0.1', '127.0.0.1'], asked))
    const request = { caller: 'demo', url: `http://metrics.example:${server.port}/`, method: 'POST', timeoutMs: 20_000 } as const
    for (let time = 0; time < 3; time++) expect(await made.send(request, never)).toMatchObject({ reason: 'HostNotAllowed' })
    expect([asked.length, server.requests.length]).toEqual([3, 0])
  })
})

describe('a redirect', () => {
  it('is not followed to an address of this machine by an allowed name', async () => {
    const target = await serve((_request, response) => response.end('secret'))
    const server = await serve((_request, response) =>
      response.writeHead(302, { location: `http://metrics.example:${target.port}/` }).end(),
    )
    const made = egress(systemClock, ['localhost', 'metrics.example'], (name, options, done) =>
      name === 'metrics.example' ? done(null, [{ address: '127.0.0.1', family: 4 }]) : lookup(name, options, done),
    )
    const request = { caller: 'demo', url: `http://localhost:${server.port}/`, method: 'GET', timeoutMs: 20_000 } as const
    expect(await made.send(request, never)).toMatchObject({ reason: 'HostNotAllowed' })
    expect(target.requests).toEqual([])
  })

  it('is followed three times', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    expect(await get(`${server.url}/3`)).toMatchObject({ body: 'there' })
    expect(await get(`${server.url}/4`)).toMatchObject({ kind: 'failed', reason: 'TooManyRedirects' })
  })

  it('is not followed to a host that is not allowed', async () => {
    const target = await serve((_request, response) => response.end('secret'))
    const server = await serve((_request, response) => response.writeHead(302, { location: `http://localhost:${target.port}/` }).end())
    expect(await get(server.url, {}, ['127.0.0.1'])).toEqual({
      kind: 'failed',
      reason: 'HostNotAllowed',
      message: `a redirect leads to localhost:${target.port}, which is not an allowed host; the operator of the controller can allow it with --allow-host`,
    })
    expect(target.requests).toEqual([])
  })

  it.each(['http://user:pass@127.0.0.1/', 'file:///etc/passwd'])('does not lead to %s', async (location) => {
    const server = await serve((_request, response) => response.writeHead(302, { location }).end())
    expect(await get(server.url)).toMatchObject({ kind: 'failed', reason: 'InvalidUrl' })
  })

  it('to another origin carries no token', async () => {
    const target = await serve((request, response) => response.end(String(request.headers.authorization)))
    const server = await serve((_request, response) => response.writeHead(307, { location: `${target.url}/` }).end())
    expect(await get(server.url, { privateHeaders: { authorization: 'secret' } })).toMatchObject({ body: 'undefined' })
    expect(server.requests[0]?.headers.authorization).toBe('secret')
  })

  it.each([
    [301, { status: 301 }],
    [303, { status: 303 }],
    [307, { status: 200, body: 'POST hello' }],
    [308, { status: 200, body: 'POST hello' }],
  ])('by %i repeats a POST as a POST, or is not followed', async (status, want) => {
    const server = await serve(async (request, response) => {
      if (request.url === '/there') response.end(`${request.method} ${await text(request)}`)
      else response.writeHead(status, { location: '/there' }).end()
    })
    expect(await get(server.url, { method: 'POST', body: 'hello' })).toMatchObject(want)
  })
})

type Response = Parameters<Answer>[1]

async function serve(answer: Answer): Promise<TestServer> {
  const server = await startServer(answer)
  closing.push(server.close)
  return server
}

function egress(
  clock: Parameters<typeof createEgressClient>[0]['clock'] = systemClock,
  hosts = ['127.0.0.1', 'localhost'],
  resolve?: Resolve,
): EgressClient {
  const allowHosts = hosts.map(parseHostRule).filter((rule) => typeof rule !== 'string')
  const made = createEgressClient({ clock, allowHosts, userAgent: 'test/1', ...(resolve !== undefined && { resolve }) })
  closing.push(() => made.close())
  return made
}

function get(url: string, request: Partial<EgressRequest> = {}, hosts?: string[]): ReturnType<EgressClient['send']> {
  return egress(systemClock, hosts).send({ caller: 'demo', url, method: 'GET', timeoutMs: 20_000, ...request }, never)
}
