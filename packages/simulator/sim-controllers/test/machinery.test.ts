import { FakeClock } from '@tranche/clock'
import { createExpectations, createFailedPodBackoff, createRateLimiter, createWorkQueue, type WorkQueue } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'

describe('the work queue', () => {
  it('processes a key once, however often it is added', async () => {
    const { queue, done, settle } = queueOf()
    queue.add('a')
    queue.add('a')
    queue.add('b')
    await settle()
    expect(done).toEqual(['a', 'b'])
  })

  it('processes a key again if it is added while it is processed', async () => {
    const { queue, done, settle } = queueOf((key) => {
      if (done.length === 1) queue.add(key)
    })
    queue.add('a')
    await settle()
    expect(done).toEqual(['a', 'a'])
  })

  it('returns a key after its delay', async () => {
    const { queue, done, settle } = queueOf()
    queue.addAfter('a', 100)
    await settle(99)
    expect(done).toEqual([])
    await settle(1)
    expect(done).toEqual(['a'])
  })

  it('returns a key once for several delays, after the shortest', async () => {
    const { queue, done, settle } = queueOf()
    for (const delayMs of [100, 300, 50, 200]) queue.addAfter('a', delayMs)
    await settle(50)
    expect(done).toEqual(['a'])
    await settle(1_000)
    expect(done).toEqual(['a'])
  })

  it('returns a failing key, later each time', async () => {
    const at: number[] = []
    const { queue, clock, settle } = queueOf(() => {
      at.push(clock.monotonicMs())
      throw new Error('no')
    })
    queue.add('a')
    await settle(100)
    expect(at).toEqual([0, 5, 15, 35, 75])
  })

  it('does nothing after it is stopped', async () => {
    const { queue, done, settle } = queueOf()
    queue.addAfter('a', 10)
    queue.add('b')
    queue.stop()
    await settle(100)
    expect(done).toEqual([])
  })
})

describe('the rate limiter', () => {
  it('allows a burst of a hundred, then ten a second over all keys', () => {
    const clock = new FakeClock()
    const limiter = createRateLimiter(() => clock.monotonicMs())
    const delays = Array.from({ length: 102 }, (_, at) => limiter.delayMs(`key-${at}`))
    expect([delays[0], delays[99], delays[100], delays[101]]).toEqual([5, 5, 100, 200])
  })

  it('waits no longer than 1000 s for one key', () => {
    const clock = new FakeClock()
    const limiter = createRateLimiter(() => clock.monotonicMs())
    const delays = Array.from({ length: 30 }, () => limiter.delayMs('a'))
    expect(delays.at(-1)).toBe(1_000_000)
    limiter.forget('a')
    expect(limiter.delayMs('a')).toBe(5)
  })
})

describe('expectations', () => {
  it.each<[name: string, steps: (one: ReturnType<typeof createExpectations>, clock: FakeClock) => void, want: boolean]>([
    ['are met before anything is expected', () => {}, true],
    ['are not met while a creation is missing', (one) => one.expect('k', 1, 0), false],
    ['are met when everything is observed', (one) => (one.expect('k', 1, 1), one.creationObserved('k'), one.deletionObserved('k')), true],
    ['are met when even more is observed', (one) => (one.expect('k', 0, 1), one.deletionObserved('k'), one.deletionObserved('k')), true],
    ['do not offset creations by deletions', (one) => (one.expect('k', 1, 0), one.deletionObserved('k')), false],
    ['are met once they are older than five minutes', (one, clock) => (one.expect('k', 1, 0), clock.advance(300_001)), true],
    ['are met when forgotten', (one) => (one.expect('k', 1, 0), one.forget('k')), true],
    ['are replaced by newer ones', (one) => (one.expect('k', 5, 5), one.expect('k', 0, 0)), true],
  ])('%s', (_name, steps, want) => {
    const clock = new FakeClock()
    const expectations = createExpectations(() => clock.monotonicMs())
    steps(expectations, clock)
    expect(expectations.satisfied('k')).toBe(want)
  })
})

describe('the back-off of failed pods', () => {
  it('deletes the first at once, then waits 1 s, 2 s, 4 s up to 15 minutes', () => {
    const clock = new FakeClock()
    const backoff = createFailedPodBackoff(() => clock.monotonicMs())
    expect(backoff.tryNow('a')).toBe(0)
    expect(backoff.tryNow('a')).toBe(1000)
    clock.advance(999)
    expect(backoff.tryNow('a')).toBe(1000)
    clock.advance(1)
    expect(backoff.tryNow('a')).toBe(0)
    expect(backoff.tryNow('a')).toBe(2000)
    for (let at = 0; at < 20; at++) {
      clock.advance(backoff.tryNow('a'))
      backoff.tryNow('a')
    }
    expect(backoff.tryNow('a')).toBe(900_000)
  })

  it('restarts after 30 idle minutes, and for another node', () => {
    const clock = new FakeClock()
    const backoff = createFailedPodBackoff(() => clock.monotonicMs())
    backoff.tryNow('a')
    expect(backoff.tryNow('b')).toBe(0)
    clock.advance(30 * 60_000 + 1)
    expect(backoff.tryNow('a')).toBe(0)
    expect(backoff.tryNow('a')).toBe(1000)
  })
})

interface QueueUnderTest {
  readonly queue: WorkQueue
  readonly clock: FakeClock
  readonly done: string[]
  settle(ms?: number): Promise<void>
}

function queueOf(work: (key: string) => void = () => {}): QueueUnderTest {
  const clock = new FakeClock()
  const done: string[] = []
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: 1,
    async work(key) {
      done.push(key)
      await Promise.resolve()
      work(key)
    },
    onError: () => {},
  })
  return { queue, clock, done, settle: (ms = 0) => clock.advanceAsync(ms) }
}
