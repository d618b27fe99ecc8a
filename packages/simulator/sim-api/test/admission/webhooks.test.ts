import { resources } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { addHook, aMap, type AskedReview, MAPS, patchOf, setUp, startHook } from './testing.ts'

describe('a mutating webhook', () => {
  it('sees the write, and changes the object', async () => {
    const { server, createMap } = setUp()
    const hook = await startHook(() => patchOf({ op: 'add', path: '/data', value: { added: 'yes' } }))
    await addHook(server, 'Mutating', hook)
    const answer = await createMap('a', { data: { own: '1' } })
    expect(answer).toMatchObject({ status: 201, json: { data: { added: 'yes' }, metadata: { name: 'a' } } })
    expect(hook.asked).toEqual([
      expect.objectContaining({
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        name: 'a',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
        object: expect.objectContaining({ kind: 'ConfigMap', data: { own: '1' } }),
        oldObject: null,
        dryRun: false,
        options: expect.objectContaining({ kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' }),
      }),
    ])
  })

  it('sees the old object of an update and of a deletion', async () => {
    const { server, send, createMap } = setUp()
    const hook = await startHook(() => ({ allowed: true }))
    await createMap('a', { data: { n: '1' } })
    await addHook(server, 'Mutating', hook)
    await send('PUT', `${MAPS}/a`, aMap('a', { data: { n: '2' } }))
    await send('DELETE', `${MAPS}/a`)
    const seen = hook.asked.map(({ operation, object, oldObject }) => [operation, object?.['data'], oldObject?.['data']])
    expect(seen).toEqual([
      ['UPDATE', { n: '2' }, { n: '1' }],
      ['DELETE', undefined, { n: '2' }],
    ])
  })

  it('is called again about later changes if it requests that', async () => {
    const { server, createMap } = setUp()
    const [first, second] = await Promise.all([
      startHook(() => ({ allowed: true })),
      startHook(() => patchOf({ op: 'add', path: '/metadata/labels', value: { by: 'second' } })),
    ])
    await addHook(server, 'Mutating', first, { reinvocationPolicy: 'IfNeeded' })
    await addHook(server, 'Mutating', second)
    await createMap('a')
    expect([first, second].map((hook) => hook.asked.length).sort()).toEqual([1, 2])
  })

  it('cannot rename the object, nor leave one that is invalid', async () => {
    const { server, createMap } = setUp()
    const hook = await startHook(() =>
      patchOf({ op: 'replace', path: '/metadata/name', value: 'b' }, { op: 'add', path: '/metadata/labels', value: { 'not a key': 'x' } }),
    )
    await addHook(server, 'Mutating', hook)
    expect(await createMap('a')).toMatchObject({ status: 422, json: { message: expect.stringContaining('ConfigMap "a" is invalid') } })
  })
})

describe('no mutating webhook', () => {
  const SETS = '/apis/apps/v1/namespaces/default/daemonsets'
  const merge = { 'content-type': 'application/merge-patch+json' }
  const rules = [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['daemonsets', 'daemonsets/status'] }]
  const meddling = [
    { op: 'add', path: '/status', value: { currentNumberScheduled: 9, numberMisscheduled: 9, desiredNumberScheduled: 9, numberReady: 9 } },
    { op: 'add', path: '/spec/minReadySeconds', value: 9 },
    { op: 'add', path: '/metadata/deletionTimestamp', value: '2020-01-01T00:00:00Z' },
    { op: 'add', path: '/metadata/deletionGracePeriodSeconds', value: 0 },
  ]
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'agent:1' }] } }
  const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'a' }, spec: { selector: { matchLabels: labels }, template } }

  it('gives a new object a status or a deletionTimestamp', async () => {
    const { server, send } = setUp()
    await addHook(server, 'Mutating', await startHook(() => patchOf(...meddling)), { rules })
    const { json } = await send('POST', SETS, set)
    expect(json).toMatchObject({ spec: { minReadySeconds: 9 }, status: { desiredNumberScheduled: 0 } })
    expect(json.metadata.deletionTimestamp).toBeUndefined()
  })

  it('changes the status in a write to the object, or the object in a write to its status', async () => {
    const { server, send } = setUp()
    await send('POST', SETS, set)
    await addHook(server, 'Mutating', await startHook(() => patchOf(...meddling)), { rules })
    const status = { desiredNumberScheduled: 1 }
    const reported = (await send('PATCH', `${SETS}/a/status`, { status }, merge)).json
    expect(reported).toMatchObject({ metadata: { generation: 1 }, status: { desiredNumberScheduled: 9 } })
    expect(reported['spec']).not.toHaveProperty('minReadySeconds')
    await send('PATCH', `${SETS}/a/status`, { status: { observedGeneration: 7 } }, merge)
    const changed = (await send('PATCH', `${SETS}/a`, { metadata: { labels } }, merge)).json
    expect(changed).toMatchObject({ metadata: { generation: 2, labels }, spec: { minReadySeconds: 9 } })
    expect(changed['status']).toMatchObject({ desiredNumberScheduled: 9 })
    expect(changed.metadata.deletionTimestamp).toBeUndefined()
  })
})

describe('a validating webhook', () => {
  it('sees the object after mutation, and its warnings reach the client', async () => {
    const { server, createMap } = setUp()
    await addHook(server, 'Mutating', await startHook(() => patchOf({ op: 'add', path: '/data', value: { a: '1' } })))
    const judge = await startHook(() => ({ allowed: true, warnings: ['mind the gap'] }))
    await addHook(server, 'Validating', judge)
    expect(await createMap('a')).toMatchObject({ status: 201, warning: '299 - "mind the gap"' })
    expect(judge.asked[0]?.object?.['data']).toEqual({ a: '1' })
  })

  const denials: Record<string, { status: object | undefined; code: number; says: string }> = {
    'its message': { status: { message: 'not today', code: 403 }, code: 403, says: ' denied the request: not today' },
    'its reason if it has no message': {
      status: { reason: 'Forbidden', code: 200 },
      code: 400,
      says: ' denied the request: Forbidden',
    },
    'no text if it has none': { status: undefined, code: 400, says: ' denied the request without explanation' },
  }
  it.each(Object.entries(denials))('refuses with %s', async (_name, { status, code, says }) => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', await startHook(() => ({ allowed: false, ...(status && { status }) })))
    const answer = await createMap('a')
    expect(answer).toMatchObject({ status: code, json: { code, message: `admission webhook "maps.example.com"${says}` } })
    expect(server.findDefinition(resources.configMaps)).toBeDefined()
  })

  it('can reject a deletion', async () => {
    const { server, send, createMap } = setUp()
    await createMap('a')
    await addHook(server, 'Validating', await startHook(() => ({ allowed: false })))
    expect((await send('DELETE', `${MAPS}/a`)).status).toBe(400)
    expect((await send('GET', `${MAPS}/a`)).status).toBe(200)
  })
})

describe('the answer of a webhook', () => {
  it('with a refusal is forwarded as far as it is valid', async () => {
    const { server, createMap } = setUp()
    const status = { code: 99_999, message: 'no', details: { name: 'a', retryAfterSeconds: '\r\nx: y' } }
    await addHook(server, 'Validating', await startHook(() => ({ allowed: false, status })))
    const { json, ...answer } = await createMap('a')
    expect(answer.status).toBe(400)
    expect(json.details).toEqual({ name: 'a' })
  })

  it('with warnings is truncated to fit a header', async () => {
    const { server, createMap } = setUp()
    const warnings = Array.from({ length: 1000 }, (_, index) => `${index} ${'x'.repeat(1000)}`)
    await addHook(server, 'Validating', await startHook(() => ({ allowed: true, warnings })))
    const reported = (await createMap('a')).warning!.split(', ')
    expect([reported.length, reported[0]]).toEqual([16, `299 - "0 ${'x'.repeat(254)}"`])
  })
})

describe('the requests that webhooks receive', () => {
  const cases: Record<string, { more: object; asked: boolean }> = {
    'another group': { more: { rules: [rule({ apiGroups: ['apps'] })] }, asked: false },
    'another operation': { more: { rules: [rule({ operations: ['DELETE'] })] }, asked: false },
    'all resources': { more: { rules: [rule({ resources: ['*/*'] })] }, asked: true },
    'the cluster scope': { more: { rules: [rule({ scope: 'Cluster' })] }, asked: false },
    'namespaces with another label': {
      more: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } },
      asked: false,
    },
    'this namespace': { more: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }, asked: true },
    'objects with another label': { more: { objectSelector: { matchLabels: { app: 'y' } } }, asked: false },
    'objects with this label': { more: { objectSelector: { matchLabels: { app: 'x' } } }, asked: true },
  }
  it.each(Object.entries(cases))('%s', async (_name, { more, asked }) => {
    const { server, createMap } = setUp()
    const hook = await startHook(() => ({ allowed: true }))
    await addHook(server, 'Validating', hook, more)
    await createMap('a', { metadata: { name: 'a', namespace: 'default', labels: { app: 'x' } } })
    expect(hook.asked.length > 0).toBe(asked)
  })

  const conditions: Record<string, { expression: string; asked: boolean }> = {
    'a condition that holds': { expression: "object.metadata.name == 'a' && request.operation == 'CREATE'", asked: true },
    'a condition that does not hold': { expression: "request.userInfo.username != 'admin'", asked: false },
    'a condition about a missing value': { expression: '!has(object.data) && oldObject == null', asked: true },
  }
  it.each(Object.entries(conditions))('%s', async (_name, { expression, asked }) => {
    const { server, createMap } = setUp()
    const hook = await startHook(() => ({ allowed: true }))
    await addHook(server, 'Validating', hook, { matchConditions: [{ name: 'only', expression }] })
    expect((await createMap('a')).status).toBe(201)
    expect(hook.asked.length > 0).toBe(asked)
  })

  it('a condition that cannot be evaluated rejects the object, or is ignored, as the failurePolicy says', async () => {
    const { server, createMap } = setUp()
    const matchConditions = [{ name: 'only', expression: "object.data.x == 'y'" }]
    await addHook(server, 'Validating', {}, { matchConditions, failurePolicy: 'Ignore' })
    expect((await createMap('a')).status).toBe(201)
    await addHook(server, 'Validating', {}, { matchConditions })
    const says = "configmaps \"b\" is forbidden: expression 'object.data.x == 'y'' resulted in error: no such key: data"
    expect(await createMap('b')).toMatchObject({ status: 403, json: { message: says } })
  })

  it('include no webhook configuration', async () => {
    const { server } = setUp()
    await addHook(server, 'Validating', {}, { rules: [rule({ apiGroups: ['*'], resources: ['*'] })] })
    await expect(addHook(server, 'Validating', {})).resolves.toBeDefined()
  })

  it('include a dry run only if the webhook has no side effects', async () => {
    const { server, createMap } = setUp()
    const hook = await startHook(() => ({ allowed: true }))
    await addHook(server, 'Validating', hook, { sideEffects: 'NoneOnDryRun' })
    await createMap('a', {}, '?dryRun=All')
    expect(hook.asked).toMatchObject([{ dryRun: true, options: { dryRun: ['All'] } }])
  })
})

describe('a webhook that fails', () => {
  const bad = 'failed calling webhook "maps.example.com": '
  const cases: Record<string, { answer: (request: AskedReview) => object; says: string }> = {
    'answers with another status': {
      answer: () => ({ status: 404, text: 'no' }),
      says: 'failed to call webhook: the server could not find the requested resource',
    },
    breaks: {
      answer: () => ({ status: 500, text: 'oops' }),
      says: 'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding',
    },
    'answers with something else': {
      answer: () => ({ text: '{"a":1}' }),
      says: "failed to call webhook: Object 'Kind' is missing in '{\"a\":1}'",
    },
    'answers without a response': {
      answer: () => ({ text: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}' }),
      says: 'received invalid webhook response: webhook response was absent',
    },
    'answers for another request': {
      answer: () => ({ uid: 'x', allowed: true }),
      says: 'received invalid webhook response: expected response.uid=',
    },
    'changes the object although it only validates': {
      answer: () => patchOf({ op: 'add', path: '/data', value: {} }),
      says: 'received invalid webhook response: validating webhook may not return response.patch',
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { answer, says }) => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', await startHook(answer))
    const { json } = await createMap('a')
    expect(json).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: expect.stringContaining(`Internal error occurred: ${bad}${says}`),
    })
    expect(json.details?.causes?.[0]?.message).toContain(bad)
  })

  it('is ignored if its failurePolicy says so', async () => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', { url: 'https://127.0.0.1:1/' }, { failurePolicy: 'Ignore' })
    expect((await createMap('a')).status).toBe(201)
  })

  it('is dead', async () => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', { url: 'https://127.0.0.1:1/admit' })
    const post = 'Post "https://127.0.0.1:1/admit?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused'
    expect((await createMap('a')).json.message).toBe(`Internal error occurred: ${bad}failed to call webhook: ${post}`)
  })

  it('has a certificate of an unknown authority', async () => {
    const { server, createMap } = setUp()
    const [hook, other] = await Promise.all([startHook(() => ({ allowed: true })), startHook(() => ({ allowed: true }))])
    await addHook(server, 'Validating', { url: hook.url, ca: other.ca })
    expect((await createMap('a')).json.message).toContain(
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
  })

  it('exceeds its timeout', async () => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', await startHook(() => ({ never: true })), { timeoutSeconds: 1 })
    expect((await createMap('a')).json.message).toMatch(/failed to call webhook: Post ".*\/admit\?timeout=1s": context deadline exceeded$/)
  })

  it('is a service without a known address', async () => {
    const { server, createMap } = setUp()
    await addHook(server, 'Validating', {}, { clientConfig: { service: { namespace: 'default', name: 'judge', path: '/admit' } } })
    const post = 'Post "https://judge.default.svc:443/admit?timeout=10s": service "judge" not found'
    expect((await createMap('a')).json.message).toBe(`Internal error occurred: ${bad}failed to call webhook: ${post}`)
  })
})

it('a service is called at its configured address, also in this process', async () => {
  const asked: string[] = []
  const exchangeFor =
    (url: string) =>
    async ({ path, body }: { readonly path: string; readonly body?: string | undefined }) => {
      asked.push(url, path)
      const { uid } = (JSON.parse(body ?? '') as { request: AskedReview }).request
      const text = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } })
      async function* chunks() {
        yield text
      }
      return { status: 200, headers: {}, body: chunks() }
    }
  const { server, createMap } = setUp({ webhooks: { exchangeFor } })
  await addHook(
    server,
    'Validating',
    {},
    { clientConfig: { service: { namespace: 'default', name: 'judge', path: '/admit', port: 8443 } } },
  )
  expect((await createMap('a')).status).toBe(201)
  expect(asked).toEqual(['https://judge.default.svc:8443/admit', '/admit?timeout=10s'])
})

describe('a configuration', () => {
  it('gets defaults', async () => {
    const { server } = setUp()
    const { webhooks } = await addHook(server, 'Mutating', {})
    expect(webhooks).toMatchObject([
      { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10, reinvocationPolicy: 'Never', rules: [{ scope: '*' }] },
    ])
  })

  const cases: Record<string, { more: object; says: string }> = {
    'a short name': {
      more: { name: 'x' },
      says: 'webhooks[0].name: Invalid value: "x": should be a domain with at least three segments separated by dots',
    },
    'no sideEffects': {
      more: { sideEffects: undefined },
      says: 'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    },
    'a timeout of a minute': {
      more: { timeoutSeconds: 60 },
      says: 'webhooks[0].timeoutSeconds: Invalid value: 60: the timeout value must be between 1 and 30 seconds',
    },
    'no TLS': {
      more: { clientConfig: { url: 'http://127.0.0.1/' } },
      says: "'https' is the only allowed URL scheme; desired format: https://host[/path]",
    },
    'neither URL nor service': {
      more: { clientConfig: {} },
      says: 'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    },
    'a condition that does not compile': {
      more: { matchConditions: [{ name: 'only', expression: 'object.' }] },
      says: 'webhooks[0].matchConditions[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error:',
    },
    'an unknown policy': {
      more: { failurePolicy: 'Maybe' },
      says: 'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    },
  }
  it.each(Object.entries(cases))('with %s is refused', async (_name, { more, says }) => {
    await expect(addHook(setUp().server, 'Mutating', {}, more)).rejects.toMatchObject({ code: 422, message: expect.stringContaining(says) })
  })
})

function rule(parts: object): object {
  return { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], scope: '*', ...parts }
}
