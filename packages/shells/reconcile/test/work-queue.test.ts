import { FakeClock } from '@tranche/clock'
import { createWorkQueue, type WorkQueueOptions } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'

describe('createWorkQueue', () => {
  it('W4 hands keys out in the order in which they became ready', async () => {
    const { queue, clock } = newQueue()
    queue.addAfter('late', 20)
    queue.add('first')
    queue.addAfter('early', 10)
    clock.advance(20)
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['first', 'early', 'late'])
  })

  it('W4 lets namespaces take turns, however many keys of one are ready', async () => {
    const { queue } = newQueue()
    for (let at = 0; at < 1_000; at++) queue.add(`greedy/${at}`)
    queue.add('modest/a')
    queue.add('modest/b')
    const keys = [await queue.get(), await queue.get(), await queue.get(), await queue.get()]
    expect(keys).toEqual(['greedy/0', 'modest/a', 'greedy/1', 'modest/b'])
  })

  it('W5 keeps workers for other namespaces while those of one are slow, and hands its next key out when one is done', async () => {
    const { queue } = newQueue({ atOnceOfNamespace: 2 })
    const taken: string[] = []
    for (let worker = 0; worker < 4; worker++) void queue.get().then((key) => key !== null && taken.push(key))
    for (let at = 0; at < 5; at++) queue.add(`greedy/${at}`)
    await Promise.resolve()
    expect([taken, queue.ready]).toEqual([['greedy/0', 'greedy/1'], 3])
    queue.add('modest/a')
    await Promise.resolve()
    expect(taken).toEqual(['greedy/0', 'greedy/1', 'modest/a'])
    queue.done('greedy/1')
    await Promise.resolve()
    expect(taken).toEqual(['greedy/0', 'greedy/1', 'modest/a', 'greedy/2'])
  })

  it('W3 hands out a key once however often it is added while it waits', async () => {
    const { queue } = newQueue()
    for (let adds = 0; adds < 3; adds++) queue.add('a')
    expect(queue.ready).toBe(1)
    await queue.get()
    queue.done('a')
    expect(queue.ready).toBe(0)
  })

  it('W1 W2 hands out a key again after done, and not before, if it is added while it is processed', async () => {
    const { queue } = newQueue()
    queue.add('a')
    await queue.get()
    queue.add('a')
    queue.add('a')
    expect(queue.ready).toBe(0)
    queue.done('a')
    expect(queue.ready).toBe(1)
    expect(await queue.get()).toBe('a')
    queue.done('a')
    expect(queue.ready).toBe(0)
  })

  it('gives a key to the taker that has waited longest', async () => {
    const { queue } = newQueue()
    const taken: string[] = []
    const takers = ['one', 'two'].map((taker) => queue.get().then((key) => taken.push(`${taker} ${key}`)))
    queue.add('a')
    queue.add('b')
    await Promise.all(takers)
    expect(taken).toEqual(['one a', 'two b'])
  })

  it('W1 keeps a key that a waiting taker got from the next taker', async () => {
    const { queue } = newQueue()
    const first = queue.get()
    queue.add('a')
    queue.add('a')
    expect(await first).toBe('a')
    expect(queue.ready).toBe(0)
  })

  it('uses the earliest of several delayed adds and drops the others', () => {
    const { queue, clock } = newQueue()
    queue.addAfter('a', 50)
    queue.addAfter('a', 20)
    queue.addAfter('a', 90)
    expect(queue.delayed).toBe(1)
    clock.advance(19)
    expect(queue.ready).toBe(0)
    clock.advance(1)
    expect(queue.ready).toBe(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([0, -5])('adds at once after a delay of %d', (delayMs) => {
    const { queue, clock } = newQueue()
    queue.addAfter('a', delayMs)
    expect(queue.ready).toBe(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it('keeps a delayed add when the key is added immediately', async () => {
    const { queue, clock } = newQueue()
    queue.addAfter('a', 10)
    queue.add('a')
    await queue.get()
    queue.done('a')
    clock.advance(10)
    expect(queue.ready).toBe(1)
  })

  it('doubles the back-off of each key on its own, from 5 ms to the maximum, until the key is forgotten', () => {
    const { queue } = newQueue({ backOffMaxMs: 30 })
    expect([1, 2, 3, 4, 5].map(() => queue.addRateLimited('a'))).toEqual([5, 10, 20, 30, 30])
    expect(queue.addRateLimited('b')).toBe(5)
    expect(queue.failures('a')).toBe(5)
    queue.forget('a')
    expect(queue.failures('a')).toBe(0)
    expect(queue.addRateLimited('a')).toBe(5)
  })

  it('uses the given first back-off, and 5 ms and 30 seconds by default', () => {
    const clock = new FakeClock()
    expect(createWorkQueue({ clock, backOffBaseMs: 7 }).addRateLimited('a')).toBe(7)
    const queue = createWorkQueue({ clock })
    const delays = Array.from({ length: 14 }, () => queue.addRateLimited('a'))
    expect([delays[0], delays.at(-1)]).toEqual([5, 30_000])
  })

  it('reports for every taken key how long it was ready', async () => {
    const clock = new FakeClock()
    clock.advance(1_000)
    const waited: number[] = []
    const queue = createWorkQueue({ clock, onTaken: (ms) => waited.push(ms) })
    queue.add('a')
    clock.advance(30)
    queue.add('a')
    clock.advance(10)
    await queue.get()
    const next = queue.get()
    queue.add('b')
    await next
    expect(waited).toEqual([40, 0])
  })

  it('keeps the last trace of a key until it is taken, and none after shutdown', () => {
    const { queue } = newQueue()
    expect(queue.takeTrace('a')).toBeUndefined()
    for (const trace of ['first', 'last', undefined]) queue.follow('a', trace)
    queue.follow('b', 'other')
    expect([queue.takeTrace('a'), queue.takeTrace('a')]).toEqual(['last', undefined])
    queue.shutDown()
    queue.follow('a', 'late')
    expect([queue.takeTrace('a'), queue.takeTrace('b')]).toEqual([undefined, undefined])
  })

  it('keeps the maximum after a thousand failures', () => {
    const { queue } = newQueue({ backOffMaxMs: 30_000 })
    for (let failures = 0; failures < 1_100; failures++) queue.addRateLimited('a')
    expect(queue.addRateLimited('a')).toBe(30_000)
  })

  it('answers every taker with null when it shuts down, and leaves no timer behind', async () => {
    const { queue, clock } = newQueue()
    const takers = [queue.get(), queue.get()]
    queue.addAfter('a', 10)
    queue.shutDown()
    expect(queue.delayed).toBe(0)
    queue.addAfter('b', 10)
    expect(clock.pendingTimers).toBe(0)
    expect(await Promise.all([...takers, queue.get()])).toEqual([null, null, null])
  })

  it('hands out nothing after shutdown, neither waiting nor returned keys', async () => {
    const { queue, clock } = newQueue()
    queue.add('taken')
    queue.add('waits')
    await queue.get()
    queue.add('taken')
    queue.shutDown()
    queue.done('taken')
    queue.add('new')
    queue.addAfter('new', 5)
    queue.addRateLimited('new')
    clock.advance(100)
    expect(queue.ready + queue.delayed).toBe(0)
    expect(await queue.get()).toBeNull()
  })
})

function newQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock()
  return { clock, queue: createWorkQueue({ clock, ...options }) }
}
