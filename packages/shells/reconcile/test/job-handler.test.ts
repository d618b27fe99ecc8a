import { getEventListeners } from 'node:events'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { awaitChange, createJobHandler, recheckAfter, type ReconcileResult, type Reconcile } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'
import { recordingLogger, type LogLine } from './recording-logger.ts'

describe('createJobHandler', () => {
  const cases: Record<string, { reconcile: Reconcile; wants: ReconcileResult[] }> = {
    'returns that a pass awaits a change': { reconcile: async () => awaitChange, wants: [awaitChange] },
    'returns when a pass wants a recheck': { reconcile: async () => recheckAfter(70), wants: [recheckAfter(70)] },
    'doubles the back-off with each failure in a row, up to the maximum': {
      reconcile: () => Promise.reject(new AppError('API_UNREACHABLE', 'no answer')),
      wants: [5, 10, 20, 20].map(recheckAfter),
    },
    'rechecks after a long time if only a person can fix it': {
      reconcile: () => Promise.reject(new AppError('BATCH_SIZE_INVALID', '120%')),
      wants: [300_000, 300_000].map(recheckAfter),
    },
  }
  it.each(Object.entries(cases))('%s', async (_title, { reconcile, wants }) => {
    const handle = createJobHandler({ name: 'test', reconcile, clock: new FakeClock(), log: recordingLogger([]), backOffMaxMs: 20 })
    for (const want of wants) expect(await handle('default/agent', new AbortController().signal)).toEqual(want)
  })

  it('resets the back-off after a success', async () => {
    const answers = [false, false, true, false]
    const reconcile: Reconcile = async () => {
      if (answers.shift()) return awaitChange
      throw new AppError('API_UNREACHABLE', 'no answer')
    }
    const handle = createJobHandler({ name: 'test', reconcile, clock: new FakeClock(), log: recordingLogger([]) })
    const outcomes: ReconcileResult[] = []
    for (let pass = 0; pass < 4; pass++) outcomes.push(await handle('default/agent', new AbortController().signal))
    expect(outcomes).toEqual([recheckAfter(5), recheckAfter(10), awaitChange, recheckAfter(5)])
  })

  it('uses the given first back-off, and a maximum of 30 seconds by default', async () => {
    const reconcile: Reconcile = () => Promise.reject(new AppError('API_UNREACHABLE', 'no answer'))
    const handle = createJobHandler({ name: 'test', reconcile, clock: new FakeClock(), log: recordingLogger([]), backOffBaseMs: 8 })
    const outcomes: ReconcileResult[] = []
    for (let pass = 0; pass < 14; pass++) outcomes.push(await handle('default/agent', new AbortController().signal))
    expect([outcomes[0], outcomes.at(-1)]).toEqual([8, 30_000].map(recheckAfter))
  })

  it('leaves no listener on the signal of its worker, which outlives many jobs', async () => {
    const { signal } = new AbortController()
    const handle = createJobHandler({ name: 'test', reconcile: async () => awaitChange, clock: new FakeClock(), log: recordingLogger([]) })
    await handle('default/agent', signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('returns a key at once, without a log line, when its worker closes', async () => {
    const lines: LogLine[] = []
    const closing = new AbortController()
    const reconcile: Reconcile = (_key, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    const handle = createJobHandler({ name: 'test', reconcile, clock: new FakeClock(), log: recordingLogger(lines) })
    const outcome = handle('default/agent', closing.signal)
    closing.abort(new Error('the worker closes'))
    expect(await outcome).toEqual(recheckAfter(1))
    expect(await handle('default/agent', closing.signal)).toEqual(recheckAfter(1))
    expect(lines).toEqual([])
  })
})
