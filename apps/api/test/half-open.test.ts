import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ApiStage, startTestApi, readsOf } from './fixtures.ts'

const limits = { connections: 40, connectionsOfAddress: 20, receivedBytes: 4_096, receivedBytesOfUser: 2_048 }
let stage: ApiStage
let port: number
let sockets: Socket[]

beforeEach(async () => {
  sockets = []
  stage = await startTestApi(readsOf([]), { limits })
  await stage.app.listen({ host: '127.0.0.1', port: 0 })
  port = (stage.app.server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await stage.end()
})

async function opened(localAddress: string, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'connect')
  socket.write(text)
  return socket
}
const post = (path: string, length: number, headers: Readonly<Record<string, string>> = {}): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: a',
    'content-type: application/json',
    `content-length: ${length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '{"id":',
  ].join('\r\n')
const halfOpenHook = post('/api/v1/namespaces/demo/hooks/any', 16_000)
const halfOpenCheck = (length: number, user: string): string => post('/api/v1/validate', length, stage.as(user))
/** Number of open connections of the server. */
const held = (): Promise<number> =>
  new Promise((resolve, reject) => stage.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))))
const answerTo = async (socket: Socket): Promise<string> => String(((await once(socket, 'data')) as [Buffer])[0])

describe('half-open requests of unauthenticated clients', () => {
  it.each([
    ['messages to hooks with unfinished bodies', halfOpenHook],
    ['requests with unfinished headers', 'GET / HTTP/1.1\r\n'],
    ['silent connections', ''],
    ['connections that are idle after a public request', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'],
  ])('are closed above the maximum of their address, oldest first: %s', async (_what, text) => {
    const first = await opened('127.0.0.2', text)
    const closed = once(first, 'close')
    for (let more = 0; more < 30; more++) await opened('127.0.0.2', text)
    await closed
    await expect.poll(held).toBe(20)
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  })

  it('are closed above the total maximum, from the address with the most', async () => {
    const lone = await opened('127.0.0.9', halfOpenHook)
    for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) for (let more = 0; more < 20; more++) await opened(address, halfOpenHook)
    await expect.poll(held).toBe(40)
    expect(lone.closed).toBe(false)
  })
})

describe('half-open requests of authenticated clients', () => {
  it('are not closed because of unauthenticated clients', async () => {
    const known = await opened('127.0.0.2', halfOpenCheck(1_000, 'viewer'))
    await expect.poll(() => stage.reviews.length).toBeGreaterThan(0)
    for (let more = 0; more < 30; more++) await opened('127.0.0.2', halfOpenHook)
    await expect.poll(held).toBe(21)
    expect(known.closed).toBe(false)
  })

  it('are refused above the maximum of their user, and leave the quota of others', async () => {
    await opened('127.0.0.2', halfOpenCheck(2_000, 'viewer'))
    await expect.poll(() => stage.reviews.length).toBeGreaterThan(0)
    const body = JSON.stringify({ manifests: '' })
    const send = (user: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/api/v1/validate`, {
        method: 'POST',
        headers: { ...stage.as(user), 'content-type': 'application/json' },
        body: `${body}${' '.repeat(200)}`,
      })
    await expect.poll(async () => (await send('viewer')).status).toBe(429)
    expect(await (await send('viewer')).json()).toMatchObject({ code: 'RATE_LIMITED' })
    expect((await send('approver')).status).toBe(200)
  })

  it('release their quota when the body has arrived', async () => {
    for (let time = 0; time < 5; time++) {
      const socket = await opened('127.0.0.2', halfOpenCheck(1_500, 'viewer'))
      const answer = answerTo(socket)
      socket.write(`0}${' '.repeat(1_492)}`)
      expect(await answer).toContain('HTTP/1.1 400')
    }
  })

  it('release their quota when the connection is closed', async () => {
    for (let time = 0; time < 5; time++) {
      const socket = await opened('127.0.0.2', halfOpenCheck(1_500, 'viewer'))
      await expect.poll(() => stage.reviews.length).toBeGreaterThan(0)
      socket.destroy()
      await expect.poll(held).toBe(0)
    }
    const socket = await opened('127.0.0.2', halfOpenCheck(1_500, 'viewer'))
    const answer = answerTo(socket)
    socket.write(`0}${' '.repeat(1_492)}`)
    expect(await answer).toContain('HTTP/1.1 400')
  })
})
