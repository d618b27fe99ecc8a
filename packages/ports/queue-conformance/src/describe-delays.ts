import { expect, it } from 'vitest'
import { enqueueAll, DELAY_MS, endAll, type Bench } from './bench.ts'

/** Q5: when a key is due. */
export function describeDelays(bench: () => Bench): void {
  it('runs a delayed key after its delay and not before', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueueAfter('a', DELAY_MS)
    await queue.advance(DELAY_MS / 2)
    expect(work.runs).toHaveLength(0)
    await queue.advance(DELAY_MS / 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('Q5 runs a delayed key at once when it is enqueued, and then not again', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueueAfter('a', DELAY_MS)
    await queue.producer.enqueue('a')
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('Q5 never postpones a waiting key with a delayed enqueue', async () => {
    const { queue, work } = bench()
    await queue.producer.enqueue('a')
    await queue.producer.enqueueAfter('a', DELAY_MS)
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
  ])('Q5 uses the earliest of several delayed enqueues: $title', async ({ delays }) => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    for (const delayMs of delays) await queue.producer.enqueueAfter('a', delayMs)
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS * 4 + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('keeps a delayed enqueue of an active key', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    await queue.producer.enqueueAfter('a', DELAY_MS)
    await endAll(bench())
    expect(work.runs).toHaveLength(1)
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q5 uses the earliest of several enqueues of an active key', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    await queue.producer.enqueue('a')
    await queue.producer.enqueueAfter('a', DELAY_MS)
    await endAll(bench())
    expect(work.runs).toHaveLength(2)
    await endAll(bench())
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('runs a key again after the delay that its handler requested', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS })
    await queue.advance(DELAY_MS / 2)
    expect(work.runs).toHaveLength(1)
    await queue.advance(DELAY_MS / 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q5 lets an enqueue overtake the delay that a handler requested', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    await enqueueAll(queue, ['a'])
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS })
    await queue.settle()
    expect(work.running()).toHaveLength(1)
  })
}
