import { expect, it } from 'vitest'
import { enqueueAll, DELAY_MS, endAll, type Bench } from './bench.ts'

/** Q1, Q2 and Q8: how enqueues of one key collapse. */
export function describeSignals(bench: () => Bench): void {
  it('runs the handler with the enqueued key', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueue('kube-system/agent')
    await queue.settle()
    expect(work.keys()).toEqual(['kube-system/agent'])
  })

  it('Q8 keeps keys enqueued before any worker exists', async () => {
    const { queue, work } = bench()
    await enqueueAll(queue, ['a', 'b'])
    await queue.settle()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await queue.settle()
    expect([...work.keys()].sort()).toEqual(['a', 'b'])
  })

  it('Q1 runs a key once however often it is enqueued while it waits', async () => {
    const { queue, work } = bench()
    await enqueueAll(queue, ['a', 'a', 'a'])
    queue.consumer.process(work.handler, { concurrency: 2 })
    await queue.settle()
    await endAll(bench())
    expect(work.keys()).toEqual(['a'])
  })

  it('Q2 runs a key exactly once more when it is enqueued while active', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    await enqueueAll(queue, ['a', 'a', 'a'])
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    await endAll(bench())
    expect(work.runs).toHaveLength(2)
    await endAll(bench())
    await queue.advance(DELAY_MS)
    expect(work.runs).toHaveLength(2)
  })

  it('Q2 never loses the last enqueue, however many runs are active', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    for (let round = 0; round < 5; round++) {
      await enqueueAll(queue, ['a', 'a'])
      await endAll(bench())
      expect(work.running()).toHaveLength(1)
    }
    await endAll(bench())
    expect(work.running()).toHaveLength(0)
  })

  it('runs a key again when it is enqueued after its run', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    for (let round = 0; round < 3; round++) {
      await enqueueAll(queue, ['a'])
      await queue.settle()
      await endAll(bench())
    }
    expect(work.runs).toHaveLength(3)
  })
}
