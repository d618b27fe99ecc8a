import { FakeClock, sleep } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { createCallLimiter } from '../src/ports/call-limiter.ts'

describe('createCallLimiter', () => {
  it('limits concurrent calls, and starts them in FIFO order', async () => {
    const clock = new FakeClock()
    const limiter = createCallLimiter(clock, 2)
    const begun: number[] = []
    const calls = Array.from({ length: 5 }, (_, i) => limiter.take('demo', async () => (begun.push(i), await sleep(clock, 100), i), 10_000))
    await clock.advanceAsync(0)
    expect(begun).toEqual([0, 1])
    await clock.advanceAsync(100)
    expect(begun).toEqual([0, 1, 2, 3])
    await clock.advanceAsync(200)
    await expect(Promise.all(calls)).resolves.toEqual([0, 1, 2, 3, 4])
  })

  it('lets namespaces take turns, however many calls of one wait', async () => {
    const clock = new FakeClock()
    const limiter = createCallLimiter(clock, 1)
    const begun: string[] = []
    const call = (namespace: string): Promise<unknown> =>
      limiter.take(namespace, async () => (begun.push(namespace), sleep(clock, 10)), 10_000)
    const calls = [...Array.from({ length: 4 }, () => call('greedy')), call('modest')]
    await clock.advanceAsync(50)
    await Promise.all(calls)
    expect(begun).toEqual(['greedy', 'modest', 'greedy', 'greedy', 'greedy'])
  })

  it('does not start a call that has waited longer than its patience', async () => {
    const clock = new FakeClock()
    const limiter = createCallLimiter(clock, 1)
    const first = limiter.take('demo', () => sleep(clock, 1_000).then(() => 'first'), 500)
    const second = limiter.take('demo', async () => 'second', 500)
    await clock.advanceAsync(1_000)
    await expect(Promise.all([first, second])).resolves.toEqual(['first', null])
  })

  it('continues after a failed call', async () => {
    const limiter = createCallLimiter(new FakeClock(), 1)
    await expect(limiter.take('demo', () => Promise.reject(new Error('500')), 1)).rejects.toThrow('500')
    await expect(limiter.take('demo', async () => 'next', 1)).resolves.toBe('next')
  })
})
