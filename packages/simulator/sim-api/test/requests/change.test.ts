import { describe, expect, it } from 'vitest'
import { type PatchType, resources } from '@tranche/sim-api'
import { aConfigMap, aDaemonSet, aPod, aServer, at, refusal } from '../testing.ts'

const tester = { name: 'tester' }

describe('replacing', () => {
  it('refuses an object based on an older version', async () => {
    const { client } = setUp()
    const first = await client.create(resources.daemonSets, aDaemonSet('agent'))
    await client.update(resources.daemonSets, { ...first, metadata: { ...first.metadata, labels: { a: 'b' } } })
    const error = await refusal(client.update(resources.daemonSets, first))
    expect([error.status.reason, error.message]).toEqual([
      'Conflict',
      'Operation cannot be fulfilled on daemonsets.apps "agent": the object has been modified; please apply your changes to the latest version and try again',
    ])
  })

  it('accepts an object without a resource version if the kind allows it', async () => {
    const { client } = setUp()
    const pod = await client.create(resources.pods, aPod('a'))
    const { resourceVersion: _version, ...metadata } = pod.metadata
    await client.update(resources.pods, { ...pod, metadata: { ...metadata, labels: { a: 'b' } } as unknown as typeof pod.metadata })
    const lease = await client.create(resources.leases, { metadata: { name: 'l', namespace: 'default' } })
    const { resourceVersion: _other, ...leaseMeta } = lease.metadata
    expect((await refusal(client.update(resources.leases, { ...lease, metadata: leaseMeta as unknown as typeof pod.metadata }))).code).toBe(
      422,
    )
  })

  it('refuses a wrong uid with 409', async () => {
    const { client } = setUp()
    const map = await client.create(resources.configMaps, aConfigMap('a'))
    expect((await refusal(client.update(resources.configMaps, { ...map, metadata: { ...map.metadata, uid: 'x' } }))).code).toBe(409)
  })

  it('writes nothing when nothing changes', async () => {
    const { client, server } = setUp()
    const map = await client.create(resources.configMaps, aConfigMap('a'))
    const revision = server.revision()
    expect((await client.update(resources.configMaps, map)).metadata.resourceVersion).toBe(map.metadata.resourceVersion)
    expect(server.revision()).toBe(revision)
  })

  it('answers 404 for an object that does not exist', async () => {
    const { client } = setUp()
    const map = await client.create(resources.configMaps, aConfigMap('a'))
    await client.delete(resources.configMaps, 'a', 'default')
    expect((await refusal(client.update(resources.configMaps, map))).message).toBe('configmaps "a" not found')
  })

  it('changes the status only through its subresource, and nothing else through it', async () => {
    const { client } = setUp()
    const created = await client.create(resources.daemonSets, aDaemonSet('agent'))
    const viaMain = await client.update(resources.daemonSets, { ...created, status: { numberReady: 5 } })
    expect(at(viaMain, 'status', 'numberReady')).toBe(0)
    const spec = { ...(created['spec'] as object), minReadySeconds: 9 }
    const viaStatus = await client.update(
      resources.daemonSets,
      { ...viaMain, spec, status: { ...(created['status'] as object), numberReady: 5 } },
      'status',
    )
    expect([at(viaStatus, 'status', 'numberReady'), at(viaStatus, 'spec', 'minReadySeconds'), viaStatus.metadata.generation]).toEqual([
      5,
      undefined,
      1,
    ])
  })
})

describe('patching', () => {
  const cases: Record<string, { type: PatchType; patch: unknown; want: unknown }> = {
    'adds and removes by JSON patch': {
      type: 'json-patch',
      patch: [
        { op: 'test', path: '/metadata/labels/a', value: '1' },
        { op: 'remove', path: '/metadata/labels/a' },
        { op: 'add', path: '/metadata/labels/c', value: '3' },
      ],
      want: { b: '2', c: '3' },
    },
    'treats an absent field as null, and replaces it, in a JSON patch': {
      type: 'json-patch',
      patch: [
        { op: 'test', path: '/metadata/labels/x~1y', value: null },
        { op: 'replace', path: '/metadata/labels/c', value: '3' },
      ],
      want: { a: '1', b: '2', c: '3' },
    },
    'deletes with null in a merge patch': {
      type: 'merge-patch',
      patch: { metadata: { labels: { a: null, c: '3' } } },
      want: { b: '2', c: '3' },
    },
    'replaces a map with a directive': {
      type: 'strategic-merge-patch',
      patch: { metadata: { labels: { $patch: 'replace', c: '3' } } },
      want: { c: '3' },
    },
    'keeps only what $retainKeys names': {
      type: 'strategic-merge-patch',
      patch: { metadata: { labels: { $retainKeys: ['b', 'c'], c: '3' } } },
      want: { b: '2', c: '3' },
    },
  }
  for (const [name, { type, patch, want }] of Object.entries(cases))
    it(name, async () => {
      const { client, send } = setUp()
      await client.create(resources.configMaps, aConfigMap('a', { labels: { a: '1', b: '2' } }))
      await send(type, patch)
      expect((await client.get(resources.configMaps, 'a', 'default')).metadata.labels).toEqual(want)
    })

  const refused: Record<string, { type: PatchType; patch: unknown; want: number }> = {
    'answers 422 when a test fails': { type: 'json-patch', patch: [{ op: 'test', path: '/metadata/name', value: 'z' }], want: 422 },
    'answers 422 when there is nothing to remove': { type: 'json-patch', patch: [{ op: 'remove', path: '/data/x' }], want: 422 },
    'answers 413 if copies double their source again and again': {
      type: 'json-patch',
      patch: [
        { op: 'add', path: '/data', value: { a: 'x'.repeat(1_000) } },
        ...Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/k${at}` })),
      ],
      want: 413,
    },
    'answers 422 for an unknown operation': { type: 'json-patch', patch: [{ op: 'increase', path: '/data/x' }], want: 422 },
    'answers 422 if an existing field is tested for null': {
      type: 'json-patch',
      patch: [{ op: 'test', path: '/metadata/name', value: null }],
      want: 422,
    },
    'answers 422 if the parent of the field is absent': {
      type: 'json-patch',
      patch: [{ op: 'replace', path: '/data/x', value: '1' }],
      want: 422,
    },
    'answers 400 for a JSON patch that is not a list': { type: 'json-patch', patch: {}, want: 400 },
    'answers 422 for another uid': { type: 'merge-patch', patch: { metadata: { uid: 'other' } }, want: 422 },
    'answers 409 for a stale resource version': { type: 'merge-patch', patch: { metadata: { resourceVersion: '1' } }, want: 409 },
    'answers 400 for another name': { type: 'merge-patch', patch: { metadata: { name: 'b' } }, want: 400 },
    'answers 422 for an invalid label': { type: 'merge-patch', patch: { metadata: { labels: { 'a b': 'c' } } }, want: 422 },
    'answers 400 for a value of the wrong type': { type: 'merge-patch', patch: { metadata: { labels: { a: 1 } } }, want: 400 },
  }
  for (const [name, { type, patch, want }] of Object.entries(refused))
    it(name, async () => {
      const { client, send } = setUp()
      await client.create(resources.configMaps, aConfigMap('a'))
      expect((await refusal(send(type, patch))).code).toBe(want)
    })

  it('keeps the resource version when nothing changes', async () => {
    const { client, server, send } = setUp()
    await client.create(resources.configMaps, aConfigMap('a', { labels: { a: '1' } }))
    const revision = server.revision()
    await send('merge-patch', { metadata: { labels: { a: '1' } } })
    expect(server.revision()).toBe(revision)
  })

  it('merges containers by name, keeps their order, and replaces tolerations as a whole', async () => {
    const { client, server } = setUp()
    const template = {
      metadata: { labels: { app: 'agent' } },
      spec: {
        containers: [
          { name: 'one', image: 'one:1' },
          { name: 'two', image: 'two:1', env: [{ name: 'A', value: '1' }] },
        ],
        tolerations: [{ operator: 'Exists' }],
      },
    }
    await client.create(resources.daemonSets, aDaemonSet('agent', { template }))
    const containers = [
      { name: 'two', image: 'two:2', env: [{ name: 'B', value: '2' }] },
      { name: 'one', $patch: 'delete' },
    ]
    const patch = { spec: { template: { spec: { containers, tolerations: [{ key: 'x', operator: 'Exists' }] } } } }
    const where = { resource: resources.daemonSets, namespace: 'default', name: 'agent' }
    await server.handle({ actor: tester, verb: 'patch', ...where, patchType: 'strategic-merge-patch', body: patch })
    const spec = at(await client.get(resources.daemonSets, 'agent', 'default'), 'spec', 'template', 'spec')
    expect(spec).toMatchObject({
      containers: [{ name: 'two', image: 'two:2', env: [{ name: 'A' }, { name: 'B' }] }],
      tolerations: [{ key: 'x' }],
    })
    expect((spec as { containers: unknown[] }).containers).toHaveLength(1)
  })

  it('drops all other fields of a template that a patch replaces, as an undo requires', async () => {
    const { client, server } = setUp()
    const first = await client.create(resources.daemonSets, aDaemonSet('agent'))
    const hostNetwork = [{ op: 'add', path: '/spec/template/spec/hostNetwork', value: true }]
    await client.patch(resources.daemonSets, 'agent', 'default', hostNetwork)
    const body = { spec: { template: { $patch: 'replace', ...(at(first, 'spec', 'template') as object) } } }
    const where = { resource: resources.daemonSets, namespace: 'default', name: 'agent' }
    await server.handle({ actor: tester, verb: 'patch', ...where, patchType: 'strategic-merge-patch', body })
    expect(at(await client.get(resources.daemonSets, 'agent', 'default'), 'spec', 'template')).toEqual(at(first, 'spec', 'template'))
  })

  it('refuses strict unknown fields with 422 and warns of them when asked to', async () => {
    const { client, server } = setUp()
    await client.create(resources.daemonSets, aDaemonSet('agent'))
    const body = { spec: { colour: 'red' } }
    const request = {
      actor: tester,
      verb: 'patch',
      resource: resources.daemonSets,
      namespace: 'default',
      name: 'agent',
      patchType: 'merge-patch',
      body,
    } as const
    const strict = await refusal(server.handle({ ...request, options: { fieldValidation: 'Strict' } }))
    expect([strict.code, strict.message]).toEqual([422, expect.stringContaining('strict decoding error: unknown field "spec.colour"')])
    expect((await server.handle({ ...request, options: { fieldValidation: 'Warn' } })).warnings).toEqual(['unknown field "spec.colour"'])
  })
})

function setUp() {
  const { server } = aServer()
  const where = { actor: tester, resource: resources.configMaps, namespace: 'default', name: 'a' }
  const send = (patchType: PatchType, body: unknown) => server.handle({ ...where, verb: 'patch', patchType, body })
  return { server, client: server.clientFor(tester), send }
}
