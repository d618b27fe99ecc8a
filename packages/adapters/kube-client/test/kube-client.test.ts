import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { isAppError } from '@tranche/errors'
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
  type KubeClient,
  KubeStatusError,
  resourcePaths,
  testOp,
  testUid,
} from '@tranche/kube-client'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { clientOver, clientWith, collect, endlessBody, failure } from './canned-client.ts'
import { answer, answerPieces } from './fake-api-server.ts'

const key = { namespace: 'default', name: 'agent' }
const pod = { metadata: { namespace: 'default', name: 'agent', resourceVersion: '7' } }

describe('a request on the wire', () => {
  const cases: Record<string, { send: (client: KubeClient) => Promise<unknown>; want: Partial<WireRequest> & { type?: string } }> = {
    'gets an object of the core group': {
      send: (client) => client.get(resourcePaths.pods, key),
      want: { method: 'GET', path: '/api/v1/namespaces/default/pods/agent' },
    },
    'gets an object without a namespace': {
      send: (client) => client.get(resourcePaths.nodes, { namespace: '', name: 'node-1' }),
      want: { method: 'GET', path: '/api/v1/nodes/node-1' },
    },
    'lists a resource of a group over all namespaces, 500 at a time': {
      send: (client) => client.list(resourcePaths.daemonSets),
      want: { method: 'GET', path: '/apis/apps/v1/daemonsets?limit=500' },
    },
    'lists what selectors match, in one namespace': {
      send: (client) => client.list(resourcePaths.pods, { namespace: 'a', labelSelector: 'app=x,y!=z', fieldSelector: 'spec.nodeName=n' }),
      want: { path: '/api/v1/namespaces/a/pods?labelSelector=app%3Dx%2Cy!%3Dz&fieldSelector=spec.nodeName%3Dn&limit=500' },
    },
    'creates in the namespace of the object, with its user agent as the field manager': {
      send: (client) => client.create(resourcePaths.pods, pod),
      want: {
        method: 'POST',
        path: '/api/v1/namespaces/default/pods?fieldManager=tranche-test',
        body: JSON.stringify(pod),
        type: 'application/json',
      },
    },
    'creates a subresource of the object that it names': {
      send: (client) => client.create(resourcePaths.pods, pod, { subresource: 'eviction' }),
      want: {
        method: 'POST',
        path: '/api/v1/namespaces/default/pods/agent/eviction?fieldManager=tranche-test',
        body: JSON.stringify(pod),
        type: 'application/json',
      },
    },
    'updates a status': {
      send: (client) => client.update(resourcePaths.rollouts, pod, { subresource: 'status', fieldManager: 'other' }),
      want: { method: 'PUT', path: '/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/agent/status?fieldManager=other' },
    },
    'patches by JSON Patch': {
      send: (client) => client.patch(resourcePaths.pods, key, { type: 'json', body: [testUid('u')] }),
      want: { method: 'PATCH', body: '[{"op":"test","path":"/metadata/uid","value":"u"}]', type: 'application/json-patch+json' },
    },
    'tests texts by JSON Patch as API servers write them': {
      send: (client) =>
        client.patch(resourcePaths.pods, key, { type: 'json', body: [testOp('/status', { message: '<nil> & "x"\u2028' })] }),
      want: { body: String.raw`[{"op":"test","path":"/status","value":{"message":"\u003cnil\u003e \u0026 \"x\"\u2028"}}]` },
    },
    'sends half a surrogate pair as API servers store it': {
      send: (client) => client.patch(resourcePaths.pods, key, { type: 'merge', body: { a: 'x\ud83d', b: '\\ud83d', c: '😀' } }),
      want: { body: '{"a":"x\uFFFD","b":"\\\\ud83d","c":"😀"}' },
    },
    'patches by merge, keeping nulls': {
      send: (client) => client.patch(resourcePaths.pods, key, { type: 'merge', body: { a: null } }),
      want: { body: '{"a":null}', type: 'application/merge-patch+json' },
    },
    'patches strategically, the status only': {
      send: (client) => client.patch(resourcePaths.pods, key, { type: 'strategic', body: {} }, { subresource: 'status' }),
      want: {
        path: '/api/v1/namespaces/default/pods/agent/status?fieldManager=tranche-test',
        type: 'application/strategic-merge-patch+json',
      },
    },
    'deletes one object in one version': {
      send: (client) =>
        client.delete(resourcePaths.pods, key, {
          preconditions: { uid: 'u', resourceVersion: '7' },
          gracePeriodSeconds: 0,
          propagationPolicy: 'Background',
        }),
      want: {
        method: 'DELETE',
        path: '/api/v1/namespaces/default/pods/agent',
        body: '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"},"gracePeriodSeconds":0,"propagationPolicy":"Background"}',
      },
    },
    'updates a cluster-scoped object': {
      send: (client) => client.update(resourcePaths.nodes, { metadata: { name: 'node-1' } }),
      want: { method: 'PUT', path: '/api/v1/nodes/node-1?fieldManager=tranche-test' },
    },
    'lets the server refuse unknown fields': {
      send: (client) => client.create(resourcePaths.pods, pod, { fieldValidation: 'Strict' }),
      want: { path: '/api/v1/namespaces/default/pods?fieldManager=tranche-test&fieldValidation=Strict' },
    },
    'requests a document as text': {
      send: (client) => client.text('/openapi/v3'),
      want: { method: 'GET', path: '/openapi/v3' },
    },
    'escapes names': {
      send: (client) => client.get(resourcePaths.pods, { namespace: 'a', name: '../b c' }),
      want: { path: '/api/v1/namespaces/a/pods/..%2Fb%20c' },
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { send, want }) => {
    const { client, requests } = clientOver([answer(200, {})])
    await send(client)
    const { type, ...fields } = want
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject(fields)
    expect(requests[0]!.headers).toMatchObject({
      accept: 'application/json',
      'user-agent': 'tranche-test/1',
      ...(type && { 'content-type': type }),
    })
  })
})

describe('list', () => {
  const chunk = (names: readonly string[], next?: string) =>
    answer(200, { metadata: { resourceVersion: '9', continue: next }, items: names.map((name) => ({ metadata: { name } })) })

  it('follows the chunks, and keeps the objects that transform returns', async () => {
    const { client, requests } = clientOver([chunk(['a', 'b'], 'tok en'), chunk(['c'])])
    const listed = await client.list(resourcePaths.pods, {
      transform: (object) => (object.metadata.name === 'b' ? null : object.metadata.name),
    })
    expect(listed).toEqual({ items: ['a', 'c'], resourceVersion: '9' })
    expect(requests.map((request) => request.path)).toEqual(['/api/v1/pods?limit=500', '/api/v1/pods?limit=500&continue=tok%20en'])
  })

  it('restarts without chunks when the version of the first chunk has expired', async () => {
    const { client, requests } = clientOver([chunk(['a'], 'x'), answer(410, {}), chunk(['b', 'c'])])
    expect((await client.list(resourcePaths.pods, { transform: (object) => object.metadata.name })).items).toEqual(['b', 'c'])
    expect(requests[2]!.path).toBe('/api/v1/pods')
  })
})

describe('an error response', () => {
  it('becomes an error with status, reason and causes', async () => {
    const body = {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message: 'spec is wrong',
      details: { causes: [{ reason: 'Required', field: 'spec.x', message: 'm' }] },
    }
    const error = await failure(clientOver([answer(422, body)]).client.get(resourcePaths.pods, key))
    expect(error).toBeInstanceOf(KubeStatusError)
    expect(error).toMatchObject({ code: 'API_REFUSED', status: 422, reason: 'Invalid', causes: [{ field: 'spec.x' }] })
    expect(error).toHaveProperty('message', 'GET /api/v1/namespaces/default/pods/agent was answered with 422 Invalid: spec is wrong')
  })

  const kinds: [number, string, (error: unknown) => boolean, string][] = [
    [404, 'NotFound', isNotFound, 'API_REFUSED'],
    [409, 'Conflict', isConflict, 'WRITE_CONFLICT'],
    [409, 'AlreadyExists', isAlreadyExists, 'WRITE_CONFLICT'],
    [422, 'Invalid', isInvalid, 'API_REFUSED'],
    [410, 'Expired', isExpired, 'API_REFUSED'],
  ]
  it.each(kinds)('%i %s is distinguished, and sent once', async (status, reason, is, code) => {
    const { client, requests } = clientOver([answer(status, { code: status, reason })])
    const error = await failure(client.patch(resourcePaths.pods, key, { type: 'json', body: [] }))
    expect(error).toMatchObject({ code, status })
    expect([isNotFound, isConflict, isAlreadyExists, isInvalid, isExpired].filter((one) => one === is && one(error))).toEqual([is])
    expect(requests).toHaveLength(1)
  })

  it('names the request without its query', async () => {
    const error = await failure(clientOver([answer(404, {})]).client.list(resourcePaths.pods))
    expect(error).toHaveProperty('message', expect.stringMatching(/^GET \/api\/v1\/pods was answered with 404/))
  })

  it('is understood when a proxy answers with HTML', async () => {
    const html = answerPieces(403, ['<html>', 'no</html>'])
    expect(await failure(clientOver([html]).client.get(resourcePaths.pods, key))).toMatchObject({ status: 403, reason: '' })
  })
})

it('an answer that is not JSON becomes an error that quotes nothing of it, not a value', async () => {
  const { client } = clientOver([answerPieces(200, ['{"data":secret}'])])
  const error = await failure(client.get(resourcePaths.pods, key))
  expect(error).toMatchObject({ code: 'API_REFUSED' })
  expect(inspect(error)).not.toContain('secret}')
})

describe('the answer to a deletion', () => {
  const deleting = { kind: 'Pod', metadata: { ...pod.metadata, uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' } }
  it.each([
    ['is the object that remains for now', answer(200, deleting), deleting],
    ['is null if the object is gone', answer(200, { kind: 'Status', status: 'Success', details: { uid: 'u' } }), null],
    ['is null if it cannot be read: the deletion was accepted', answerPieces(200, ['<html>']), null],
  ])('%s', async (_title, response, object) => {
    const { client } = clientOver([response])
    await expect(client.delete(resourcePaths.pods, key)).resolves.toEqual(object)
  })
})

describe('a retried request', () => {
  const reset = new Error('fetch failed', { cause: new Error('read ECONNRESET') })
  const throttled = answer(429, {}, { 'retry-after': '2' })
  const read = (client: KubeClient) => client.get(resourcePaths.pods, key)
  const write = (client: KubeClient) => client.patch(resourcePaths.pods, key, { type: 'merge', body: {} })
  const remove = (client: KubeClient) => client.delete(resourcePaths.pods, key)
  const cases: Record<
    string,
    { send: (client: KubeClient) => Promise<unknown>; answers: readonly (WireResponse | Error)[]; sent: number; ends?: object }
  > = {
    'a read after 500, 503 and a reset': { send: read, answers: [answer(500, {}), answer(503, {}), reset, answer(200, {})], sent: 4 },
    'a read, four times at most': { send: read, answers: Array(9).fill(answer(503, {})), sent: 4, ends: { status: 503 } },
    'a read after a reset, four times at most': { send: read, answers: Array(9).fill(reset), sent: 4, ends: { code: 'API_UNREACHABLE' } },
    'no read after 404': { send: read, answers: [answer(404, {})], sent: 1, ends: { status: 404 } },
    'a write after 429 with Retry-After': { send: write, answers: [throttled, answer(200, {})], sent: 2 },
    'no delete, even after 429 with Retry-After: its preconditions may be outdated (F1)': {
      send: remove,
      answers: [throttled, answer(200, {})],
      sent: 1,
      ends: { status: 429 },
    },
    'no write after 429 without Retry-After': { send: write, answers: [answer(429, {})], sent: 1, ends: { status: 429 } },
    'no write after 500, even with Retry-After': {
      send: write,
      answers: [answer(500, {}, { 'retry-after': '1' })],
      sent: 1,
      ends: { status: 500 },
    },
    'no write after a reset: it may have succeeded': { send: write, answers: [reset], sent: 1, ends: { code: 'API_UNREACHABLE' } },
    'nothing when the server asks to wait past the deadline': {
      send: read,
      answers: [answer(429, {}, { 'retry-after': '60' })],
      sent: 1,
      ends: { status: 429 },
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { send, answers, sent, ends }) => {
    const { client, requests, clock } = clientOver(answers)
    const ending = send(client).then(
      () => undefined,
      (error: unknown) => error,
    )
    await clock.advanceAsync(14_000)
    const error = await ending
    if (ends === undefined) expect(error).toBeUndefined()
    else expect(error).toMatchObject(ends)
    expect(requests).toHaveLength(sent)
    expect(clock.pendingTimers).toBe(0)
  })

  it('waits as long as Retry-After says, and up to a quarter longer', async () => {
    const { client, requests, clock } = clientOver([throttled, answer(200, {})])
    const ending = read(client)
    await clock.advanceAsync(1_999)
    expect(requests).toHaveLength(1)
    await clock.advanceAsync(501)
    expect(requests).toHaveLength(2)
    await ending
  })

  it('is logged without words of the server, which may quote a Secret', async () => {
    const lines: unknown[] = []
    const log: Logger = { ...silentLogger, debug: (fields) => void lines.push(fields) }
    const { client, clock } = clientOver([answer(503, { kind: 'Status', message: 'etcd: secret' }), answer(200, {})], log)
    const ending = read(client)
    await clock.advanceAsync(1_000)
    await ending
    expect(lines).toMatchObject([{ attempt: 1, why: expect.stringMatching(/^GET \/api\/v1\/\S+ was answered with 503$/) as string }])
    expect(inspect(lines)).not.toContain('etcd')
  })

  it('waits a short time that grows before a read, without Retry-After', async () => {
    const { client, requests, clock } = clientOver(Array(9).fill(answer(503, {})))
    const ending = failure(read(client))
    const sentMs: number[] = []
    for (; requests.length < 4; await clock.advanceAsync(1)) while (sentMs.length < requests.length) sentMs.push(clock.monotonicMs())
    await ending
    expect(sentMs[1]).toBeLessThanOrEqual(101)
    expect(clock.monotonicMs()).toBeLessThan(1_000)
  })

  it('names the cause when no response comes', async () => {
    const { client } = clientOver([reset])
    const error = await failure(remove(client))
    expect(error).toHaveProperty('message', 'DELETE /api/v1/namespaces/default/pods/agent got no answer: read ECONNRESET')
  })
})

describe('the deadline of a request', () => {
  const silent: Exchange = () => new Promise(() => {})

  it('comes after 15 s with API_DEADLINE, even if the transport ignores the signal', async () => {
    const { client, clock } = clientWith(silent)
    const ending = failure(client.get(resourcePaths.pods, key))
    await clock.advanceAsync(15_000)
    expect(await ending).toMatchObject({ code: 'API_DEADLINE', details: { deadlineMs: 15_000 } })
    expect(clock.pendingTimers).toBe(0)
  })

  it('comes in the middle of a body, too', async () => {
    const { client, clock } = clientWith(async () => ({ ...answer(200, {}), body: endlessBody() }))
    const ending = failure(client.get(resourcePaths.pods, key, { deadlineMs: 100 }))
    await clock.advanceAsync(100)
    expect(isAppError(await ending)).toBe(true)
  })

  it('aborts the exchange, so that it can close its connection', async () => {
    let seen: AbortSignal | undefined
    const { client, clock } = clientWith((_request, signal) => {
      seen = signal
      return new Promise(() => {})
    })
    const ending = failure(client.get(resourcePaths.pods, key))
    await clock.advanceAsync(15_000)
    await ending
    expect(seen?.aborted).toBe(true)
  })

  it('is the reason of the caller when the caller aborts', async () => {
    const abort = new AbortController()
    const { client, clock } = clientWith(silent)
    const ending = failure(client.list(resourcePaths.pods, { signal: abort.signal }))
    abort.abort(new Error('shutting down'))
    expect(await ending).toHaveProperty('message', 'shutting down')
    expect(clock.pendingTimers).toBe(0)
  })

  it('leaves no listener on the signal of the caller', async () => {
    const { signal } = new AbortController()
    const { client } = clientOver([answer(200, {}), answer(404, {}), answerPieces(200, [])])
    await client.get(resourcePaths.pods, key, { signal })
    await failure(client.get(resourcePaths.pods, key, { signal }))
    await collect(client, { resourceVersion: '5', signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('comes before the request if the signal is already aborted', async () => {
    const { client, requests } = clientOver([answer(200, {})])
    expect(await failure(client.get(resourcePaths.pods, key, { signal: AbortSignal.abort(new Error('gone')) }))).toHaveProperty(
      'message',
      'gone',
    )
    expect(requests).toHaveLength(0)
  })
})
