import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { awaitChange, createJobHandler, createRunner, createWorkQueue, recheckAfter, type Reconcile } from '@tranche/reconcile'
import type { TraceContext } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { recordingLogger } from './recording-logger.ts'
import { recordingTracer, type SeenSpan } from './recording-tracer.ts'

const KEY = 'default/agent'

describe('the span of a pass', () => {
  it('is a root span with the key, the pass, and the outcome', async () => {
    const { spans, queue, clock } = newRunner(async () => awaitChange)
    queue.follow(KEY, 'cause')
    queue.add(KEY)
    await clock.advanceAsync(0)
    expect(spans).toEqual([
      {
        name: 'test pass',
        isInside: false,
        options: expect.objectContaining({ ifMoved: true, after: 'cause' }),
        attributes: { 'tranche.key': KEY, 'tranche.reconcile_id': 'test-1', 'tranche.outcome': 'awaitChange' },
        failures: [],
      },
    ])
  })

  it.each([
    ['has failed with the error of the pass', new AppError('API_UNREACHABLE', 'no answer'), true],
    ['has failed with an error that only a person can fix', new AppError('BATCH_SIZE_INVALID', '120%'), true],
    ['has failed with a foreign error', new TypeError('oops'), true],
    ['has not failed on a conflict', new AppError('WRITE_CONFLICT', 'changed'), false],
  ])('%s', async (_what, error, isFailed) => {
    const { spans, queue, clock } = newRunner(() => Promise.reject(error))
    queue.add(KEY)
    await clock.advanceAsync(0)
    expect(spans.map(({ failures }) => failures)).toEqual([isFailed ? [error] : []])
  })

  it.each<[string, Reconcile, number, readonly (string | undefined)[]]>([
    ['follows from a pass that requested it', async () => recheckAfter(10_000), 10_000, [undefined, 'next']],
    ['follows from no pass that requested it late', async () => recheckAfter(10_001), 10_001, [undefined, undefined]],
    ['follows from a pass that failed', () => Promise.reject(new Error('no')), 5, [undefined, 'next']],
    [
      'follows from no pass that only a person can fix',
      () => Promise.reject(new AppError('BATCH_SIZE_INVALID', '120%')),
      300_000,
      [undefined, undefined],
    ],
  ])('%s', async (_what, reconcile, afterMs, want) => {
    const { spans, queue, clock } = newRunner(reconcile, 'next')
    queue.add(KEY)
    await clock.advanceAsync(afterMs)
    expect(spans.map(({ options }) => options.after)).toEqual(want)
  })

  it('follows from no pass that failed so often that its retry is late', async () => {
    const { spans, queue, clock } = newRunner(() => Promise.reject(new Error('no')), 'next')
    queue.add(KEY)
    await clock.advanceAsync(60_000)
    // 5, 10, 20 … ms; the waits from 10,240 ms on are long.
    expect(spans.map(({ options }) => options.after)).toEqual([
      undefined,
      ...Array.from({ length: 11 }, () => 'next'),
      undefined,
      undefined,
    ])
  })
})

describe('the span of a job', () => {
  it('follows its enqueue, says how long it was due, and contains the pass', async () => {
    const { spans, handle } = newHandler(async () => awaitChange)
    await handle({ trace: 'announced', waitedMs: 12.6 })
    expect(spans.map(({ name, isInside }) => [name, isInside])).toEqual([
      ['job', false],
      ['test pass', true],
    ])
    expect(spans[0]?.options).toMatchObject({ kind: 'consumer', ifMoved: true, after: 'announced' })
    expect(spans[0]?.attributes).toEqual({ 'tranche.key': KEY, 'tranche.waited_ms': 13 })
    expect(spans[1]?.options).toMatchObject({ ifMoved: true })
  })

  it('does not say how long it was due if that is unknown', async () => {
    const { spans, handle } = newHandler(async () => awaitChange)
    await handle()
    expect(spans[0]?.attributes).toEqual({ 'tranche.key': KEY })
  })

  it.each([
    ['passes its trace on if it requests an early recheck', recheckAfter(10_000), { ...recheckAfter(10_000), trace: 'next' }],
    ['passes nothing on if the recheck is late', recheckAfter(10_001), recheckAfter(10_001)],
    ['passes nothing on if it awaits a change', awaitChange, awaitChange],
  ])('%s', async (_what, outcome, want) => {
    const { handle } = newHandler(async () => outcome, 'next')
    expect(await handle({ waitedMs: 0 })).toEqual(want)
  })

  it('leaves the trace of an idle job to the next early job of its key without a trace', async () => {
    const { spans, handle, clock } = newHandler(async () => awaitChange)
    const after = async (ms: number, trace?: TraceContext, key?: string): Promise<string | undefined> => {
      clock.advance(ms)
      await handle({ trace, waitedMs: 0 }, key)
      return spans.findLast(({ name }) => name === 'job')?.options.after
    }
    expect(await after(1_000, 'one')).toBe('one')
    expect(await after(0, undefined, 'default/other')).toBeUndefined()
    expect(await after(6_000)).toBe('one')
    expect(await after(4_000)).toBe('one')
    expect(await after(0, 'two')).toBe('two')
    expect(await after(10_001)).toBeUndefined()
    expect(await after(0)).toBeUndefined()
  })

  it('uses a trace up once a span was exported', async () => {
    const { spans, handle } = newHandler(async () => awaitChange, 'next')
    await handle({ trace: 'one', waitedMs: 0 })
    await handle({ waitedMs: 0 })
    expect(spans.filter(({ name }) => name === 'job').map(({ options }) => options.after)).toEqual(['one', undefined])
  })
})

function newRunner(reconcile: Reconcile, next?: TraceContext) {
  const clock = new FakeClock()
  const queue = createWorkQueue({ clock })
  const spans: SeenSpan[] = []
  const tracer = recordingTracer(spans, () => next)
  createRunner({ name: 'test', queue, reconcile, clock, log: recordingLogger([]), tracer }).start()
  return { clock, queue, spans }
}

function newHandler(reconcile: Reconcile, next?: TraceContext) {
  const clock = new FakeClock()
  const spans: SeenSpan[] = []
  const tracer = recordingTracer(spans, () => next)
  const handleJob = createJobHandler({ name: 'test', reconcile, clock, log: recordingLogger([]), tracer })
  const handle = (note?: Parameters<typeof handleJob>[2], key = KEY): ReturnType<typeof handleJob> =>
    handleJob(key, new AbortController().signal, note)
  return { clock, spans, handle }
}
