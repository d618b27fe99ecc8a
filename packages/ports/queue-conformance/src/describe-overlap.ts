import { expect, it } from 'vitest'
import { enqueueAll, DELAY_MS, type Bench } from './bench.ts'

/** Q3 and Q4: which runs overlap. */
export function describeOverlap(bench: () => Bench): void {
  it('Q3 never runs a key twice at the same time, even with two workers', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    queue.consumer.process(work.handler, { concurrency: 2 })
    for (let round = 0; round < 4; round++) {
      await enqueueAll(queue, ['a'])
      await queue.settle()
      expect(work.running()).toHaveLength(1)
      if (round % 2 === 1) work.running()[0]?.end()
    }
  })

  it('Q4 runs different keys in parallel, up to the concurrency', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await enqueueAll(queue, ['a', 'b', 'c'])
    await queue.settle()
    expect(work.running()).toHaveLength(2)
    work.running()[0]?.end()
    await queue.settle()
    expect(work.running()).toHaveLength(2)
    expect([...work.keys()].sort()).toEqual(['a', 'b', 'c'])
  })

  it('Q4 continues with other keys while one is stuck', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 2 })
    await enqueueAll(queue, ['stuck'])
    await queue.settle()
    for (const key of ['a', 'b', 'c']) {
      await enqueueAll(queue, ['stuck', key])
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
    await enqueueAll(queue, ['a'])
    await queue.settle()
    await enqueueAll(queue, ['b', 'c'])
    await queue.producer.enqueueAfter('d', DELAY_MS)
    await queue.settle()
    expect(await queue.producer.stats()).toEqual({ waiting: 2, delayed: 1, active: 1 })
  })
}
