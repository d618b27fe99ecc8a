import { FakeClock } from '@tranche/clock'
import type { Exchange } from '@tranche/wire'
import { describe, expect, it } from 'vitest'
import { type Connection, createServerClock, onServerClock } from '../src/index.ts'
import { HOUR, request, serverOn, signal } from './timed-server.ts'

describe('a clock that shows the API server’s time', () => {
  it('shows the time of this machine before the first answer', () => {
    const own = new FakeClock(5_000)
    own.advance(7_000)
    const clock = createServerClock(own)
    expect([clock.nowMs(), clock.monotonicMs(), clock.skewMs()]).toEqual([12_000, 7_000, null])
  })

  it.each([
    { name: 'two hours ahead', aheadMs: 2 * HOUR },
    { name: 'a day behind', aheadMs: -24 * HOUR },
    { name: 'one second ahead', aheadMs: 1_000 },
  ])('is within half a second after one answer of a server that is $name', async ({ aheadMs }) => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { exchange, trueMs } = serverOn(own, { aheadMs })
    await clock.follow(exchange)(request, signal)
    expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(520)
    expect(clock.skewMs()).toBeCloseTo(-aheadMs, -4)
  })

  it.each(['exchange', 'watchExchange', 'leaseExchange'] as const)('is set by the answers of each %s of a program', async (name) => {
    const own = new FakeClock()
    const { exchange, trueMs } = serverOn(own, { aheadMs: HOUR })
    const none: Exchange = () => Promise.reject(new Error('not this one'))
    const connection: Connection = { exchange: none, clock: own, [name]: exchange }
    const { clock, ...exchanges } = onServerClock(connection)
    await exchanges[name]?.(request, signal)
    expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(520)
    expect(Object.keys(exchanges)).toEqual([...new Set(['exchange', name])])
  })

  it('comes within 50 ms of the server’s time with further answers', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { exchange, trueMs } = serverOn(own, { aheadMs: HOUR })
    const send = clock.follow(exchange)
    for (let i = 0; i < 60; i++) {
      own.advance(137)
      await send(request, signal)
    }
    expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(50)
  })

  it('stays exactly on the time of this machine while no answer contradicts it', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { exchange } = serverOn(own, { aheadMs: 0 })
    const send = clock.follow(exchange)
    for (let i = 0; i < 20; i++) {
      own.advance(333)
      await send(request, signal)
      expect(clock.nowMs()).toBe(own.nowMs())
    }
  })

  it('follows no step of the wall clock of this machine', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { exchange, trueMs } = serverOn(own, { aheadMs: 0 })
    const send = clock.follow(exchange)
    await send(request, signal)
    own.stepWall(6 * HOUR)
    expect(clock.nowMs()).toBe(trueMs())
    expect(clock.skewMs()).toBe(6 * HOUR)
  })

  it('is not moved by one of two servers whose clock is wrong', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { server, exchange, trueMs } = serverOn(own, { aheadMs: 0 })
    const send = clock.follow(exchange)
    for (let i = 0; i < 20; i++) {
      server.aheadMs = i % 2 === 1 ? HOUR : 0
      await send(request, signal)
      own.advance(5_000)
      server.aheadMs = 0
      expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(20)
    }
  })

  it('follows the server whose clock is set, once it has answered so for 30 s', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { server, exchange, trueMs } = serverOn(own, { aheadMs: 0 })
    const send = clock.follow(exchange)
    await send(request, signal)
    server.aheadMs = -3 * HOUR
    await send(request, signal)
    own.advance(29_000)
    await send(request, signal)
    expect(clock.nowMs() - trueMs()).toBe(3 * HOUR)
    own.advance(1_000)
    await send(request, signal)
    expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(520)
  })

  it('changes little after a slow answer', async () => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const { exchange, trueMs } = serverOn(own, { aheadMs: 10_000, takesMs: 8_000 })
    await clock.follow(exchange)(request, signal)
    expect(Math.abs(clock.nowMs() - trueMs())).toBeLessThanOrEqual(4_500)
  })

  it.each([
    ['has no date', {}],
    ['has one that cannot be read', { date: 'yesterday' }],
  ])('changes nothing for an answer that %s', async (_name, headers) => {
    const own = new FakeClock()
    const clock = createServerClock(own)
    const answer: Exchange = async () => ({ status: 200, headers: headers as Record<string, string>, body: (async function* () {})() })
    await clock.follow(answer)(request, signal)
    expect([clock.nowMs(), clock.skewMs()]).toEqual([own.nowMs(), null])
  })
})
