import { inspect } from 'node:util'
import { FakeClock } from '@tranche/clock'
import { isExpired, resourcePaths } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { clientOver, clientWith, collect, endlessBody, failure } from './canned-client.ts'
import { answer, answerPieces } from './fake-api-server.ts'

describe('watch', () => {
  const from = { resourceVersion: '5' }

  it('requests bookmarks, and yields events however the text is split', async () => {
    const lines = `{"type":"ADDED","object":{"n":1}}\n\n{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}\n`
    const { client, requests } = clientOver([answerPieces(200, Array.from(lines))])
    expect(await collect(client, from)).toEqual([
      { type: 'ADDED', object: { n: 1 } },
      { type: 'BOOKMARK', resourceVersion: '8' },
    ])
    expect(requests[0]!.path).toBe('/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=5')
  })

  it.each([
    ['in one piece', (text: string) => [text]],
    [
      'with the end of one event and the start of the next in one chunk',
      (text: string) => [text.slice(0, 20), text.slice(20, 50), text.slice(50, 55), text.slice(55)],
    ],
  ])('yields several events that come %s', async (_how, cut) => {
    const text = [1, 2, 3].map((n) => `{"type":"ADDED","object":{"n":${n}}}\n`).join('')
    const { client } = clientOver([answerPieces(200, cut(text))])
    expect(await collect(client, from)).toEqual([1, 2, 3].map((n) => ({ type: 'ADDED', object: { n } })))
  })

  it('throws an ERROR event with its status', async () => {
    const line = `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n`
    const { client } = clientOver([answerPieces(200, [line])])
    expect(isExpired(await failure(collect(client, from)))).toBe(true)
  })

  it('reads a bookmark without a version as one with an empty version', async () => {
    const { client } = clientOver([answerPieces(200, ['{"type":"BOOKMARK","object":{}}\n'])])
    expect(await collect(client, from)).toEqual([{ type: 'BOOKMARK', resourceVersion: '' }])
  })

  it('throws for an event of an unknown type', async () => {
    const { client } = clientOver([answerPieces(200, ['{"type":"RENAMED","object":{}}\n'])])
    expect(await failure(collect(client, from))).toMatchObject({
      code: 'API_UNREACHABLE',
      message: expect.stringContaining('"RENAMED"') as string,
    })
  })

  it('quotes nothing of an event that is not JSON', async () => {
    const { client } = clientOver([answerPieces(200, ['{"type":"ADDED","object":secret}\n'])])
    const error = await failure(collect(client, from))
    expect(error).toMatchObject({ code: 'API_UNREACHABLE', message: expect.stringContaining('an event that is not JSON') as string })
    expect(inspect(error)).not.toContain('secret}')
  })

  it.each([199, 300, 404])('throws if the response is %i', async (status) => {
    const { client } = clientOver([answer(status, {})])
    expect(await failure(collect(client, from))).toMatchObject({ status })
  })

  it('leaves no timer behind if the server ends it cleanly', async () => {
    const { client, clock } = clientOver([answerPieces(200, ['{"type":"ADDED","object":{}}\n'])])
    await collect(client, from)
    expect(clock.pendingTimers).toBe(0)
  })

  it('throws when the stream ends within an event', async () => {
    const { client } = clientOver([answerPieces(200, ['{"type":'])])
    expect(await failure(collect(client, from))).toMatchObject({ code: 'API_UNREACHABLE' })
  })

  it('treats a silent connection as dead; any byte restarts the timeout', async () => {
    const bookmark = '{"type":"BOOKMARK","object":{}}\n'
    const clock = new FakeClock()
    const { client } = clientWith(async () => ({ ...answer(200, {}), body: endlessBody(clock, bookmark, 100) }), clock)
    const ending = failure(collect(client, { ...from, idleTimeoutMs: 150 }))
    let ended = false
    void ending.then(() => (ended = true))
    await clock.advanceAsync(249)
    expect(ended).toBe(false)
    await clock.advanceAsync(1)
    expect(await ending).toMatchObject({ code: 'API_DEADLINE' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('gives up if no status line arrives, and closes the connection', async () => {
    let seen: AbortSignal | undefined
    const { client, clock } = clientWith((_request, signal) => {
      seen = signal
      return new Promise(() => {})
    })
    const ending = failure(collect(client, from))
    await clock.advanceAsync(14_999)
    expect(seen?.aborted).toBe(false)
    await clock.advanceAsync(1)
    expect(seen?.aborted).toBe(true)
    expect(await ending).toMatchObject({ code: 'API_DEADLINE' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('closes the stream when the reader leaves, from both ends', async () => {
    let seen: AbortSignal | undefined
    let returned = false
    const { client } = clientWith(async (_request, signal) => {
      seen = signal
      return { ...answer(200, {}), body: twoEvents(() => (returned = true)) }
    })
    for await (const event of client.watch(resourcePaths.pods, from)) {
      expect(event.type).toBe('ADDED')
      break
    }
    expect(seen?.aborted).toBe(true)
    expect(returned).toBe(true)
  })
})

async function* twoEvents(onEnd: () => void): AsyncGenerator<string> {
  try {
    yield '{"type":"ADDED","object":{}}\n'
    yield '{"type":"ADDED","object":{}}\n'
  } finally {
    onEnd()
  }
}
