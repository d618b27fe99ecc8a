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

  it('Q5 runs a delayed key at once when it is announced, and then not again', async () => {
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

  it('Q5 never lets a delayed announcement postpone one that waits already', async () => {
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
  ])('Q5 lets the earliest of several delayed announcements decide: $title', async ({ delays }) => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    for (const delayMs of delays) await queue.producer.enqueueAfter('a', delayMs)
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    await queue.advance(DELAY_MS * 4 + queue.latenessMs)
    expect(work.runs).toHaveLength(1)
  })

  it('keeps a delayed announcement that is made while the key is worked on', async () => {
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

  it('Q5 lets the earliest announcement decide that is made while the key is worked on', async () => {
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

  it('runs a key again after the time its handler asked for', async () => {
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

  it('Q5 overtakes the time a handler asked for by an announcement', async () => {
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
