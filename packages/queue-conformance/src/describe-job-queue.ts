import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JobQueueHarness } from './harness.ts'
import { recordRuns, type RunRecorder } from './recorder.ts'

/** What every test works with. */
interface Bench {
  readonly queue: JobQueueHarness
  readonly work: RunRecorder
}

/** Long against the lateness of any queue, short enough for one that lives in real time. */
const DELAY_MS = 400

/**
 * The specification of `JobQueue` as tests, for one implementation. Registers a `describe` block with vitest.
 *
 * @param name the implementation
 * @param createHarness makes a new, empty queue for each test
 */
export function describeJobQueue(name: string, createHarness: () => Promise<JobQueueHarness>): void {
  describe(`${name} is a job queue`, () => {
    let bench: Bench
    beforeEach(async () => {
      bench = { queue: await createHarness(), work: recordRuns() }
    })
    afterEach(async () => {
      for (const run of bench.work.running()) run.end()
      await bench.queue.dispose()
    })
    const current = (): Bench => bench
    describeCollapsing(current)
    describeSideBySide(current)
    describeDelays(current)
    describeFailures(current)
    describeClosing(current)
  })
}

function describeCollapsing(bench: () => Bench): void {
  it('runs the handler with the key that was announced', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.announce('kube-system/agent')
    await queue.settle()
    expect(work.keys()).toEqual(['kube-system/agent'])
  })

  it('Q8 keeps what is announced before any worker exists', async () => {
    const { queue, work } = bench()
    await announceAll(queue, ['a', 'b'])
    await queue.settle()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await queue.settle()
    expect([...work.keys()].sort()).toEqual(['a', 'b'])
  })

  it('Q1 runs a key once however often it is announced while it waits', async () => {
    const { queue, work } = bench()
    await announceAll(queue, ['a', 'a', 'a'])
    queue.consumer.process(work.handler, { concurrency: 2 })
    await queue.settle()
    await endAll(bench())
    expect(work.keys()).toEqual(['a'])
  })

  it('Q2 runs a key exactly once more when it is announced while it is worked on', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await announceAll(queue, ['a'])
    await queue.settle()
    await announceAll(queue, ['a', 'a', 'a'])
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    expect(work.runs).toHaveLength(2)
    await endAll(bench())
    await queue.advance(DELAY_MS)
    expect(work.runs).toHaveLength(2)
  })

  it('Q2 never loses the last announcement, however many runs it meets', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await announceAll(queue, ['a'])
    await queue.settle()
    for (let round = 0; round < 5; round++) {
      await announceAll(queue, ['a', 'a'])
      await endAll(bench())
      expect(work.running()).toHaveLength(1)
    }
    await endAll(bench())
    expect(work.running()).toHaveLength(0)
  })

  it('runs a key again when it is announced after its run', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    for (let round = 0; round < 3; round++) {
      await announceAll(queue, ['a'])
      await queue.settle()
      await endAll(bench())
    }
    expect(work.runs).toHaveLength(3)
  })
}

function describeSideBySide(bench: () => Bench): void {
  it('Q3 never runs a key twice at the same time, with two workers either', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    queue.consumer.process(work.handler, { concurrency: 2 })
    for (let round = 0; round < 4; round++) {
      await announceAll(queue, ['a'])
      await queue.settle()
      expect(work.running()).toHaveLength(1)
      if (round % 2 === 1) work.running()[0]?.end()
    }
  })

  it('Q4 runs different keys side by side, up to the concurrency', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await announceAll(queue, ['a', 'b', 'c'])
    await queue.settle()
    expect(work.running()).toHaveLength(2)
    work.running()[0]?.end()
    await queue.settle()
    expect(work.running()).toHaveLength(2)
    expect([...work.keys()].sort()).toEqual(['a', 'b', 'c'])
  })

  it('Q4 goes on with other keys while one is stuck', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await announceAll(queue, ['stuck'])
    await queue.settle()
    for (const key of ['a', 'b', 'c']) {
      await announceAll(queue, ['stuck', key])
      await queue.settle()
      work
        .running()
        .find((run) => run.key === key)
        ?.end()
    }
    expect(work.keys()).toEqual(['stuck', 'a', 'b', 'c'])
  })

  it('counts keys by state', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    await announceAll(queue, ['b', 'c'])
    await queue.producer.announceAfter('d', DELAY_MS)
    await queue.settle()
    expect(await queue.producer.stats()).toEqual({ waiting: 2, delayed: 1, active: 1 })
  })
}

function describeDelays(bench: () => Bench): void {
  it('runs a delayed key after its delay and not before', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.announceAfter('a', DELAY_MS)
    await queue.advance(DELAY_MS / 2)
    expect(work.runs).toHaveLength(0)
    await queue.advance(DELAY_MS / 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('Q5 runs a delayed key at once when it is announced, and then not again', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.announceAfter('a', DELAY_MS)
    await queue.producer.announce('a')
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('Q5 never lets a delayed announcement postpone one that waits already', async () => {
    const { queue, work } = bench()
    await queue.producer.announce('a')
    await queue.producer.announceAfter('a', DELAY_MS)
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it.each([
    { title: 'a later one after it', delays: [DELAY_MS, DELAY_MS * 4] },
    { title: 'an earlier one after it', delays: [DELAY_MS * 4, DELAY_MS] },
  ])('Q5 lets the earliest of several delayed announcements decide: $title', async ({ delays }) => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    for (const delayMs of delays) await queue.producer.announceAfter('a', delayMs)
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS * 4 + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('keeps a delayed announcement that is made while the key is worked on', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    await queue.producer.announceAfter('a', DELAY_MS)
    await endAll(bench())
    expect(work.runs).toHaveLength(1)
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q5 lets the earliest announcement decide that is made while the key is worked on', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    await queue.producer.announce('a')
    await queue.producer.announceAfter('a', DELAY_MS)
    await endAll(bench())
    expect(work.runs).toHaveLength(2)
    await endAll(bench())
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('runs a key again after the time its handler asked for', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS })
    await queue.advance(DELAY_MS / 2)
    expect(work.runs).toHaveLength(1)
    await queue.advance(DELAY_MS / 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q5 overtakes the time a handler asked for by an announcement', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    await announceAll(queue, ['a'])
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS })
    await queue.settle()
    expect(work.running()).toHaveLength(1)
  })
}

function describeFailures(bench: () => Bench): void {
  it('Q6 runs a key again when its handler throws, until it does not', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    for (let failures = 1; failures <= 3; failures++) {
      work.running()[0]?.fail(new Error('no answer'))
      await queue.settle()
      await queue.advance(queue.retryWithinMs)
      expect(work.runs).toHaveLength(failures + 1)
    }
    await endAll(bench())
    await queue.advance(queue.retryWithinMs)
    expect(work.runs).toHaveLength(4)
  })

  it('Q6 waits before it runs a failed key again', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.fail(new Error('no answer'))
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    expect(await queue.producer.stats()).toEqual({ waiting: 0, delayed: 1, active: 0 })
  })

  it('Q6 works an announcement made during the back-off, at its end at the latest', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.fail(new Error('no answer'))
    await queue.settle()
    await announceAll(queue, ['a'])
    await queue.advance(queue.retryWithinMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q6 goes on with other keys while one fails', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['bad', 'good'])
    await queue.settle()
    work
      .running()
      .find((run) => run.key === 'bad')
      ?.fail(new Error('no answer'))
    await queue.settle()
    expect(work.keys()).toContain('good')
  })

  it('Q6 survives a handler that throws before it returns a promise', async () => {
    const { queue } = bench()
    let runs = 0
    const handler = (): never => {
      runs++
      throw new Error('a mistake of ours')
    }
    queue.consumer.process(handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.advance(queue.retryWithinMs)
    expect(runs).toBeGreaterThanOrEqual(2)
  })
}

function describeClosing(bench: () => Bench): void {
  it('Q7 starts no handler after close', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a', 'b'])
    await queue.settle()
    const closing = queue.consumer.close(DELAY_MS)
    work.running()[0]?.end()
    await closing
    await queue.advance(DELAY_MS)
    expect(work.runs).toHaveLength(1)
  })

  it('Q7 starts no handler for what was delayed when it closed', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.announceAfter('a', DELAY_MS)
    await queue.consumer.close(0)
    await queue.advance(DELAY_MS * 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(0)
  })

  it('Q7 lets a running handler end in its own time before the deadline', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    const closing = watchSettling(queue.consumer.close(DELAY_MS))
    await queue.advance(DELAY_MS / 2)
    expect(closing.hasSettled()).toBe(false)
    work.running()[0]?.end()
    await closing.promise
    expect(work.runs[0]?.signal.aborted).toBe(false)
  })

  it('Q7 aborts the signal of a running handler at the deadline and waits no longer', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    const closing = watchSettling(queue.consumer.close(DELAY_MS))
    await queue.advance(DELAY_MS / 2)
    expect(work.runs[0]?.signal.aborted).toBe(false)
    await queue.advance(DELAY_MS / 2 + queue.latenessMs)
    expect(work.runs[0]?.signal.aborted).toBe(true)
    await closing.promise
  })

  it('Q7 takes the earliest deadline when closed twice', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    const first = queue.consumer.close(DELAY_MS * 100)
    const second = queue.consumer.close(0)
    await queue.advance(queue.latenessMs)
    expect(work.runs[0]?.signal.aborted).toBe(true)
    work.running()[0]?.end()
    await Promise.all([first, second])
  })

  it('closes at once when nothing runs', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.settle()
    await queue.consumer.close(DELAY_MS)
    await queue.consumer.close(DELAY_MS)
  })

  it('takes announcements after close without a word', async () => {
    const { queue } = bench()
    await queue.producer.close(0)
    await queue.producer.announce('a')
    await queue.producer.announceAfter('b', DELAY_MS)
  })

  it('leaves the other workers alone when one closes, and its key to them', async () => {
    const { queue, work } = bench()
    const first = queue.consumer.process(work.handler, { concurrency: 1 })
    await announceAll(queue, ['a'])
    await queue.settle()
    const closing = first.close(DELAY_MS)
    await announceAll(queue, ['a', 'b'])
    queue.consumer.process(work.handler, { concurrency: 1 })
    work.running()[0]?.end()
    await closing
    await queue.settle()
    await endAll(bench())
    await endAll(bench())
    expect([...work.keys()].sort()).toEqual(['a', 'a', 'b'])
  })
}

async function announceAll(queue: JobQueueHarness, keys: readonly string[]): Promise<void> {
  for (const key of keys) await queue.producer.announce(key)
}

async function endAll({ queue, work }: Bench): Promise<void> {
  for (const run of work.running()) run.end()
  await queue.settle()
}

function watchSettling(promise: Promise<void>): { readonly promise: Promise<void>; hasSettled(): boolean } {
  let settled = false
  const watched = promise.finally(() => (settled = true))
  return { promise: watched, hasSettled: () => settled }
}
