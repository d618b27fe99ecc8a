import { expect, it } from 'vitest'
import { enqueueAll, DELAY_MS, endAll, type Bench } from './bench.ts'

/** Q7: closing a worker and a queue. */
export function describeClosing(bench: () => Bench): void {
  it('Q7 starts no handler after close', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a', 'b'])
    await queue.settle()
    const closing = queue.consumer.close(DELAY_MS)
    work.running()[0]?.end()
    await closing
    await queue.advance(DELAY_MS)
    expect(work.runs).toHaveLength(1)
  })

  it('Q7 starts no handler for keys that were delayed when it closed', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueueAfter('a', DELAY_MS)
    await queue.consumer.close(0)
    await queue.advance(DELAY_MS * 2 + queue.latenessMs)
    expect(work.runs).toHaveLength(0)
  })

  it('Q7 lets a running handler end before the deadline', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
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
    await enqueueAll(queue, ['a'])
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
    await enqueueAll(queue, ['a'])
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

  it('ignores enqueues after close', async () => {
    const { queue } = bench()
    await queue.producer.close(0)
    await queue.producer.enqueue('a')
    await queue.producer.enqueueAfter('b', DELAY_MS)
  })

  it('does not affect other workers when one closes, and gives them its key', async () => {
    const { queue, work } = bench()
    const first = queue.consumer.process(work.handler, { concurrency: 1 })
    await enqueueAll(queue, ['a'])
    await queue.settle()
    const closing = first.close(DELAY_MS)
    await enqueueAll(queue, ['a', 'b'])
    queue.consumer.process(work.handler, { concurrency: 1 })
    work.running()[0]?.end()
    await closing
    await queue.settle()
    await endAll(bench())
    await endAll(bench())
    expect([...work.keys()].sort()).toEqual(['a', 'a', 'b'])
  })
}

function watchSettling(promise: Promise<void>): { readonly promise: Promise<void>; hasSettled(): boolean } {
  let settled = false
  const watched = promise.finally(() => (settled = true))
  return { promise: watched, hasSettled: () => settled }
}
