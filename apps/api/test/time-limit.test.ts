import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { ActionAnswer } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

// Uses sockets: without them, the end of the request body and the end of the answer are indistinguishable.

const clock = new FakeClock()
let stage: ApiStage
let url: string
/** Handler of the action; gets the `ending` signal of the request. */
let act: (ending: AbortSignal) => Promise<ActionAnswer>
let begun: PromiseWithResolvers<AbortSignal>

beforeEach(() => void (begun = Promise.withResolvers()))
beforeAll(async () => {
  const acting = (ending: AbortSignal): Promise<never> => {
    begun.resolve(ending)
    return act(ending) as Promise<never>
  }
  stage = await startTestApi(readsOf([aSummary()]), {
    limits: { requestMs: 15_000, planMs: 20_000 },
    parts: { clock, carryOut: (_order, timeUp) => acting(timeUp), plan: (_order, signal) => acting(signal) },
  })
  await stage.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(stage.app.server.address() as AddressInfo).port}/api/v1/namespaces/demo/rollouts/agent`
})
afterAll(() => stage.end())

const post = (path: string, body: object | undefined, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...stage.as('admin'), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
const untilEnd = (ending: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => ending.addEventListener('abort', () => reject(ending.reason as Error)))

it.each([
  ['an action', '/actions/pause', {}, 75_000],
  ['an action without a body', '/actions/pause', undefined, 75_000],
  ['a forecast', '/plan', {}, 35_000],
] as const)('limits the time of %s, and aborts its handler then', async (_name, path, body, timeMs) => {
  act = untilEnd
  const answer = post(path, body)
  const ending = await begun.promise
  clock.advance(timeMs - 1)
  expect(ending.aborted).toBe(false)
  clock.advance(1)
  expect(ending.aborted).toBe(true)
  const { status, headers } = await answer
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(await (await answer).json()).toMatchObject({
    code: 'NOT_READY',
    detail: `the request exceeded its time limit of ${timeMs / 1000} s. Try again.`,
  })
})

it('lets the handler return the state so far', async () => {
  act = (ending) => untilEnd(ending).catch(() => ({ id: 'a', type: 'pause', state: 'accepted', message: 'it is written', repeated: false }))
  const answer = post('/actions/pause', {})
  await begun.promise
  clock.advance(75_000)
  expect((await answer).status).toBe(202)
})

it('answers a second later if the handler does not stop', async () => {
  act = () => new Promise(() => {})
  const answer = post('/actions/pause', {})
  await begun.promise
  clock.advance(75_000)
  clock.advance(1_000)
  expect((await answer).status).toBe(503)
})

it('aborts the handler when the client disconnects', async () => {
  act = untilEnd
  const leaving = new AbortController()
  const answer = post('/actions/pause', {}, leaving.signal)
  const ending = await begun.promise
  const heard = untilEnd(ending)
  leaving.abort()
  await expect(answer).rejects.toThrow()
  await expect(heard).rejects.toThrow('the client disconnected before the answer')
})

it('closes a connection whose headers are not complete after 5 s', async () => {
  const socket = connect((stage.app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  const began = performance.now()
  socket.write('GET /api/v1/rollouts HTTP/1.1\r\nhost: a\r\n')
  const dripping = setInterval(() => socket.write('x-slow: 1\r\n'), 500)
  socket.resume()
  await once(socket, 'close')
  clearInterval(dripping)
  // With the default check interval of Node.js it would take 30 s or more.
  expect(performance.now() - began).toBeLessThan(15_000)
})
