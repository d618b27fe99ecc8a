import { ConnectionCutError, inProcessExchange } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { chunksOf, createStub, definition, pod } from './stub-api-server.ts'

describe('a path and a method become a request', () => {
  const cases: Record<string, { send: string; want: object }> = {
    'get of one object': { send: 'GET /api/v1/namespaces/default/pods/a', want: { verb: 'get', namespace: 'default', name: 'a' } },
    'list in a namespace': { send: 'GET /api/v1/namespaces/default/pods?limit=5', want: { verb: 'list', namespace: 'default' } },
    'list over all namespaces': { send: 'GET /api/v1/pods', want: { verb: 'list', namespace: undefined } },
    'a namespace itself': {
      send: 'GET /api/v1/namespaces/default',
      want: { verb: 'get', name: 'default', resource: { group: '', resource: 'namespaces' } },
    },
    'the status of a namespace': {
      send: 'GET /api/v1/namespaces/default/status',
      want: { verb: 'get', name: 'default', subresource: 'status', resource: { group: '', resource: 'namespaces' } },
    },
    'an object of a named group': {
      send: 'PUT /apis/apps/v1/namespaces/x/daemonsets/d',
      want: { verb: 'update', namespace: 'x', name: 'd', resource: { group: 'apps', resource: 'daemonsets' }, version: 'v1' },
    },
    'a subresource': { send: 'PUT /apis/apps/v1/namespaces/x/daemonsets/d/status', want: { verb: 'update', subresource: 'status' } },
    'a binding': { send: 'POST /api/v1/namespaces/x/pods/a/binding', want: { verb: 'create', name: 'a', subresource: 'binding' } },
    'deletion of one': { send: 'DELETE /api/v1/namespaces/x/pods/a', want: { verb: 'delete', name: 'a' } },
    'deletion of many': { send: 'DELETE /api/v1/namespaces/x/pods?labelSelector=a%3Db', want: { verb: 'deletecollection' } },
    'a name with escaped characters': { send: 'GET /api/v1/namespaces/x/pods/a%3Ab', want: { name: 'a:b' } },
  }

  it.each(Object.entries(cases))('%s', async (_name, { send, want }) => {
    const stub = createStub()
    const [method = '', path = ''] = send.split(' ')
    expect((await stub.send(method, path)).status).toBe(200)
    expect(stub.requests).toEqual([expect.objectContaining({ actor: { name: 'admin', groups: ['system:authenticated'] }, ...want })])
  })

  it('reads every option of the query', async () => {
    const stub = createStub()
    const query = 'dryRun=All&fieldManager=me&fieldValidation=Strict&resourceVersion=7&labelSelector=a%3Db&limit=3&continue=x'
    await stub.send('GET', `/api/v1/pods?${query}`)
    expect(stub.requests[0]?.options).toEqual({
      dryRun: true,
      fieldManager: 'me',
      fieldValidation: 'Strict',
      resourceVersion: '7',
      labelSelector: 'a=b',
      limit: 3,
      continue: 'x',
    })
  })

  it('warns about unknown fields unless asked otherwise', async () => {
    const stub = createStub()
    await stub.send('POST', '/api/v1/namespaces/default/pods', { body: '{}' })
    expect(stub.requests[0]?.options?.fieldValidation).toBe('Warn')
  })
})

describe('a request that is refused before it reaches the API server', () => {
  const cases: Record<string, { send: string; headers?: Record<string, string>; body?: string; status: number; says: string }> = {
    'a resource that does not exist': { send: 'GET /api/v1/things', status: 404, says: 'could not find the requested resource' },
    'a version that is not served': { send: 'GET /apis/apps/v2/daemonsets', status: 404, says: 'could not find the requested resource' },
    'a namespaced object without a namespace': { send: 'GET /api/v1/pods/a', status: 404, says: 'could not find the requested resource' },
    'an unknown health check': { send: 'GET /readyz/nope', status: 404, says: '404 page not found' },
    'an unsupported method': { send: 'PUT /api/v1/namespaces/x/pods', status: 405, says: 'does not allow this method' },
    'creation without a namespace': { send: 'POST /api/v1/pods', status: 405, says: 'does not allow this method' },
    'an unsupported Accept header': {
      send: 'GET /api/v1/pods',
      headers: { accept: 'application/vnd.kubernetes.protobuf' },
      status: 406,
      says: 'only the following media types are accepted',
    },
    'a body that is not JSON': { send: 'POST /api/v1/namespaces/x/pods', body: '{', status: 400, says: 'json parse error' },
    'a body above 3 MiB': {
      send: 'POST /api/v1/namespaces/x/pods',
      body: ' '.repeat(3 << 20) + '{}',
      status: 413,
      says: 'limit is 3145728',
    },
    'a body above 3 MiB in bytes, though shorter in characters': {
      send: 'POST /api/v1/namespaces/x/pods',
      body: JSON.stringify({ data: '€'.repeat((3 << 20) / 3) }),
      status: 413,
      says: 'limit is 3145728',
    },
    'a body of plain text': {
      send: 'POST /api/v1/namespaces/x/pods',
      headers: { 'content-type': 'text/plain' },
      body: '{}',
      status: 415,
      says: 'accepted media types include: application/json, application/yaml',
    },
    'JSON that is nested too deeply': {
      send: 'POST /api/v1/namespaces/x/pods',
      body: `{"spec":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
      status: 400,
      says: 'exceeded max depth',
    },
    'YAML that is nested too deeply': {
      send: 'POST /api/v1/namespaces/x/pods',
      headers: { 'content-type': 'application/yaml' },
      body: `spec: ${'['.repeat(5000)}${']'.repeat(5000)}`,
      status: 400,
      says: 'json parse error',
    },
    'the deletion of all namespaces at once': { send: 'DELETE /api/v1/namespaces', status: 405, says: 'does not allow this method' },
    'the log of a container': {
      send: 'GET /api/v1/namespaces/x/pods/a/log',
      status: 501,
      says: 'pods/log is not served: containers do not run',
    },
    'a command in a container': { send: 'POST /api/v1/namespaces/x/pods/a/exec', status: 501, says: 'pods/exec is not served' },
    'the deletion of a kind in all namespaces': { send: 'DELETE /api/v1/pods', status: 405, says: 'does not allow this method' },
    'a write to a document': { send: 'POST /apis', status: 405, says: 'does not allow this method' },
    'rows with an unknown includeObject': {
      send: 'GET /api/v1/pods?includeObject=All',
      status: 400,
      says: "must be 'Metadata', 'Object', 'None', or empty",
    },
    'a merge patch with force': {
      send: 'PATCH /api/v1/namespaces/x/pods/a?force=true',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{}',
      status: 422,
      says: 'may not be specified for non-apply patch',
    },
    'a limit that is not a number': { send: 'GET /api/v1/pods?limit=x', status: 400, says: 'invalid syntax' },
    'an unknown dry run': { send: 'GET /api/v1/pods?dryRun=Some', status: 422, says: 'Unsupported value: [\\"Some\\"]' },
    'an apply patch in binary form': {
      send: 'PATCH /api/v1/namespaces/x/pods/a?fieldManager=ci',
      headers: { 'content-type': 'application/apply-patch+cbor' },
      status: 415,
      says: 'application/strategic-merge-patch+json, application/apply-patch+yaml',
    },
    'an apply patch without a field manager': {
      send: 'PATCH /api/v1/namespaces/x/pods/a',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      status: 422,
      says: 'fieldManager: Required value: is required for apply patch',
    },
    'a duplicate field, under strict validation': {
      send: 'POST /api/v1/namespaces/x/pods?fieldValidation=Strict',
      body: '{"spec":{"a":[{"b":1},{"b":1,"b":2}]}}',
      status: 400,
      says: 'strict decoding error: duplicate field \\"spec.a[1].b\\"',
    },
  }

  it.each(Object.entries(cases))('%s', async (_name, { send, headers = {}, body, status, says }) => {
    const stub = createStub()
    const [method = '', path = ''] = send.split(' ')
    const answer = await stub.send(method, path, { headers, body })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(says)
    expect(stub.requests).toEqual([])
  })

  it('a strategic merge patch of a custom resource', async () => {
    const custom = definition('example.com', 'Widget', 'widgets', { customResourceDefinition: pod('crd') })
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const answer = await createStub([], [custom]).send('PATCH', '/apis/example.com/v1/namespaces/x/widgets/a', { headers, body: '{}' })
    expect(answer).toMatchObject({ status: 415, json: { kind: 'Status', reason: 'UnsupportedMediaType' } })
  })

  it('a request without a known token', async () => {
    const signal = new AbortController().signal
    const answer = await createStub().front.handle({ method: 'GET', path: '/api', headers: { authorization: 'Bearer other' } }, signal)
    expect(answer.status).toBe(401)
  })
})

it('an answer settles through promises alone, within one turn of the event loop', async () => {
  const stub = createStub([pod('a')])
  let answered = false
  stub.send('GET', '/api/v1/pods').then(
    () => (answered = true),
    () => undefined,
  )
  await new Promise((resolve) => setImmediate(resolve))
  expect(answered).toBe(true)
})

it('an object is serialized once, however often it is sent', async () => {
  let reads = 0
  const object = Object.defineProperty(pod('a'), 'spec', { enumerable: true, get: () => ({ reads: ++reads }) })
  const stub = createStub([object])
  for (const path of ['/api/v1/pods', '/api/v1/namespaces/default/pods/a'])
    expect((await stub.send('GET', path)).text).toContain('"reads":1')
})

describe('bodies', () => {
  it('may be YAML', async () => {
    const stub = createStub()
    const headers = { 'content-type': 'application/yaml' }
    await stub.send('POST', '/api/v1/namespaces/x/pods', { headers, body: 'metadata:\n  name: a\n' })
    expect(stub.requests[0]?.body).toEqual({ metadata: { name: 'a' } })
  })

  it('with a duplicate field lead to a warning', async () => {
    const answer = await createStub().send('POST', '/api/v1/namespaces/x/pods', { body: '{"a":"{","a":2}' })
    expect(answer.headers['warning']).toBe('299 - "duplicate field \\"a\\""')
  })

  it('of patches keep their format', async () => {
    const stub = createStub()
    for (const type of ['json-patch', 'merge-patch', 'strategic-merge-patch'])
      await stub.send('PATCH', '/api/v1/namespaces/x/pods/a', { headers: { 'content-type': `application/${type}+json` }, body: '[]' })
    expect(stub.requests.map((request) => request.patchType)).toEqual(['json-patch', 'merge-patch', 'strategic-merge-patch'])
  })
})

describe('public endpoints', () => {
  it.each([
    ['/readyz', 'ok'],
    ['/livez?verbose', '[+]ping ok\nlivez check passed\n'],
    ['/healthz', 'ok'],
  ])('%s', async (path, text) => {
    const answer = await createStub().front.handle({ method: 'GET', path, headers: {} }, new AbortController().signal)
    expect(answer.status).toBe(200)
    expect((await chunksOf(answer.body)).join('')).toBe(text)
  })

  it('/version', async () => {
    const stub = createStub()
    expect((await stub.send('GET', '/version')).json).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.2' })
  })
})

describe('watches', () => {
  const signal = new AbortController().signal
  const headers = { authorization: 'Bearer secret' }

  it('send one line for each frame, and stop when the reader leaves', async () => {
    const stub = createStub()
    const path = '/api/v1/namespaces/x/pods?watch=true&resourceVersion=4&allowWatchBookmarks=true'
    const answer = await stub.front.handle({ method: 'GET', path, headers }, signal)
    const [watch] = stub.watches
    watch?.sink.frame({ type: 'ADDED', object: pod('a') })
    watch?.sink.frame({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '8' } } })
    for await (const chunk of answer.body) {
      const lines = chunk
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
      expect(lines).toEqual([
        { type: 'ADDED', object: pod('a') },
        { type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '8' } } },
      ])
      break
    }
    expect(watch).toMatchObject({
      stopped: true,
      request: { namespace: 'x', options: { resourceVersion: '4', allowWatchBookmarks: true } },
    })
  })

  it('of one name watch by a field selector', async () => {
    const stub = createStub()
    await stub.front.handle({ method: 'GET', path: '/api/v1/namespaces/x/pods/a?watch=1', headers }, signal)
    expect(stub.watches[0]?.request.options?.fieldSelector).toBe('metadata.name=a')
  })

  it('end cleanly when the server closes them', async () => {
    const stub = createStub()
    const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=true', headers }, signal)
    stub.watches[0]?.sink.frame({ type: 'DELETED', object: pod('a') })
    stub.front.endWatches()
    expect(await chunksOf(answer.body)).toHaveLength(1)
    expect(stub.watches[0]?.stopped).toBe(true)
  })

  it('break when a fault cuts them', async () => {
    const stub = createStub()
    const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=true', headers }, signal)
    stub.watches[0]?.sink.end('cut')
    await expect(chunksOf(answer.body)).rejects.toBeInstanceOf(ConnectionCutError)
  })

  it('break with the reason of the signal, and stop', async () => {
    const stub = createStub()
    const client = new AbortController()
    const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=true', headers }, client.signal)
    const read = chunksOf(answer.body)
    client.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
    expect(stub.watches[0]?.stopped).toBe(true)
  })

  it('disconnect a reader that has fallen far behind', async () => {
    const stub = createStub()
    const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=true', headers }, signal)
    const large = pod('a', { spec: { text: 'x'.repeat(40 << 20) } })
    stub.watches[0]?.sink.frame({ type: 'ADDED', object: large })
    expect(stub.watches[0]?.stopped).toBe(false)
    stub.watches[0]?.sink.frame({ type: 'MODIFIED', object: large })
    expect(stub.watches[0]?.stopped).toBe(true)
    await expect(chunksOf(answer.body)).rejects.toBeInstanceOf(ConnectionCutError)
  })

  it('wake a waiting reader when it leaves by return()', async () => {
    const stub = createStub()
    const answer = await stub.front.handle({ method: 'GET', path: '/api/v1/pods?watch=true', headers }, signal)
    const reader = answer.body[Symbol.asyncIterator]()
    const waiting = reader.next()
    await reader.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(stub.watches[0]?.stopped).toBe(true)
  })
})

describe('pretty printing', () => {
  it.each([
    ['/api/v1/pods?pretty=true', {}, true],
    ['/api/v1/pods?pretty=1', {}, true],
    ['/api/v1/pods', { 'user-agent': 'curl/8.5.0' }, true],
    ['/apis', { 'user-agent': 'Wget/1.21' }, true],
    ['/api/v1/pods?pretty=false', { 'user-agent': 'curl/8.5.0' }, false],
    ['/api/v1/pods', { 'user-agent': 'kubectl/v1.36.2' }, false],
    ['/api/v1/pods?limit=x&pretty=true', {}, true],
  ])('of %s for %o: %s', async (path, headers, isPretty) => {
    const answer = await createStub([pod('a')]).send('GET', path, { headers })
    expect(answer.text.includes('\n  "')).toBe(isPretty)
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)))
  })
})

describe('health', () => {
  it.each([
    ['/readyz', 'ok'],
    ['/livez?verbose', '[+]ping ok\nlivez check passed\n'],
    ['/healthz/ping', 'ok'],
  ])('%s returns %j without authentication', async (path, says) => {
    expect(await createStub().send('GET', path, { headers: { authorization: '' } })).toMatchObject({ status: 200, text: says })
  })
})

describe('a watch', () => {
  it('is available under the older path, too', async () => {
    const stub = createStub()
    const exchange = inProcessExchange(stub.front, 'secret')
    const gone = new AbortController()
    const { status } = await exchange({ method: 'GET', path: '/api/v1/watch/namespaces/x/pods/a', headers: {} }, gone.signal)
    gone.abort(new Error('enough'))
    expect(status).toBe(200)
    expect(stub.watches[0]?.request).toMatchObject({ namespace: 'x', options: { fieldSelector: 'metadata.name=a' } })
  })

  it('sends bookmarks as Tables', async () => {
    const stub = createStub()
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const exchange = inProcessExchange(stub.front, 'secret')
    const { body } = await exchange({ method: 'GET', path: '/api/v1/pods?watch=1', headers }, new AbortController().signal)
    const metadata = { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } }
    stub.watches[0]?.sink.frame({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata } })
    stub.watches[0]?.sink.end('closed')
    expect(JSON.parse((await chunksOf(body)).join(''))).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Table', metadata: { resourceVersion: '7' }, rows: [{ object: { kind: 'PartialObjectMetadata', metadata } }] },
    })
  })
})
