import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { causesOf, namesOf } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** GET of one object and of many. */
export function describeRead(it: ConformanceTest): void {
  describe('get', () => {
    it('answers with the created object', async ({ api, namespace }) => {
      const created = await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect(await api.get(pathOf.configMaps(namespace, 'a'))).toMatchObject({ status: 200, body: created })
    })

    it('accepts resource version 0', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      await api.until(pathOf.configMaps(namespace), 'a', 'the ConfigMap in the watch cache', (object) => object !== undefined)
      expect((await api.get(pathOf.configMaps(namespace, 'a'), { query: { resourceVersion: 0 } })).status).toBe(200)
    })

    it('answers 404 for an object that does not exist, with its name and resource', async ({ api, namespace }) => {
      expect(await api.get(pathOf.daemonSets(namespace, 'none'))).toMatchObject({
        status: 404,
        body: {
          kind: 'Status',
          status: 'Failure',
          message: 'daemonsets.apps "none" not found',
          reason: 'NotFound',
          details: { name: 'none', group: 'apps', kind: 'daemonsets' },
          code: 404,
        },
      })
    })

    it.for([
      { title: 'a resource', path: '/api/v1/gadgets' },
      { title: 'a group', path: '/apis/gadgets.example.com/v1/gadgets' },
      { title: 'a version', path: '/apis/apps/v9/daemonsets' },
      { title: 'a subresource', path: '/api/v1/namespaces/default/configmaps/a/status' },
      { title: 'a root', path: '/gadgets' },
    ])('answers 404 for $title that is not served', async ({ path }, { api }) => {
      expect((await api.get(path)).status).toBe(404)
    })

    it('answers 405 for a verb that a resource does not have', async ({ api, namespace }) => {
      expect(await api.put(pathOf.configMaps(namespace), {})).toMatchObject({ status: 405, body: { reason: 'MethodNotAllowed' } })
    })
  })

  describe('list', () => {
    it('lists items in order of name, with the resource version of the list', async ({ api, namespace }) => {
      for (const name of ['b', 'c', 'a']) await api.create(pathOf.secrets(namespace), { metadata: { name } })
      const answer = await api.get(pathOf.secrets(namespace))
      expect(answer).toMatchObject({ status: 200, body: { kind: 'SecretList', apiVersion: 'v1' } })
      expect(namesOf(answer)).toEqual(['a', 'b', 'c'])
      expect(Number(answer.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(answer.body.items[2]!.metadata.resourceVersion))
    })

    it('omits kind and apiVersion of the items of built-in resources', async ({ api, namespace }) => {
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })
      const [item] = (await api.get(pathOf.secrets(namespace))).body.items
      expect([item?.kind, item?.apiVersion]).toEqual([undefined, undefined])
    })

    it('returns an empty list without objects, even in a namespace that does not exist', async ({ api, namespace }) => {
      expect((await api.get(pathOf.secrets(namespace))).body.items).toEqual([])
      expect(await api.get(pathOf.secrets('conformance-none'))).toMatchObject({ status: 200, body: { items: [] } })
    })

    it('lists all namespaces at once', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.get('/api/v1/configmaps', { query: { fieldSelector: `metadata.namespace=${namespace},metadata.name=a` } })
      expect(namesOf(answer)).toEqual(['a'])
    })
  })

  describe('list with selectors', () => {
    const three = async (api: Api, namespace: string): Promise<void> => {
      for (const [name, labels] of Object.entries({ a: { tier: 'web' }, b: { tier: 'db', zone: 'one' }, c: {} }))
        await api.create(pathOf.pods(namespace), idlePod(name, name === 'a' ? { restartPolicy: 'Never' } : {}, { labels }))
    }

    it.for([
      { labelSelector: 'tier=web', names: ['a'] },
      { labelSelector: 'tier==db', names: ['b'] },
      { labelSelector: 'tier!=web', names: ['b', 'c'] },
      { labelSelector: 'tier in (web,db)', names: ['a', 'b'] },
      { labelSelector: 'tier notin (web)', names: ['b', 'c'] },
      { labelSelector: 'zone', names: ['b'] },
      { labelSelector: '!tier', names: ['c'] },
      { labelSelector: 'constructor', names: [] },
      { labelSelector: 'toString notin (web)', names: ['a', 'b', 'c'] },
      { labelSelector: 'tier=db,zone in (one)', names: ['b'] },
      { labelSelector: 'tier in ()', names: [] },
    ])('selects by label: $labelSelector', async ({ labelSelector, names }, { api, namespace }) => {
      await three(api, namespace)
      expect(namesOf(await api.get(pathOf.pods(namespace), { query: { labelSelector } }))).toEqual(names)
    })

    it.for(['tier=', 'tier>1'])('accepts %s', async (labelSelector, { api, namespace }) => {
      expect((await api.get(pathOf.pods(namespace), { query: { labelSelector } })).status).toBe(200)
    })

    it.for(['tier in web', 'a b', '=x', 'tier=a=b', 'tier=a b'])(
      'refuses the label selector "%s" with 400',
      async (labelSelector, { api, namespace }) => {
        expect(await api.get(pathOf.pods(namespace), { query: { labelSelector } })).toMatchObject({
          status: 400,
          body: { reason: 'BadRequest' },
        })
      },
    )

    it.for([
      { fieldSelector: 'metadata.name=a', names: ['a'] },
      { fieldSelector: 'metadata.name!=a', names: ['b', 'c'] },
      { fieldSelector: 'spec.restartPolicy=Never', names: ['a'] },
      { fieldSelector: 'spec.nodeName=', names: ['a', 'b', 'c'] },
      { fieldSelector: 'status.phase=Pending', names: ['a', 'b', 'c'] },
      { fieldSelector: 'status.phase!=Pending', names: [] },
      { fieldSelector: 'spec.schedulerName=no-scheduler,metadata.name=b', names: ['b'] },
      { fieldSelector: 'spec.serviceAccountName=default', names: ['a', 'b', 'c'] },
    ])('selects pods by field: $fieldSelector', async ({ fieldSelector, names }, { api, namespace }) => {
      await three(api, namespace)
      expect(namesOf(await api.get(pathOf.pods(namespace), { query: { fieldSelector } }))).toEqual(names)
    })

    it.for(['spec.hostname=a', 'a', 'metadata.labels=a'])(
      'refuses the field selector %s with 400',
      async (fieldSelector, { api, namespace }) => {
        expect(await api.get(pathOf.pods(namespace), { query: { fieldSelector } })).toMatchObject({
          status: 400,
          body: { reason: 'BadRequest' },
        })
      },
    )
  })

  describe('list in pages', () => {
    const four = async (api: Api, namespace: string): Promise<void> => {
      for (const name of ['a', 'b', 'c', 'd']) await api.create(pathOf.secrets(namespace), { metadata: { name, labels: { app: 'x' } } })
    }

    it('returns the first page, the number of remaining objects, and a continue token', async ({ api, namespace }) => {
      await four(api, namespace)
      const first = await api.get(pathOf.secrets(namespace), { query: { limit: 3 } })
      expect(namesOf(first)).toEqual(['a', 'b', 'c'])
      expect(first.body.metadata).toMatchObject({ continue: expect.stringMatching(/^[\w-]+=*$/), remainingItemCount: 1 })
      const second = await api.get(pathOf.secrets(namespace), { query: { limit: 3, continue: first.body.metadata.continue } })
      expect(namesOf(second)).toEqual(['d'])
      expect(second.body.metadata).not.toHaveProperty('continue')
      expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
    })

    it('continues the list with the state of the first page', async ({ api, namespace }) => {
      await four(api, namespace)
      const first = await api.get(pathOf.secrets(namespace), { query: { limit: 2 } })
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'cc' } })
      await api.delete(pathOf.secrets(namespace, 'd'))
      const second = await api.get(pathOf.secrets(namespace), { query: { limit: 9, continue: first.body.metadata.continue } })
      expect(namesOf(second)).toEqual(['c', 'd'])
    })

    it('omits the number of remaining objects with a selector', async ({ api, namespace }) => {
      await four(api, namespace)
      const { body } = await api.get(pathOf.secrets(namespace), { query: { limit: 3, labelSelector: 'app=x' } })
      expect(body.metadata).not.toHaveProperty('remainingItemCount')
      expect(body.metadata.continue).toBeDefined()
    })

    it('refuses a foreign continue token with 400', async ({ api, namespace }) => {
      expect(await api.get(pathOf.secrets(namespace), { query: { limit: 3, continue: 'x' } })).toMatchObject({
        status: 400,
        body: { reason: 'BadRequest' },
      })
    })

    it('refuses a resource version with a continue token with 400', async ({ api, namespace }) => {
      await four(api, namespace)
      const first = await api.get(pathOf.secrets(namespace), { query: { limit: 2 } })
      const { continue: token, resourceVersion } = first.body.metadata
      const answer = await api.get(pathOf.secrets(namespace), { query: { limit: 2, continue: token, resourceVersion } })
      expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    })
  })

  describe('list at a resource version', () => {
    it('returns the state at exactly that version', async ({ api, namespace }) => {
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })
      const { resourceVersion } = (await api.get(pathOf.secrets(namespace))).body.metadata
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'b' } })
      const query = { resourceVersion, resourceVersionMatch: 'Exact' }
      const answer = await api.get(pathOf.secrets(namespace), { query })
      expect(namesOf(answer)).toEqual(['a'])
      expect(answer.body.metadata.resourceVersion).toBe(resourceVersion)
    })

    it('returns nothing older than that version', async ({ api, namespace }) => {
      const { resourceVersion } = (await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })).metadata
      for (const query of [{ resourceVersion }, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }])
        expect(namesOf(await api.get(pathOf.secrets(namespace), { query }))).toEqual(['a'])
    })

    it.for([
      { title: 'a match without a version', query: { resourceVersionMatch: 'Exact' } },
      { title: 'exactly version 0', query: { resourceVersionMatch: 'Exact', resourceVersion: 0 } },
      { title: 'an unknown match', query: { resourceVersionMatch: 'About', resourceVersion: 1 } },
      { title: 'initial events', query: { sendInitialEvents: true, resourceVersion: 1, resourceVersionMatch: 'NotOlderThan' } },
    ])('refuses $title with 422', async ({ query }, { api, namespace }) => {
      const answer = await api.get(pathOf.secrets(namespace), { query })
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind: 'ListOptions', group: 'meta.k8s.io' } } })
      expect(causesOf(answer)).toEqual([
        expect.stringMatching(/^FieldValue(Forbidden|NotSupported) (resourceVersionMatch|sendInitialEvents)$/),
      ])
    })

    it('refuses a version that is not a number', async ({ api, namespace }) => {
      expect((await api.get(pathOf.secrets(namespace), { query: { resourceVersion: 'new' } })).status).toBe(400)
    })

    it('answers 504 for a version that does not exist yet', async ({ cluster, api, namespace }) => {
      const { metadata } = await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })
      const resourceVersion = Number(metadata.resourceVersion) + 1_000_000
      const answer = await cluster.wait(api.get(pathOf.secrets(namespace), { query: { resourceVersion } }))
      expect(answer).toMatchObject({
        status: 504,
        body: { reason: 'Timeout', message: expect.stringContaining('Too large resource version') },
      })
      expect(causesOf(answer)).toEqual(['ResourceVersionTooLarge'])
    })
  })
}
