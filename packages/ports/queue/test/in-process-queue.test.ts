import { FakeClock } from '@tranche/clock'
import { type LogFields, type Logger, silentLogger } from '@tranche/telemetry'
import { createInProcessQueue, type JobOutcome } from '@tranche/queue'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NOTHING_MORE: JobOutcome = { kind: 'awaitChange' }

describe('createInProcessQueue', () => {
  it('starts no handler inside the call that enqueued its key', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    let runs = 0
    queue.process(async () => (runs++, NOTHING_MORE), { concurrency: 1 })
    void queue.enqueue('a')
    expect(runs).toBe(0)
    await clock.advanceAsync(0)
    expect(runs).toBe(1)
  })

  it('doubles the back-off with every failure in a row, up to its maximum, and resets it after a success', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock, backOffBaseMs: 10, backOffMaxMs: 50 })
    const startedMs: number[] = []
    const handler = async (): Promise<JobOutcome> => {
      startedMs.push(clock.monotonicMs())
      if (startedMs.length === 6) return { kind: 'recheckAfter', ms: 0 }
      throw new Error('no answer')
    }
    queue.process(handler, { concurrency: 1 })
    await queue.enqueue('a')
    await clock.advanceAsync(200)
    await queue.close(0)
    expect(gaps(startedMs)).toEqual([10, 20, 40, 50, 50, 0, 10, 20])
  })

  it('lets namespaces take turns, however many keys of one are due', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    const keys: string[] = []
    for (const key of ['greedy/a', 'greedy/b', 'greedy/c', 'modest/a']) await queue.enqueue(key)
    queue.process(async (key) => (keys.push(key), NOTHING_MORE), { concurrency: 1 })
    await clock.advanceAsync(0)
    expect(keys).toEqual(['greedy/a', 'modest/a', 'greedy/b', 'greedy/c'])
  })

  it('processes keys in the order in which they became due', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    const keys: string[] = []
    await queue.enqueueAfter('late', 20)
    await queue.enqueueAfter('early', 10)
    await queue.enqueue('now')
    await clock.advanceAsync(30)
    queue.process(async (key) => (keys.push(key), NOTHING_MORE), { concurrency: 1 })
    await clock.advanceAsync(0)
    expect(keys).toEqual(['now', 'early', 'late'])
  })

  it('spreads keys over its workers', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    const taken = [0, 0]
    for (const worker of [0, 1]) queue.process(() => (taken[worker]!++, new Promise<never>(() => {})), { concurrency: 4 })
    for (const key of ['a', 'b', 'c', 'd']) await queue.enqueue(key)
    await clock.advanceAsync(0)
    expect(taken).toEqual([2, 2])
  })

  it('logs one line for each failure, with key, attempt and error', async () => {
    const clock = new FakeClock()
    const lines: LogFields[] = []
    const log: Logger = { ...silentLogger, warn: (fields) => void lines.push(fields) }
    const queue = createInProcessQueue({ clock, log })
    const error = new Error('no answer')
    queue.process(() => Promise.reject(error), { concurrency: 1 })
    await queue.enqueue('a')
    await clock.advanceAsync(100)
    await queue.close(0)
    expect(lines).toEqual([
      { key: 'a', attempt: 1, recheckAfterMs: 100, err: error },
      { key: 'a', attempt: 2, recheckAfterMs: 200, err: error },
    ])
  })

  it('leaves no timer behind when it closes', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    queue.process(async () => ({ kind: 'recheckAfter', ms: 1000 }), { concurrency: 1 })
    await queue.enqueue('a')
    await queue.enqueueAfter('b', 1000)
    await clock.advanceAsync(0)
    await queue.close(1000)
    expect(clock.pendingTimers).toBe(0)
  })

  it('leaves no timer behind for keys enqueued after it has closed', async () => {
    const clock = new FakeClock()
    const queue = createInProcessQueue({ clock })
    let end = (_outcome: JobOutcome): void => {}
    queue.process(() => new Promise((resolve) => (end = resolve)), { concurrency: 1 })
    await queue.enqueue('a')
    await clock.advanceAsync(0)
    const closed = queue.close(50)
    await clock.advanceAsync(50)
    await closed
    end({ kind: 'recheckAfter', ms: 1000 })
    await queue.enqueueAfter('b', 1000)
    await clock.advanceAsync(0)
    expect(clock.pendingTimers).toBe(0)
    expect(await queue.stats()).toEqual({ waiting: 0, delayed: 0, active: 0 })
  })

  it('rejects a worker after close and a concurrency below 1', async () => {
    const queue = createInProcessQueue({ clock: new FakeClock() })
    expect(() => queue.process(async () => NOTHING_MORE, { concurrency: 0 })).toThrow('at least 1')
    await queue.close(0)
    expect(() => queue.process(async () => NOTHING_MORE, { concurrency: 1 })).toThrow('closed')
  })
})

describe('under any interleaving, the in-process queue', () => {
  it('Q1–Q6 starts a run after every enqueue, never two of a key at once, never more than were requested', async () => {
    await fc.assert(fc.asyncProperty(fc.array(eventArbitrary, { maxLength: 40 }), playEvents), { numRuns: 150 })
  })
})

type Event =
  | { readonly kind: 'enqueue'; readonly key: string; readonly delayMs: number }
  | { readonly kind: 'end'; readonly nth: number; readonly how: 'done' | 'again' | 'throw' }
  | { readonly kind: 'pass'; readonly ms: number }

const eventArbitrary: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('enqueue' as const), key: fc.constantFrom('a', 'b', 'c'), delayMs: fc.constantFrom(0, 0, 5, 50) }),
  fc.record({ kind: fc.constant('end' as const), nth: fc.nat(3), how: fc.constantFrom('done', 'again', 'throw') }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(0, 3, 20, 100) }),
)

async function playEvents(events: readonly Event[]): Promise<void> {
  const clock = new FakeClock()
  const queue = createInProcessQueue({ clock, backOffBaseMs: 10 })
  const running = new Map<string, (how: 'done' | 'again' | 'throw') => void>()
  const askedAtStep = new Map<string, number>()
  const startedAtStep = new Map<string, number>()
  let asked = 0
  let started = 0
  let step = 0
  const handler = (key: string): Promise<JobOutcome> =>
    new Promise((resolve, reject) => {
      expect(running.has(key)).toBe(false)
      expect(running.size).toBeLessThan(2)
      started++
      startedAtStep.set(key, step)
      running.set(key, (how) => {
        running.delete(key)
        if (how !== 'done') asked++
        if (how === 'throw') reject(new Error('no answer'))
        else resolve(how === 'again' ? { kind: 'recheckAfter', ms: 7 } : NOTHING_MORE)
      })
    })
  queue.process(handler, { concurrency: 1 })
  queue.process(handler, { concurrency: 1 })
  for (const event of events) {
    step++
    if (event.kind === 'pass') await clock.advanceAsync(event.ms)
    else if (event.kind === 'end') [...running.values()][event.nth]?.(event.how)
    else {
      asked++
      askedAtStep.set(event.key, step)
      void queue.enqueueAfter(event.key, event.delayMs)
    }
  }
  step++
  for (let round = 0; round < 60; round++) {
    await clock.advanceAsync(100)
    for (const end of running.values()) end('done')
  }
  for (const [key, atStep] of askedAtStep) expect(startedAtStep.get(key)).toBeGreaterThanOrEqual(atStep)
  expect(started).toBeLessThanOrEqual(asked)
  expect(await queue.stats()).toEqual({ waiting: 0, delayed: 0, active: 0 })
}

function gaps(moments: readonly number[]): readonly number[] {
  return moments.slice(1).map((moment, index) => moment - moments[index]!)
}
