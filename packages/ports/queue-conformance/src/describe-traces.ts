import { expect, it } from 'vitest'
import { type Bench, DELAY_MS, endAll } from './bench.ts'

const FIRST = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const SECOND = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01;7'

/** Q9: which trace a run receives. */
export function describeTraces(bench: () => Bench): void {
  const deliveredTraces = (): readonly (string | undefined)[] => bench().work.runs.map(({ note }) => note?.trace)

  it('Q9 gives a run the trace in which its key was enqueued, and does not give it to the next run', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueue('a', FIRST)
    await queue.settle()
    await endAll(bench())
    await queue.producer.enqueue('a')
    await queue.settle()
    expect(deliveredTraces()).toEqual([FIRST, undefined])
  })

  it('Q9 keeps the last trace of collapsed enqueues, even if later ones have none', async () => {
    const { queue, work } = bench()
    await queue.producer.enqueue('a')
    await queue.producer.enqueue('a', FIRST)
    await queue.producer.enqueue('a', SECOND)
    await queue.producer.enqueue('a')
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.settle()
    expect(deliveredTraces()).toEqual([SECOND])
  })

  it('Q9 gives the next run the trace of an enqueue of an active key', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueue('a')
    await queue.settle()
    await queue.producer.enqueue('a', FIRST)
    await endAll(bench())
    expect(deliveredTraces()).toEqual([undefined, FIRST])
  })

  it('Q9 passes on the trace of a run that requests another one', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueue('a')
    await queue.settle()
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS, trace: FIRST })
    await queue.settle()
    await queue.advance(DELAY_MS + queue.latenessMs)
    expect(deliveredTraces()).toEqual([undefined, FIRST])
  })

  it('Q9 prefers the trace of an enqueue to that of a run that requests another one', async () => {
    const { queue, work } = bench()
    queue.consumer.process(work.handler, { concurrency: 1 })
    await queue.producer.enqueue('a')
    await queue.settle()
    await queue.producer.enqueue('a', FIRST)
    work.running()[0]?.end({ kind: 'recheckAfter', ms: DELAY_MS, trace: SECOND })
    await queue.settle()
    expect(deliveredTraces()).toEqual([undefined, FIRST])
  })

  it.each(['', 'x', '00-0-0-00', FIRST.toUpperCase(), `${FIRST}\r\nSET a b`, '\u0000', 'é'.repeat(4_096)])(
    'Q9 also runs a key with an invalid trace: %j',
    async (trace) => {
      const { queue, work } = bench()
      queue.consumer.process(work.handler, { concurrency: 1 })
      await queue.producer.enqueue('a', trace)
      await queue.settle()
      await endAll(bench())
      expect(work.keys()).toEqual(['a'])
      expect(deliveredTraces()).toEqual([trace])
    },
  )
}
