import { expect, it } from 'vitest'
import { enqueueAll, endAll, type Bench } from './bench.ts'

/** Q6: handlers that throw. */
export function describeFailures(bench: () => Bench): void {
  it('Q6 reruns a key whose handler throws, until it succeeds', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
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

  it('Q6 waits before it reruns a failed key', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.fail(new Error('no answer'))
    await queue.settle()
    expect(work.runs).toHaveLength(1)
    expect(await queue.producer.stats()).toEqual({ waiting: 0, delayed: 1, active: 0 })
  })

  it('Q6 runs a key enqueued during the back-off when the back-off ends at the latest', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    work.running()[0]?.fail(new Error('no answer'))
    await queue.settle()
    await enqueueAll(queue, ['a'])
    await queue.advance(queue.retryWithinMs)
    expect(work.runs).toHaveLength(2)
  })

  it('Q6 continues with other keys while one fails', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['bad', 'good'])
    await queue.settle()
    work
      .running()
      .find((run) => run.key === 'bad')
      ?.fail(new Error('no answer'))
    await queue.settle()
    expect(work.keys()).toContain('good')
  })

  it('Q6 survives a handler that throws synchronously', async () => {
    const { queue } = bench()
    let runs = 0
    const handler = (): never => {
      runs++
      throw new Error('a programming error')
    }
    queue.consumer.process(handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.advance(queue.retryWithinMs)
    expect(runs).toBeGreaterThanOrEqual(2)
  })
}
