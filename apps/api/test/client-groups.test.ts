import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { FakeClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, describe, expect, it } from 'vitest'
import { rememberReviews } from '../src/auth/remembered-reviews.ts'
import type { Question } from '../src/auth/reviews.ts'
import type { Limits } from '../src/limits/limits.ts'
import { createNodeFeeds } from '../src/stream/node-feeds.ts'
import { createStreamHub, type StreamSource } from '../src/stream/stream-hub.ts'
import { FakeNodes } from './fake-nodes.ts'
import { type ApiStage, readsOf, startTestApi } from './fixtures.ts'

let stage: ApiStage
let port: number
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await stage.end()
})

const account = (name: string, namespace = 'tenant'): string => `system:serviceaccount:${namespace}:${name}`

describe('the service accounts of a namespace', () => {
  it('have the streams of one client together', async () => {
    await start({ streams: 100, streamsOfCaller: 2 })
    const statuses: number[] = []
    for (let at = 0; at < 5; at++) statuses.push((await openStream(account(`sa-${at}`))).status)
    expect(statuses).toEqual([200, 200, 429, 429, 429])
    expect((await openStream('ann')).status).toBe(200)
    expect((await openStream(account('sa-9'))).text).toContain('of the service accounts of namespace \\"tenant\\" together are open')
  })

  it('have the unfinished bodies of one client together', async () => {
    await start({ receivedBytes: 40_000, receivedBytesOfUser: 4_000 })
    await write(post(account('one'), 3_000))
    await expect.poll(async () => (await check(account('two'), 2_000)).status).toBe(429)
    expect(await (await check(account('three'), 2_000)).json()).toMatchObject({ code: 'RATE_LIMITED' })
    expect((await check('ann', 2_000)).status).toBe(200)
    expect((await check(account('one', 'other'), 2_000)).status).toBe(200)
  })

  it('have the requests per second of one client together', async () => {
    await start({ requestsPerSecond: 1 })
    let answer = await me(account('sa-0'))
    for (let at = 1; at < 100 && answer.statusCode === 200; at++) answer = await me(account(`sa-${at}`))
    expect(answer.json()).toMatchObject({ code: 'RATE_LIMITED' })
    expect(answer.body).toContain('from the service accounts of namespace')
    expect((await me('ann')).statusCode).toBe(200)
  })
})

it('several tokens of one user have the requests per second of one client', async () => {
  await start({ requestsPerSecond: 1 })
  let answer = await me('ann', 0)
  for (let at = 1; at < 100 && answer.statusCode === 200; at++) answer = await me('ann', at)
  expect(answer.json()).toMatchObject({ code: 'RATE_LIMITED' })
})

it('several clients, each with all streams that it may have, leave the last quarter to clients without a stream', async () => {
  await start({ streams: 8, streamsOfCaller: 3 })
  const statuses: number[] = []
  for (const namespace of ['a', 'b', 'c'])
    for (let at = 0; at < 3; at++) statuses.push((await openStream(account(`sa-${at}`, namespace))).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 503, 503])
  expect((await openStream('ann')).status).toBe(200)
})

it('requests for a stream that the client may not see take no place while they are reviewed', async () => {
  const review = Promise.withResolvers<boolean>()
  await start({ streams: 1, streamsOfCaller: 1 }, (question) =>
    question.kind === 'resource' && question.namespace === 'secret' ? review.promise : true,
  )
  const refused = [1, 2, 3].map(() => openStream('eve', '?namespace=secret'))
  expect((await openStream('ann')).status).toBe(200)
  review.resolve(false)
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([403, 403, 403])
})

/** A token is a user name and a number: each is another token of that user. */
const bearer = (user: string, token = 0): string => `Bearer ${user}/${token}`

async function start(limits: Partial<Limits>, isAllowed: (question: Question) => boolean | Promise<boolean> = () => true): Promise<void> {
  const clock = new FakeClock()
  const authenticate = async (token: string) => ({ username: token.split('/', 1)[0] ?? '', groups: [] })
  const reviews = rememberReviews(
    { authenticate, isAllowed: async (_caller, question) => isAllowed(question), rightFor: (question) => question },
    clock,
  )
  const hub = createStreamHub({ source: emptySource, clock, log: silentLogger })
  const feeds = createNodeFeeds({ source: new FakeNodes('node-1'), clock, log: silentLogger })
  stage = await startTestApi(readsOf([]), { limits, parts: { reviews, clock, stream: () => ({ hub, source: emptySource, feeds }) } })
  await stage.app.listen({ host: '127.0.0.1', port: 0 })
  port = (stage.app.server.address() as AddressInfo).port
}

const emptySource: StreamSource = {
  keys: () => [],
  summary: () => undefined,
  positions: () => ['1'],
  whenReached: async () => {},
  subscribe: () => () => {},
  events: () => [],
}

function me(user: string, token = 0) {
  return stage.app.inject({ url: '/api/v1/me', headers: { authorization: bearer(user, token) } })
}

async function write(text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

async function openStream(user: string, query = ''): Promise<{ readonly status: number; readonly text: string }> {
  const socket = await write(`GET /api/v1/stream${query} HTTP/1.1\r\nhost: a\r\nauthorization: ${bearer(user)}\r\n\r\n`)
  const text = String(((await once(socket, 'data')) as [Buffer])[0])
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), text }
}

/** The headers of a request, and none of its body. */
function post(user: string, length: number): string {
  const headers = `authorization: ${bearer(user)}\r\ncontent-type: application/json\r\ncontent-length: ${length}`
  return `POST /api/v1/validate HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`
}

function check(user: string, length: number): Promise<Response> {
  const body = JSON.stringify({ manifests: '' }).padEnd(length, ' ')
  const headers = { authorization: bearer(user), 'content-type': 'application/json' }
  return fetch(`http://127.0.0.1:${port}/api/v1/validate`, { method: 'POST', headers, body })
}
