import type { ApiClient } from '@tranche/api-client'
import type { ActionAnswer } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createRestReleaseClient } from '@tranche/release-client'
import { describe, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }
const answer: ActionAnswer = { id: 'rest-1', type: 'abort', state: 'accepted', message: 'is written', repeated: false }
const away = new AppError('API_UNREACHABLE', 'no answer')

/** The part of the REST API that the test uses. */
function releaseClientOf(client: Partial<ApiClient>, clock = new FakeClock()) {
  return createRestReleaseClient(client as ApiClient, { clock })
}

describe('an action over REST', () => {
  it('is requested with the same key until the time is up, one minute per request', async () => {
    const asked: (readonly [number | undefined, string | undefined])[] = []
    const releaseClient = releaseClientOf({
      async act(_key, _type, _body, { waitMs, idempotencyKey } = {}) {
        asked.push([waitMs, idempotencyKey])
        return { ...answer, repeated: asked.length > 1 }
      },
    })
    await expect(releaseClient.act(key, { type: 'abort', body: {}, waitMs: 150_000 })).resolves.toEqual(answer)
    expect(asked.map(([waitMs]) => waitMs)).toEqual([60_000, 60_000, 30_000])
    expect(new Set(asked.map(([, one]) => one)).size).toBe(1)
  })

  it('is not requested again once the controller has acted on it', async () => {
    const answers: ActionAnswer[] = [{ ...answer, state: 'acknowledged', repeated: true }, answer]
    const releaseClient = releaseClientOf({ act: async () => answers.pop()! })
    await expect(releaseClient.act(key, { type: 'abort', body: {}, waitMs: 3_600_000 })).resolves.toMatchObject({
      state: 'acknowledged',
      repeated: false,
    })
    expect(answers).toEqual([])
  })
})

describe('following over REST', () => {
  it('reads again when the stream reports a change, and periodically for changes that it does not report', async () => {
    const clock = new FakeClock()
    const reported = Promise.withResolvers<void>()
    let reads = 0
    const releaseClient = releaseClientOf(
      {
        rollout: (async () => ({ read: ++reads })) as unknown as ApiClient['rollout'],
        async *stream({ signal }) {
          await reported.promise
          yield { type: 'reset' } as const
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        },
      },
      clock,
    )
    const seen = releaseClient.follow!(key, { part: 'report', signal: new AbortController().signal })
    await seen.next()
    const changed = seen.next()
    await clock.advanceAsync(5_000)
    expect(reads).toBe(1)
    reported.resolve()
    await expect(changed).resolves.toMatchObject({ value: { value: { read: 2 } } })
    const quiet = seen.next()
    await clock.advanceAsync(11_000)
    await expect(quiet).resolves.toMatchObject({ value: { value: { read: 3 } } })
    await seen.return('stopped')
  })

  it('continues with the last state while the server is unavailable, and reports that', async () => {
    const clock = new FakeClock()
    const reads: (object | AppError)[] = [{ read: 2 }, away, { read: 1 }]
    const releaseClient = releaseClientOf(
      {
        rollout: (async () => {
          const next = reads.pop()
          if (next instanceof AppError) throw next
          return next
        }) as unknown as ApiClient['rollout'],
        async *stream({ signal }) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          yield { type: 'reset' } as const
        },
      },
      clock,
    )
    const seen = releaseClient.follow!(key, { part: 'report', signal: new AbortController().signal })
    await expect(seen.next()).resolves.toMatchObject({ value: { value: { read: 1 } } })
    const troubled = seen.next()
    await clock.advanceAsync(11_000)
    await expect(troubled).resolves.toEqual({ done: false, value: { value: { read: 1 }, trouble: away } })
    const well = seen.next()
    await clock.advanceAsync(15_000)
    await expect(well).resolves.toEqual({ done: false, value: { value: { read: 2 }, trouble: undefined } })
    await seen.return('stopped')
  })

  it('ends as unwatchable if the user may not read the stream', async () => {
    const clock = new FakeClock()
    const releaseClient = releaseClientOf(
      {
        rollout: (async () => ({})) as unknown as ApiClient['rollout'],
        stream: () => {
          throw new AppError('API_REFUSED', 'you may have no stream')
        },
      },
      clock,
    )
    const seen = releaseClient.follow!(key, { part: 'report', signal: new AbortController().signal })
    await expect(seen.next()).resolves.toEqual({ done: true, value: 'unwatchable' })
  })
})
