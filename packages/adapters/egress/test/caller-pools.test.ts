import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, FakeClock, systemClock } from '@tranche/clock'
import { createEgressClient, type EgressClient, type HostRule, parseHostRule } from '@tranche/egress'
import { afterEach, describe, expect, it } from 'vitest'
import { CallerPools } from '../src/caller-pools.ts'

const never = new AbortController().signal
const limits = { connections: 8, requestsOfCaller: 20, longAnswers: 3, longAnswersOfCaller: 2, keepAliveMs: 10_000 } as const

const servers: Server[] = []
let egress: EgressClient | undefined
afterEach(async () => {
  await egress?.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

describe('a caller whose requests are slow', () => {
  it('keeps no other caller from the same server, and waits for its own', async () => {
    const held: ServerResponse[] = []
    const isFull = Promise.withResolvers<void>()
    const origin = await serve((url, response) => {
      if (url !== '/slow') return void response.end('fast')
      held.push(response)
      if (held.length === 8) isFull.resolve()
    })
    const ask = (caller: string, path: string): ReturnType<EgressClient['send']> =>
      egress!.send({ caller, url: `${origin}${path}`, method: 'GET', timeoutMs: 60_000 }, never)
    const slow = Array.from({ length: 8 }, () => ask('a', '/slow'))
    await isFull.promise
    const waiting = ask('a', '/fast')
    expect(await ask('b', '/fast')).toMatchObject({ kind: 'answered', body: 'fast' })
    for (const response of held) response.end('slow')
    expect(await waiting).toMatchObject({ body: 'fast' })
    expect(await Promise.all(slow)).toHaveLength(8)
  })

  it('is informed if a request was not sent in time', async () => {
    const clock = new FakeClock()
    let held = 0
    const isFull = Promise.withResolvers<void>()
    const origins = await serveMany(8, () => void (++held === 64 && isFull.resolve()), clock)
    const ask = (at: number, timeoutMs: number): ReturnType<EgressClient['send']> =>
      egress!.send({ caller: 'demo', url: origins[at % 8] ?? '', method: 'GET', timeoutMs }, never)
    for (let at = 0; at < 64; at++) void ask(at, 60_000)
    await isFull.promise
    const last = ask(0, 1_000)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
    expect(await last).toMatchObject({
      reason: 'Timeout',
      message: expect.stringMatching(/^no request was sent to .* within 1000 ms, because 64/),
    })
  })

  it('reads only some of the long responses', async () => {
    const pools = new CallerPools(new FakeClock(), {}, limits)
    const taken: string[] = []
    const take = (caller: string): Promise<() => void> =>
      pools.run(caller, never, async ({ semaphore }) => {
        const leave = await semaphore.acquire(never)
        taken.push(caller)
        return leave
      })
    const first = await take('a')
    await take('a')
    const third = take('a')
    await take('b')
    const fourth = take('b')
    expect(taken).toEqual(['a', 'a', 'b'])
    first()
    await Promise.all([third, fourth].map((one) => Promise.race([one, fourth])))
    expect(taken).toEqual(['a', 'a', 'b', 'b'])
  })

  it('has some requests at a time, to any number of servers, and those of others do not wait for them', async () => {
    const pools = new CallerPools(new FakeClock(), {}, { ...limits, requestsOfCaller: 2 })
    const ends: (() => void)[] = []
    const begun: string[] = []
    const run = (caller: string, name: string): Promise<void> =>
      pools.run(caller, never, () => (begun.push(name), new Promise<void>((resolve) => void ends.push(resolve))))
    const all = [run('a', 'first'), run('a', 'second'), run('a', 'third'), run('b', 'other')]
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['first', 'second', 'other'])
    ends[0]?.()
    await all[0]
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['first', 'second', 'other', 'third'])
    for (const end of ends) end()
    await Promise.all(all)
  })

  it('that stops waiting for a long response gives its place back', async () => {
    const pools = new CallerPools(new FakeClock(), {}, { ...limits, longAnswers: 1 })
    const leave = await pools.run('a', never, ({ semaphore }) => semaphore.acquire(never))
    const stop = new AbortController()
    const stopped = [1, 2].map(() => pools.run('b', never, ({ semaphore }) => semaphore.acquire(stop.signal)))
    stop.abort(new Error('stopped'))
    for (const one of stopped) await expect(one).rejects.toThrow('stopped')
    const waiting = pools.run('b', never, ({ semaphore }) => semaphore.acquire(never))
    leave()
    expect(await waiting).toBeTypeOf('function')
  })
})

it('a caller without requests keeps nothing once another asks after ten seconds', async () => {
  const clock = new FakeClock()
  const pools = new CallerPools(clock, {}, limits)
  await pools.run('a', never, async () => {})
  clock.advance(9_999)
  const isOpen = Promise.withResolvers<void>()
  const open = pools.run('b', never, () => isOpen.promise)
  expect(pools.size).toBe(2)
  clock.advance(20_000)
  await pools.run('c', never, async () => {})
  expect(pools.size).toBe(2)
  isOpen.resolve()
  await open
  clock.advance(10_000)
  await pools.run('c', never, async () => {})
  expect(pools.size).toBe(1)
})

type Answer = (url: string | undefined, response: ServerResponse) => void

/** @returns origin of a server that the client may reach */
async function serve(answer: Answer): Promise<string> {
  const [origin = ''] = await serveMany(1, answer, systemClock)
  return origin
}

async function serveMany(count: number, answer: Answer, clock: Clock): Promise<readonly string[]> {
  egress = createEgressClient({ clock, allowHosts: [parseHostRule('127.0.0.1') as HostRule], userAgent: 'test/1' })
  return Promise.all(
    Array.from({ length: count }, async () => {
      const created = createServer((request, response) => answer(request.url, response))
      servers.push(created)
      await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve))
      return `http://127.0.0.1:${(created.address() as AddressInfo).port}`
    }),
  )
}
