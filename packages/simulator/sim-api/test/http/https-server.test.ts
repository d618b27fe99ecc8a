import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { type HttpsServer, listen } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStub, pod, type Stub } from './stub-api-server.ts'

let stub: Stub
let server: HttpsServer
let holds: number
let started: number

beforeEach(async () => {
  stub = createStub([pod('a')])
  holds = 0
  started = 0
  const onRequestStart = (): (() => void) => {
    let held = true
    holds++
    started++
    return () => {
      if (held) holds--
      held = false
    }
  }
  server = await listen(stub.front, { port: 0, onRequestStart })
})

afterEach(() => server.close())

const authorization = 'Bearer secret'

describe('a server that listens', () => {
  it('is trusted by its own authority under each loopback name', async () => {
    for (const host of ['127.0.0.1', 'localhost']) expect(await get('/api/v1/pods', { host })).toMatchObject({ status: 200 })
  })

  it('is not trusted without that authority', async () => {
    await expect(get('/readyz', { ca: '' })).rejects.toThrow(/certificate/)
  })

  it('refuses a Host header with another name', async () => {
    expect(await get('/readyz', { host: 'localhost', headers: { host: 'example.com' } })).toMatchObject({ status: 421 })
  })

  it('refuses a request with an unknown token', async () => {
    expect(await get('/api', { headers: { authorization: 'Bearer other' } })).toMatchObject({
      status: 401,
      text: expect.stringContaining('"reason":"Unauthorized"'),
    })
  })

  it('answers over HTTP/2', async () => {
    const session = connectHttp2(server.url, { ca: server.caCertificate })
    const stream = session.request({ ':path': '/api/v1/pods', authorization })
    const status = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
    const text = (await stream.toArray()).join('')
    session.close()
    expect(await status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'a' } }] })
  })

  it('reports that its port is in use', async () => {
    await expect(listen(stub.front, { port: server.port })).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  })

  it('reports that the system does not allow the address', async () => {
    const refused = { code: 'OPTION_INVALID', message: expect.stringContaining('cannot listen on 192.0.2.1:0') as string }
    await expect(listen(stub.front, { host: '192.0.2.1', port: 0 })).rejects.toMatchObject(refused)
  })

  it('compresses a long answer for a client that accepts that', async () => {
    const long = createStub([pod('a', { spec: { note: 'x'.repeat(200_000) } })])
    const other = await listen(long.front, { port: 0 })
    const plain = await raw(other, { authorization })
    const compressed = await raw(other, { authorization, 'accept-encoding': 'gzip, deflate' })
    const refused = await raw(other, { authorization, 'accept-encoding': 'gzip;q=0' })
    await other.close()
    expect([plain.encoding, compressed.encoding, refused.encoding]).toEqual([undefined, 'gzip', undefined])
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 10)
    expect(gunzipSync(compressed.bytes)).toEqual(plain.bytes)
  })

  it('does not compress a short answer', async () => {
    expect((await raw(server, { authorization, 'accept-encoding': 'gzip' })).encoding).toBeUndefined()
  })

  it('refuses a body as soon as it exceeds the limit', async () => {
    const sent = request({
      host: '127.0.0.1',
      port: server.port,
      path: '/api/v1/namespaces/x/pods',
      method: 'POST',
      ca: server.caCertificate,
      headers: { authorization },
      agent: false,
    })
    sent.on('error', () => undefined)
    const status = new Promise((resolve) => sent.once('response', (response) => resolve(response.statusCode)))
    sent.write('x'.repeat((3 << 20) + 1))
    expect(await status).toBe(413)
    sent.destroy()
  })

  it('holds the clock until a request is answered', async () => {
    await get('/api/v1/pods')
    expect(started).toBeGreaterThan(0)
    await expect.poll(() => holds).toBe(0)
  })
})

describe('a watch over a socket', () => {
  it('streams, releases the clock between frames, and ends cleanly on close', async () => {
    const watch = open('/api/v1/pods?watch=true')
    await expect.poll(() => stub.watches.length).toBe(1)
    await expect.poll(() => holds).toBe(0)
    stub.watches[0]?.sink.frame({ type: 'ADDED', object: pod('a') })
    await expect.poll(() => watch.text).toContain('"ADDED"')
    await server.close()
    await expect(watch.ended).resolves.toBe('end')
    expect(stub.watches[0]?.stopped).toBe(true)
  })

  it('ends cleanly over HTTP/2, too', async () => {
    const session = connectHttp2(server.url, { ca: server.caCertificate })
    const stream = session.request({ ':path': '/api/v1/pods?watch=true', authorization })
    await expect.poll(() => stub.watches.length).toBe(1)
    stub.watches[0]?.sink.frame({ type: 'DELETED', object: pod('a') })
    const [chunks] = await Promise.all([stream.toArray(), server.close()])
    expect(chunks.join('')).toContain('"DELETED"')
    session.destroy()
  })

  it('stops when the client goes away', async () => {
    const watch = open('/api/v1/pods?watch=true')
    await expect.poll(() => stub.watches.length).toBe(1)
    watch.destroy()
    await expect.poll(() => stub.watches[0]?.stopped).toBe(true)
  })

  it('breaks when a fault cuts it', async () => {
    const watch = open('/api/v1/pods?watch=true')
    await expect.poll(() => stub.watches.length).toBe(1)
    stub.watches[0]?.sink.end('cut')
    await expect(watch.ended).resolves.toBe('broken')
  })
})

interface Options {
  readonly host?: string
  readonly ca?: string
  readonly headers?: Record<string, string>
}

function get(path: string, options: Options = {}): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { host = '127.0.0.1', ca = server.caCertificate, headers = { authorization } } = options
    request({ host, port: server.port, path, ca, headers, servername: host === '127.0.0.1' ? '' : host, agent: false }, (response) => {
      response.toArray().then((chunks) => resolve({ status: response.statusCode, text: chunks.join('') }), reject)
    })
      .once('error', reject)
      .end()
  })
}

function raw(to: HttpsServer, headers: Record<string, string>): Promise<{ readonly encoding: string | undefined; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: to.port, path: '/api/v1/pods', ca: to.caCertificate, headers, agent: false }
    request(options, (response) => {
      response
        .toArray()
        .then((chunks) => resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks as Buffer[]) }), reject)
    })
      .once('error', reject)
      .end()
  })
}

interface OpenWatch {
  text: string
  readonly ended: Promise<'end' | 'broken'>
  destroy(): void
}

function open(path: string): OpenWatch {
  const ended = Promise.withResolvers<'end' | 'broken'>()
  const sent = request({ host: '127.0.0.1', port: server.port, path, ca: server.caCertificate, headers: { authorization }, agent: false })
  const watch: OpenWatch = { text: '', ended: ended.promise, destroy: () => void sent.destroy() }
  sent.once('response', (response) => {
    response.on('data', (chunk) => (watch.text += String(chunk)))
    response.once('end', () => ended.resolve('end'))
    response.once('error', () => ended.resolve('broken'))
  })
  sent.once('error', () => ended.resolve('broken'))
  sent.end()
  return watch
}
