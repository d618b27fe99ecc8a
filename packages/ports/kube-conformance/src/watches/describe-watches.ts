import { describe, expect } from 'vitest'
import { causesOf } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'
import type { WatchEvent } from '../fixtures/watch.ts'

/** Events of a watch, and their order. */
export function describeWatches(it: ConformanceTest): void {
  const secret = (name: string, labels: object = {}): object => ({ metadata: { name, labels } })
  const briefly = (events: readonly WatchEvent[]): readonly string[] => events.map(({ type, object }) => `${type} ${object.metadata.name}`)

  describe('a watch from a resource version', () => {
    it('reports each change after it, in order, with rising versions', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      await api.create(path, secret('before'))
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion })
      await api.create(path, secret('a'))
      await api.patch(pathOf.secrets(namespace, 'a'), 'merge', { data: { x: 'eA==' } })
      await api.create(path, secret('b'))
      await api.delete(pathOf.secrets(namespace, 'a'))
      const events = await watch.take(4)
      expect(briefly(events)).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a'])
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b))
    })

    it('resumes where another ended', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      for (const name of ['a', 'b', 'c']) await api.create(path, secret(name))
      const first = await api.watch(path, { resourceVersion })
      const [a] = await first.take(1)
      await first.close()
      const second = await api.watch(path, { resourceVersion: a!.object.metadata.resourceVersion })
      expect(briefly(await second.take(2))).toEqual(['ADDED b', 'ADDED c'])
    })

    it('sends whole objects, with kind and apiVersion', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, fieldSelector: 'metadata.name=a' })
      const created = await api.create(path, configMap('a'))
      expect((await watch.next()).object).toEqual(created)
    })

    it('sends the last state of a deleted object, with the version of the deletion', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const created = await api.create(path, secret('a', { x: 'y' }))
      const watch = await api.watch(path, { resourceVersion: created.metadata.resourceVersion })
      await api.delete(pathOf.secrets(namespace, 'a'))
      const { type, object } = await watch.next()
      expect([type, object.metadata.uid, object.metadata.labels]).toEqual(['DELETED', created.metadata.uid, { x: 'y' }])
      expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion))
    })

    it('sends nothing about writes that change nothing', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const created = await api.create(path, secret('a'))
      const watch = await api.watch(path, { resourceVersion: created.metadata.resourceVersion })
      await api.put(pathOf.secrets(namespace, 'a'), created)
      await api.create(path, secret('b'))
      expect(briefly(await watch.take(1))).toEqual(['ADDED b'])
    })

    it('reports the deletionTimestamp and the deletion of an object with finalizers', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const created = await api.create(path, { metadata: { name: 'a', finalizers: ['x.y/z'] } })
      const watch = await api.watch(path, { resourceVersion: created.metadata.resourceVersion })
      await api.delete(pathOf.secrets(namespace, 'a'))
      await api.patch(pathOf.secrets(namespace, 'a'), 'merge', { metadata: { finalizers: null } })
      const [marked, gone] = await watch.take(2)
      expect([marked?.type, marked?.object.metadata.deletionTimestamp !== undefined]).toEqual(['MODIFIED', true])
      expect(gone?.type).toBe('DELETED')
    })
  })

  describe('a watch without a resource version', () => {
    it.for([
      { title: 'none', query: {} },
      { title: 'version 0', query: { resourceVersion: 0 } },
    ])('reports existing objects first, given $title', async ({ query }, { api, namespace }) => {
      const path = pathOf.secrets(namespace)
      for (const name of ['a', 'b']) await api.create(path, secret(name))
      await api.until(path, 'b', 'the object in the watch cache', (object) => object !== undefined)
      const watch = await api.watch(path, query)
      expect(briefly(await watch.take(2)).toSorted()).toEqual(['ADDED a', 'ADDED b'])
      await api.create(path, secret('c'))
      expect(briefly(await watch.take(1))).toEqual(['ADDED c'])
    })
  })

  describe('a watch with selectors', () => {
    it('reports objects that start to match as added, and those that cease to as deleted', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, labelSelector: 'on=yes' })
      const label = (on: string | null): Promise<unknown> =>
        api.patch(pathOf.secrets(namespace, 'a'), 'merge', { metadata: { labels: { on } } })
      await api.create(path, secret('a'))
      await label('yes')
      await api.patch(pathOf.secrets(namespace, 'a'), 'merge', { metadata: { annotations: { x: 'y' } } })
      await label('no')
      await label('yes')
      await api.delete(pathOf.secrets(namespace, 'a'))
      const events = await watch.take(5)
      expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED'])
    })

    it('sends the previous state of an object that ceases to match, with the version of the change', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const created = await api.create(path, secret('a', { on: 'yes' }))
      const watch = await api.watch(path, { resourceVersion: created.metadata.resourceVersion, labelSelector: 'on=yes' })
      const changed = await api.patch(pathOf.secrets(namespace, 'a'), 'merge', { metadata: { labels: { on: 'no' } } })
      const { object } = await watch.next()
      expect([object.metadata.labels, object.metadata.resourceVersion]).toEqual([{ on: 'yes' }, changed.body.metadata.resourceVersion])
    })

    it('follows one object by its name', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, fieldSelector: 'metadata.name=b' })
      for (const name of ['a', 'b', 'c']) await api.create(path, secret(name))
      await api.delete(pathOf.secrets(namespace, 'b'))
      expect(briefly(await watch.take(2))).toEqual(['ADDED b', 'DELETED b'])
    })

    it('follows pods by their node', async ({ api, namespace }) => {
      const path = pathOf.pods(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, fieldSelector: 'spec.nodeName=conformance-none' })
      await api.create(path, idlePod('a'))
      const target = { kind: 'Node', name: 'conformance-none' }
      await api.post(pathOf.pods(namespace, 'a', 'binding'), { metadata: { name: 'a' }, target })
      expect(briefly(await watch.take(1))).toEqual(['ADDED a'])
    })

    it('works with the path of one object too', async ({ api, namespace }) => {
      const created = await api.create(pathOf.secrets(namespace), secret('a'))
      const watch = await api.watch(`/api/v1/watch/namespaces/${namespace}/secrets/a`, {
        resourceVersion: created.metadata.resourceVersion,
      })
      await api.create(pathOf.secrets(namespace), secret('b'))
      await api.delete(pathOf.secrets(namespace, 'a'))
      expect(briefly(await watch.take(1))).toEqual(['DELETED a'])
    })
  })

  describe('a watch that begins with a list', () => {
    const streamed = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }

    it('reports all existing objects, then a bookmark that marks their end, then changes', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      for (const name of ['a', 'b']) await api.create(path, secret(name))
      const watch = await api.watch(path, streamed)
      const events = await watch.take(3)
      expect(briefly(events.slice(0, 2))).toEqual(['ADDED a', 'ADDED b'])
      expect(events[2]).toMatchObject({
        type: 'BOOKMARK',
        object: {
          kind: 'Secret',
          metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: expect.stringMatching(/^\d+$/) },
        },
      })
      await api.delete(pathOf.secrets(namespace, 'a'))
      expect(briefly(await watch.take(1))).toEqual(['DELETED a'])
    })

    it('sends the bookmark at once if there are no objects', async ({ api, namespace }) => {
      const watch = await api.watch(pathOf.secrets(namespace), streamed)
      expect((await watch.next()).type).toBe('BOOKMARK')
    })

    it('applies the selectors', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      for (const name of ['a', 'b']) await api.create(path, secret(name, { app: name }))
      const watch = await api.watch(path, { ...streamed, labelSelector: 'app=b' })
      expect(briefly(await watch.take(1))).toEqual(['ADDED b'])
      expect((await watch.next()).type).toBe('BOOKMARK')
    })

    it('does not report existing objects if they are not requested', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      await api.create(path, secret('a'))
      await api.until(path, 'a', 'the object in the watch cache', (object) => object !== undefined)
      const watch = await api.watch(path, { ...streamed, sendInitialEvents: false })
      await api.create(path, secret('b'))
      const names: string[] = []
      while (!names.includes('b')) names.push((await watch.next()).object.metadata.name ?? 'bookmark')
      expect(names).not.toContain('a')
    })

    it.for([
      { title: 'initial events without a match', query: { sendInitialEvents: true }, cause: 'FieldValueForbidden resourceVersionMatch' },
      {
        title: 'a match without initial events',
        query: { resourceVersionMatch: 'NotOlderThan' },
        cause: 'FieldValueForbidden resourceVersionMatch',
      },
      {
        title: 'an exact match',
        query: { sendInitialEvents: true, resourceVersionMatch: 'Exact' },
        cause: 'FieldValueNotSupported resourceVersionMatch',
      },
    ])('is refused for $title', async ({ query, cause }, { api, namespace }) => {
      const answer = await api.get(pathOf.secrets(namespace), { query: { watch: true, allowWatchBookmarks: true, ...query } })
      expect([answer.status, causesOf(answer)]).toEqual([422, expect.arrayContaining([cause])])
    })
  })

  describe('a watch ends', () => {
    it('after timeoutSeconds, cleanly', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, timeoutSeconds: 1 })
      await api.create(path, secret('a'))
      expect(briefly(await watch.rest())).toEqual(['ADDED a'])
    })

    it('with at most a bookmark before it, if bookmarks are allowed and nothing happens', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.create(path, secret('a'))).metadata
      const watch = await api.watch(path, { resourceVersion, timeoutSeconds: 4, allowWatchBookmarks: true })
      const events = await watch.rest()
      expect(events.filter(({ type }) => type !== 'BOOKMARK')).toEqual([])
      // A real server sends one about two seconds before the end, in most runs.
      for (const { object } of events) expect(Number(object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion))
    })

    it('with an error event for an expired version', async ({ cluster, api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const answer = await cluster.wait(api.get(path, { query: { watch: true, resourceVersion: 1, timeoutSeconds: 1 } }))
      const object = answer.status === 200 ? (JSON.parse(answer.text.split('\n')[0] ?? '{}') as WatchEvent).object : answer.body
      expect(object).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 })
    })

    it('with an error response for an invalid version', async ({ api, namespace }) => {
      const answer = await api.get(pathOf.secrets(namespace), { query: { watch: true, resourceVersion: 'new' } })
      expect(answer.status).toBe(500)
    })
  })

  describe('a watch in another format', () => {
    it('sends rows of a table, with the columns once', async ({ api, namespace }) => {
      const path = pathOf.secrets(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion }, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
      for (const name of ['a', 'b']) await api.create(path, secret(name))
      const [first, second] = await watch.take(2)
      expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table', rows: [{ cells: expect.arrayContaining(['a']) }] } })
      expect(first?.object['columnDefinitions']).not.toHaveLength(0)
      expect(second?.object['columnDefinitions'] ?? []).toHaveLength(0)
    })

    it('sends metadata alone', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const query = { resourceVersion, fieldSelector: 'metadata.name=a' }
      const watch = await api.watch(path, query, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' })
      await api.create(path, configMap('a'))
      const { object } = await watch.next()
      expect([object.kind, object.metadata.name, object['data']]).toEqual(['PartialObjectMetadata', 'a', undefined])
    })
  })
}
