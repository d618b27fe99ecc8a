import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createThreshold } from '../src/cache/threshold.ts'
import { failure } from './canned-client.ts'

describe('a threshold', () => {
  const reason = new Error('enough')
  const create = (): ReturnType<typeof createThreshold> => createThreshold((a, b) => Number(a) - Number(b))

  it('is reached by nothing before it has a value', async () => {
    const threshold = create()
    let isReached = false
    const waiting = threshold.whenReached('0').then(() => (isReached = true))
    await Promise.resolve()
    expect(isReached).toBe(false)
    threshold.set('0')
    await waiting
  })

  it.each([
    ['has aborted before', () => AbortSignal.abort(reason)],
    [
      'aborts meanwhile',
      () => {
        const abort = new AbortController()
        queueMicrotask(() => abort.abort(reason))
        return abort.signal
      },
    ],
  ])('rejects with the reason of a signal that %s', async (_when, signal) => {
    expect(await failure(create().whenReached('1', signal()))).toBe(reason)
  })

  it('stays reached, whatever has ended or aborted since', async () => {
    const threshold = create()
    threshold.set('5')
    threshold.end(reason)
    await threshold.whenReached('5', AbortSignal.abort(new Error('another')))
    expect(await failure(threshold.whenReached('6', AbortSignal.abort(new Error('another'))))).toBe(reason)
  })

  it.each([
    ['is reached', (threshold: ReturnType<typeof createThreshold>) => threshold.set('9')],
    ['ends', (threshold: ReturnType<typeof createThreshold>) => threshold.end(reason)],
  ])('leaves nothing on the signal once it %s', async (_how, act) => {
    const threshold = create()
    const { signal } = new AbortController()
    const waiting = threshold.whenReached('9', signal).catch(() => {})
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    act(threshold)
    await waiting
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
