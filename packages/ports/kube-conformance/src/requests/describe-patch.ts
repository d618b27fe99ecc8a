import { describe, expect } from 'vitest'
import { causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet, idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** PATCH in its three kinds (server-side apply is not part of the suite). */
export function describePatch(it: ConformanceTest): void {
  describe('JSON patch', () => {
    it('applies its operations in order', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a', { data: { a: '1', b: '2' } }))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '3' },
        { op: 'copy', from: '/data/a', path: '/data/c' },
        { op: 'move', from: '/data/b', path: '/data/d' },
        { op: 'add', path: '/metadata/labels', value: { 'x~y': '1' } },
      ])
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueInvalid metadata.labels'])
      const good = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '3' },
        { op: 'copy', from: '/data/a', path: '/data/c' },
        { op: 'move', from: '/data/b', path: '/data/d' },
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/x.y~1z', value: '1' },
      ])
      expect(good).toMatchObject({ status: 200, body: { metadata: { annotations: { 'x.y/z': '1' } } } })
      expect(good.body['data']).toEqual({ a: '3', c: '3', d: '2' })
    })

    it.for([
      { title: 'a test that fails', operation: { op: 'test', path: '/data/a', value: '2' } },
      { title: 'a test of a missing value', operation: { op: 'test', path: '/data/none', value: '2' } },
      { title: 'the removal of a missing value', operation: { op: 'remove', path: '/data/none' } },
      { title: 'a path through a missing value', operation: { op: 'add', path: '/metadata/labels/a', value: '2' } },
    ])('refuses $title with 422, and changes nothing', async ({ operation }, { api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [{ op: 'add', path: '/data/x', value: '' }, operation])
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid' } })
      expect((await api.get(pathOf.configMaps(namespace, 'a'))).body).toEqual(before)
    })

    it('accepts a test for null of a missing value', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [{ op: 'test', path: '/data/none', value: null }])
      expect(answer.status).toBe(200)
    })

    it('adds a missing value with replace', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [{ op: 'replace', path: '/data/b', value: '2' }])
      expect(answer).toMatchObject({ status: 200, body: { data: { a: '1', b: '2' } } })
    })

    it.for([
      { title: 'a body that is not JSON', patch: '[{' },
      { title: 'a body that is not a list', patch: '{"op":"remove","path":"/data/a"}' },
    ])('refuses $title with 400', async ({ patch }, { api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect(await api.patch(pathOf.configMaps(namespace, 'a'), 'json', patch)).toMatchObject({
        status: 400,
        body: { reason: 'BadRequest' },
      })
    })

    it('refuses an unknown operation with 422', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [{ op: 'inc', path: '/data/a' }])).status).toBe(422)
    })

    it('refuses more than 10,000 operations with 413', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }))
      expect((await api.patch(pathOf.configMaps(namespace, 'a'), 'json', operations)).status).toBe(413)
    })

    it('adds and removes list items by index and at the end', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', finalizers: ['x.y/a', 'x.y/b'] } }))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'json', [
        { op: 'add', path: '/metadata/finalizers/-', value: 'x.y/c' },
        { op: 'add', path: '/metadata/finalizers/0', value: 'x.y/d' },
        { op: 'remove', path: '/metadata/finalizers/1' },
      ])
      await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { metadata: { finalizers: null } })
      expect(answer.body.metadata.finalizers).toEqual(['x.y/d', 'x.y/b', 'x.y/c'])
    })
  })

  describe('merge patch', () => {
    it('merges maps, replaces lists, and removes null members', async ({ api, namespace }) => {
      const containers = ['main', 'side'].map((name) => ({ name, image: `${name}:v1` }))
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers }, metadata: { labels: { a: '1', b: '2' } } }))
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'merge', {
        metadata: { labels: { a: null, c: '3' } },
        spec: { template: { spec: { containers: [{ name: 'main', image: 'main:v2' }] } } },
      })
      expect(answer.status).toBe(200)
      expect(answer.body.metadata.labels).toEqual({ b: '2', c: '3' })
      expect(valueAt(answer.body, 'spec.template.spec.containers')).toHaveLength(1)
    })

    it('keeps the resource version when nothing changes', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { data: { a: '1', none: null } })
      expect(answer.body.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    })

    it('refuses a body that is not JSON with 400', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', '{')).status).toBe(400)
    })

    it('accepts a resource version as a precondition', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const { metadata } = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const body = (value: string): object => ({ metadata: { resourceVersion: metadata.resourceVersion }, data: { a: value } })
      expect((await api.patch(path, 'merge', body('2'))).status).toBe(200)
      expect(await api.patch(path, 'merge', body('3'))).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    })

    it('refuses another uid with 422, by its field', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const uid = '11111111-1111-4111-8111-111111111111'
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { metadata: { uid } })
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid' } })
      expect(causesOf(answer)).toEqual(['FieldValueInvalid metadata.uid'])
    })

    it('refuses another name with 400', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { metadata: { name: 'b' } })).status).toBe(400)
    })

    it('warns of unknown fields, or refuses them under strict validation', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const path = pathOf.daemonSets(namespace, 'a')
      const body = { spec: { minReadySecond: 5 } }
      expect((await api.patch(path, 'merge', body)).headers['warning']).toBe('299 - "unknown field \\"spec.minReadySecond\\""')
      expect((await api.patch(path, 'merge', body, { query: { fieldValidation: 'Strict' } })).status).toBe(422)
    })

    it('stores nothing in a dry run', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { data: { a: '2' } }, { query: { dryRun: 'All' } })
      expect(answer).toMatchObject({ status: 200, body: { data: { a: '2' } } })
      expect((await api.get(pathOf.configMaps(namespace, 'a'))).body).toEqual(before)
    })
  })

  describe('strategic merge patch', () => {
    it('merges containers by name, and their ports by number', async ({ api, namespace }) => {
      const containers = [
        { name: 'main', image: 'main:v1', ports: [{ containerPort: 80 }] },
        { name: 'side', image: 'side:v1' },
      ]
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers } }))
      const change = [
        { name: 'side', image: 'side:v2' },
        { name: 'main', ports: [{ containerPort: 80, name: 'web' }, { containerPort: 81 }] },
      ]
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', {
        spec: { template: { spec: { containers: change } } },
      })
      const list = valueAt(answer.body, 'spec.template.spec.containers') as readonly Record<string, unknown>[]
      expect(Object.fromEntries(list.map(({ name, image }) => [name, image]))).toEqual({ main: 'main:v1', side: 'side:v2' })
      const ports = list.find(({ name }) => name === 'main')!['ports'] as readonly { containerPort: number; name?: string }[]
      expect(Object.fromEntries(ports.map(({ containerPort, name }) => [containerPort, name]))).toEqual({ 80: 'web', 81: undefined })
    })

    it('removes an item with $patch: delete', async ({ api, namespace }) => {
      const containers = ['main', 'side'].map((name) => ({ name, image: `${name}:v1` }))
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers } }))
      const body = { spec: { template: { spec: { containers: [{ name: 'main', $patch: 'delete' }] } } } }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', body)
      expect(valueAt(answer.body, 'spec.template.spec.containers.0.name')).toBe('side')
      expect(valueAt(answer.body, 'spec.template.spec.containers')).toHaveLength(1)
    })

    it('replaces a whole map with $patch: replace', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { priority: 0, hostNetwork: true } }))
      const template = { $patch: 'replace', metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'new', image: 'new:v1' }] } }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', { spec: { template } })
      expect(answer.status).toBe(200)
      expect(valueAt(answer.body, 'spec.template.spec.hostNetwork')).toBeUndefined()
      expect(valueAt(answer.body, 'spec.template.spec.nodeSelector')).toBeUndefined()
      expect(valueAt(answer.body, 'spec.template.spec.containers')).toHaveLength(1)
    })

    it('orders lists with $setElementOrder', async ({ api, namespace }) => {
      const containers = ['a', 'b'].map((name) => ({ name, image: `${name}:v1` }))
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { containers } }))
      const spec = { '$setElementOrder/containers': ['c', 'b', 'a'].map((name) => ({ name })), containers: [{ name: 'c', image: 'c:v1' }] }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', { spec: { template: { spec } } })
      const list = valueAt(answer.body, 'spec.template.spec.containers') as readonly { name: string }[]
      expect(list.map(({ name }) => name)).toEqual(['c', 'b', 'a'])
    })

    it('removes items of a plain list with $deleteFromPrimitiveList, and adds others', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', finalizers: ['x.y/a', 'x.y/b'] } }))
      const metadata = { '$deleteFromPrimitiveList/finalizers': ['x.y/a'], finalizers: ['x.y/c'] }
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'strategic', { metadata })
      await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { metadata: { finalizers: null } })
      expect(answer.body.metadata.finalizers?.toSorted()).toEqual(['x.y/b', 'x.y/c'])
    })

    it('keeps only the keys in $retainKeys', async ({ api, namespace }) => {
      const volumes = [{ name: 'v', hostPath: { path: '/x' } }]
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { volumes } }))
      const change = [{ name: 'v', $retainKeys: ['name', 'emptyDir'], emptyDir: {} }]
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', { spec: { template: { spec: { volumes: change } } } })
      expect(valueAt(answer.body, 'spec.template.spec.volumes')).toEqual([{ name: 'v', emptyDir: {} }])
    })

    it('merges owners by uid', async ({ api, namespace }) => {
      const owner = (await api.create(pathOf.configMaps(namespace), configMap('owner'))).metadata.uid
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner }
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', ownerReferences: [reference] } }))
      const path = pathOf.configMaps(namespace, 'a')
      const controller = await api.patch(path, 'strategic', { metadata: { ownerReferences: [{ uid: owner, controller: true }] } })
      expect(controller.body.metadata.ownerReferences).toEqual([{ ...reference, controller: true }])
      const free = await api.patch(path, 'strategic', { metadata: { ownerReferences: [{ uid: owner, $patch: 'delete' }] } })
      expect(free.body.metadata.ownerReferences).toBeUndefined()
    })

    it('replaces tolerations as a whole', async ({ api, namespace }) => {
      const toleration = (key: string): object => ({ key, operator: 'Exists' })
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { podSpec: { tolerations: [toleration('a'), toleration('b')] } }))
      const body = { spec: { template: { spec: { tolerations: [toleration('c')] } } } }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', body)
      expect(valueAt(answer.body, 'spec.template.spec.tolerations')).toEqual([toleration('c')])
    })

    it('merges conditions of a status by type', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const path = pathOf.pods(namespace, 'a', 'status')
      await api.patch(path, 'strategic', { status: { conditions: [{ type: 'x.y/a', status: 'False' }] } })
      const answer = await api.patch(path, 'strategic', {
        status: {
          conditions: [
            { type: 'x.y/b', status: 'True' },
            { type: 'x.y/a', status: 'True' },
          ],
        },
      })
      const conditions = valueAt(answer.body, 'status.conditions') as readonly { type: string; status: string }[]
      expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toMatchObject({ 'x.y/a': 'True', 'x.y/b': 'True' })
    })

    it('refuses a list item without its merge key', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const body = { spec: { template: { spec: { containers: [{ image: 'b:v1' }] } } } }
      expect((await api.patch(pathOf.daemonSets(namespace, 'a'), 'strategic', body)).status).toBe(500)
    })

    it('refuses an unknown directive', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.patch(pathOf.configMaps(namespace, 'a'), 'strategic', { data: { $patch: 'shuffle' } })).status).toBe(500)
    })
  })

  describe('patch of any kind', () => {
    it('answers 404 for an object that does not exist', async ({ api, namespace }) => {
      for (const [type, body] of [
        ['json', []],
        ['merge', {}],
        ['strategic', {}],
      ] as const)
        expect((await api.patch(pathOf.configMaps(namespace, 'none'), type, body)).status).toBe(404)
    })

    it('refuses an unknown media type with 415', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      for (const type of ['application/json', 'text/plain'])
        expect(await api.patch(pathOf.configMaps(namespace, 'a'), type, {})).toMatchObject({
          status: 415,
          body: { reason: 'UnsupportedMediaType' },
        })
    })
  })
}
