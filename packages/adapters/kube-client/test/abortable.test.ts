import { getEventListeners } from 'node:events'
import { abortable } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { failure } from './canned-client.ts'

describe('a promise that a signal can cut short', () => {
  const reason = new Error('enough')

  it.each([
    ['aborts meanwhile', (abort: AbortController) => queueMicrotask(() => abort.abort(reason))],
    ['was aborted before', (abort: AbortController) => abort.abort(reason)],
  ])('rejects with the reason of a signal that %s, whatever becomes of the promise', async (_when, act) => {
    const abort = new AbortController()
    act(abort)
    expect(await failure(abortable(new Promise(() => {}), abort.signal))).toBe(reason)
  })

  it.each([
    ['resolves', () => Promise.resolve('value')],
    ['rejects', () => Promise.reject(reason)],
  ])('leaves nothing on the signal once it %s', async (_how, make) => {
    const { signal } = new AbortController()
    expect(await abortable(make(), signal).catch((error: unknown) => error)).toBe(await make().catch((error: unknown) => error))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
