import { type ApiClient, ApiProblemError, createApiClient, type FetchLike } from '@tranche/api-client'
import { VirtualClock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'
import { type Canned, cannedServer } from './canned-server.ts'

const key = { namespace: 'demo', name: 'agent' }
const history = { revisions: [], heldRevisions: [], observedChanges: [], actions: [] }
const accepted = { id: 'rest-1', type: 'approve', state: 'accepted', message: 'written', repeated: false }
const movedOn = {
  type: '/errors/MOVED_ON',
  title: 'moved on',
  status: 409,
  code: 'MOVED_ON',
  detail: 'the release is at step 3',
  instance: 'req-7',
}
const busy: Canned = { status: 503, body: { ...movedOn, status: 503, code: 'NOT_READY_YET' }, headers: { 'retry-after': '2' } }
const refusedConnection = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })

/** Asks one thing of a server that answers so, in virtual time. */
async function ask<T>(answers: readonly Canned[], question: (client: ApiClient) => Promise<T>) {
  const clock = new VirtualClock()
  const server = cannedServer(...answers)
  const client = createApiClient({ fetch: server.fetch, baseUrl: 'http://tranche.example/base/', token: () => 'secret', clock })
  const settled = Promise.allSettled([question(client)])
  let done = false
  void settled.then(() => (done = true))
  await clock.run({ done: () => done })
  const [result] = await settled
  return { result, arrived: server.arrived, tookMs: clock.monotonicMs() }
}

function reasonOf(result: PromiseSettledResult<unknown>): unknown {
  return result.status === 'rejected' ? result.reason : undefined
}

describe('a request', () => {
  it('is sent below the base URL, with encoded names and the token', async () => {
    const { arrived, result } = await ask([{ status: 200, body: history }], (client) => client.history({ namespace: 'a/b', name: 'x y' }))
    expect(result).toEqual({ status: 'fulfilled', value: history })
    expect(arrived).toMatchObject([
      {
        url: 'http://tranche.example/base/api/v1/namespaces/a%2Fb/rollouts/x%20y/history',
        method: 'GET',
        headers: { authorization: 'Bearer secret' },
        redirect: 'manual',
      },
    ])
  })

  it('rejects with the code, status and detail of a problem', async () => {
    const { result } = await ask([{ status: 409, body: movedOn }], (client) => client.act(key, 'approve', { expectedStep: 2 }))
    expect(reasonOf(result)).toBeInstanceOf(ApiProblemError)
    expect(reasonOf(result)).toMatchObject({ code: 'MOVED_ON', status: 409, message: movedOn.detail, details: { instance: 'req-7' } })
  })

  it.each([
    { title: 'a code of a newer server', answer: { status: 418, body: { ...movedOn, code: 'TEAPOT' } }, says: movedOn.detail },
    { title: "a proxy's page", answer: { status: 404, body: '<html>no such page</html>' }, says: 'answered with 404: <html>' },
    { title: 'a redirect', answer: { status: 302, body: '' }, says: 'answered with 302' },
    { title: 'an answer of something else', answer: { status: 200, body: { hello: 'world' } }, says: 'does not match its schema' },
    { title: 'an answer that is no JSON', answer: { status: 200, body: 'ok' }, says: 'does not match its schema' },
  ])('names the problem of $title', async ({ answer, says }) => {
    const { result, arrived } = await ask([answer], (client) => client.history(key))
    expect(reasonOf(result)).toMatchObject({ code: 'API_REFUSED', message: expect.stringContaining(says) })
    expect(arrived).toHaveLength(1)
  })

  it('reads all pages at the maximum page size', async () => {
    const node = (name: string) => ({ name, zone: '', state: 'old', role: 'stable' })
    const pages = [
      { status: 200, body: { items: [node('a'), node('b')], total: 3, next: 'after b' } },
      { status: 200, body: { items: [node('c')], total: 3 } },
    ]
    const { result, arrived } = await ask(pages, (client) => client.allNodes(key, { state: 'old' }))
    expect(result).toMatchObject({ value: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] })
    expect(arrived.map(({ url }) => url.split('?')[1])).toEqual(['state=old&limit=500', 'state=old&limit=500&cursor=after%20b'])
  })
})

describe('a retried request', () => {
  it.each<{ title: string; answers: readonly Canned[]; attempts: number; tookMs?: number }>([
    {
      title: 'a starting server, after its Retry-After',
      answers: [busy, { status: 200, body: history }],
      attempts: 2,
      tookMs: 2_000,
    },
    { title: 'a failing connection', answers: [refusedConnection, { status: 200, body: history }], attempts: 2, tookMs: 250 },
    { title: 'a silent server', answers: ['silence', { status: 200, body: history }], attempts: 2, tookMs: 15_250 },
  ])('is a GET from $title', async ({ answers, attempts, tookMs }) => {
    const got = await ask(answers, (client) => client.history(key))
    expect(got.result.status).toBe('fulfilled')
    expect(got.arrived).toHaveLength(attempts)
    expect(got.tookMs).toBe(tookMs)
  })

  it('sends an action with the same Idempotency-Key each time, and another key for each action', async () => {
    const { arrived, result } = await ask([refusedConnection, busy, { status: 202, body: accepted }], async (client) => [
      await client.act(key, 'approve', { expectedStep: 2 }, { waitMs: 9_500 }),
      await client.act(key, 'approve', { expectedStep: 2 }),
    ])
    expect(result).toEqual({ status: 'fulfilled', value: [accepted, accepted] })
    const keys = arrived.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
    expect(arrived[0]).toMatchObject({
      method: 'POST',
      url: expect.stringMatching(/\/actions\/approve\?wait=10$/),
      body: '{"expectedStep":2}',
    })
  })

  it.each<{ title: string; question: (client: ApiClient) => Promise<unknown>; answer: Canned; code: string; attempts: number }>([
    { title: 'a plan', question: (client) => client.plan(key, {}), answer: busy, code: 'API_REFUSED', attempts: 1 },
    {
      title: 'a client error',
      question: (client) => client.history(key),
      answer: { status: 409, body: movedOn },
      code: 'MOVED_ON',
      attempts: 1,
    },
    {
      title: 'a permanent failure',
      question: (client) => client.history(key),
      answer: refusedConnection,
      code: 'API_UNREACHABLE',
      attempts: 4,
    },
    {
      title: 'a permanently silent server',
      question: (client) => client.history(key),
      answer: 'silence',
      code: 'API_DEADLINE',
      attempts: 4,
    },
  ])('is not $title', async ({ question, answer, code, attempts }) => {
    const { result, arrived } = await ask([answer], question)
    expect(isAppError(reasonOf(result)) && reasonOf(result)).toMatchObject({ code })
    expect(arrived).toHaveLength(attempts)
  })

  it('ends at once when the caller aborts', async () => {
    const giveUp = new AbortController()
    const { result, arrived } = await ask(['silence'], (client) => {
      const asked = client.history(key, { signal: giveUp.signal })
      queueMicrotask(() => queueMicrotask(() => giveUp.abort(new Error('no longer wanted'))))
      return asked
    })
    expect(reasonOf(result)).toMatchObject({ message: 'no longer wanted' })
    expect(arrived.length).toBeLessThanOrEqual(1)
  })
})

it('accepts the fetch of the platform', () => {
  const platform: FetchLike = fetch
  expect(platform).toBe(fetch)
})
