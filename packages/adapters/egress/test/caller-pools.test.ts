import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FakeClock, systemClock } from '@tranche/clock'
import { createEgressClient, type EgressClient, type HostRule, parseHostRule } from '@tranche/egress'
import { afterEach, describe, expect, it } from 'vitest'
import { CallerPools } from '../src/caller-pools.ts'

const never = new AbortController().signal
const limits = { connections: 8, longAnswers: 3, longAnswersOfCaller: 2, keepAliveMs: 10_000 } as const

let server: Server | undefined
let egress: EgressClient | undefined
afterEach(async () => {
  await egress?.close()
  server?.closeAllConnections()
  server?.close()
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

  it('reads only some of the long responses', async () => {
    const pools = new CallerPools(new FakeClock(), {}, limits)
    const taken: string[] = []
    const take = (caller: string): Promise<() => void> =>
      pools.run(caller, async ({ semaphore }) => {
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

  it('that stops waiting for a long response gives its place back', async () => {
    const pools = new CallerPools(new FakeClock(), {}, { ...limits, longAnswers: 1 })
    const leave = await pools.run('a', ({ semaphore }) => semaphore.acquire(never))
    const stop = new AbortController()
    const stopped = [1, 2].map(() => pools.run('b', ({ semaphore }) => semaphore.acquire(stop.signal)))
    stop.abort(new Error('stopped'))
    for (const one of stopped) await expect(one).rejects.toThrow('stopped')
    const waiting = pools.run('b', ({ semaphore }) => semaphore.acquire(never))
    leave()
    expect(await waiting).toBeTypeOf('function')
  })
})

it('a caller without requests keeps nothing once another asks after ten seconds', async () => {
  const clock = new FakeClock()
  const pools = new CallerPools(clock, {}, limits)
  await pools.run('a', async () => {})
  clock.advance(9_999)
  const isOpen = Promise.withResolvers<void>()
  const open = pools.run('b', () => isOpen.promise)
  expect(pools.size).toBe(2)
  clock.advance(20_000)
  await pools.run('c', async () => {})
  expect(pools.size).toBe(2)
  isOpen.resolve()
  await open
  clock.advance(10_000)
  await pools.run('c', async () => {})
  expect(pools.size).toBe(1)
})

async function serve(answer: (url: string | undefined, response: ServerResponse) => void): Promise<string> {
  const created = createServer((request, response) => answer(request.url, response))
  server = created
  await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve))
  egress = createEgressClient({ clock: systemClock, allowHosts: [parseHostRule('127.0.0.1') as HostRule], userAgent: 'test/1' })
  return `http://127.0.0.1:${(created.address() as AddressInfo).port}`
}
