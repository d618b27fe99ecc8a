import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** POST of a new object. */
export function describeCreate(it: ConformanceTest): void {
  describe('create', () => {
    it('answers 201 with uid, resource version and creation time', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'))
      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace }, data: { a: '1' } })
      expect(answer.body.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(answer.body.metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
      expect(answer.body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    })

    it('gives each object a higher resource version than the previous one', async ({ api, namespace }) => {
      const versions: number[] = []
      for (const name of ['a', 'b', 'c'])
        versions.push(Number((await api.create(pathOf.configMaps(namespace), configMap(name))).metadata.resourceVersion))
      expect(versions).toEqual(versions.toSorted((a, b) => a - b))
    })

    it('starts the generation of a DaemonSet at 1, and sets none for a ConfigMap', async ({ api, namespace }) => {
      expect((await api.create(pathOf.daemonSets(namespace), daemonSet('a'))).metadata.generation).toBe(1)
      expect((await api.create(pathOf.configMaps(namespace), configMap('a'))).metadata.generation).toBeUndefined()
    })

    it('sets uid and creation time itself, whatever is sent', async ({ api, namespace }) => {
      const metadata = { name: 'a', uid: '11111111-1111-4111-8111-111111111111', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7 }
      const { metadata: stored } = await api.create(pathOf.daemonSets(namespace), daemonSet('a', { metadata }))
      expect(stored.uid).not.toBe(metadata.uid)
      expect(stored.creationTimestamp).not.toBe(metadata.creationTimestamp)
      expect(stored.generation).toBe(1)
    })

    it('stores U+FFFD for half a surrogate pair', async ({ api, namespace }) => {
      const data = String.raw`{"half":"x\ud83d","pair":"\ud83d\ude00","two":"\uDE00\ud83d","text":"\\ud83d"}`
      const answer = await api.post(
        pathOf.configMaps(namespace),
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${data}}`,
      )
      expect(answer.status).toBe(201)
      expect(answer.body['data']).toEqual({ half: 'x\uFFFD', pair: '😀', two: '\uFFFD\uFFFD', text: String.raw`\ud83d` })
    })

    it('drops the status that is sent', async ({ api, namespace }) => {
      const object = {
        ...daemonSet('a'),
        status: { numberReady: 3, currentNumberScheduled: 3, desiredNumberScheduled: 3, numberMisscheduled: 0 },
      }
      const answer = await api.post(pathOf.daemonSets(namespace), object, { query: { dryRun: 'All' } })
      expect(valueAt(answer.body, 'status.numberReady')).toBe(0)
    })

    it('refuses a name that exists with 409 AlreadyExists', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'))
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "a" already exists',
        reason: 'AlreadyExists',
        details: { name: 'a', kind: 'configmaps' },
        code: 409,
      })
    })

    it('names resource and group in details', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const answer = await api.post(pathOf.daemonSets(namespace), daemonSet('a'))
      expect(answer.body).toMatchObject({
        message: 'daemonsets.apps "a" already exists',
        details: { name: 'a', group: 'apps', kind: 'daemonsets' },
      })
    })

    it('refuses a namespace that does not exist with 404', async ({ api }) => {
      const answer = await api.post(pathOf.configMaps('conformance-none'), configMap('a'))
      expect(answer).toMatchObject({ status: 404, body: { reason: 'NotFound', details: { kind: 'namespaces', name: 'conformance-none' } } })
    })

    it('refuses a namespace that is being deleted with 403 NamespaceTerminating', async ({ api, namespace }) => {
      const finalizers = ['conformance.tranche.dev/hold']
      await api.create(pathOf.configMaps(namespace), configMap('held', { metadata: { name: 'held', finalizers } }))
      await api.delete(pathOf.namespaces(namespace))
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'))
      await api.patch(pathOf.configMaps(namespace, 'held'), 'merge', { metadata: { finalizers: null } })
      expect(answer).toMatchObject({ status: 403, body: { reason: 'Forbidden' } })
      expect(causesOf(answer)).toEqual(['NamespaceTerminating metadata.namespace'])
    })

    it('refuses a namespace in the body that is not the one of the path', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', namespace: 'other' } }))
      expect(answer).toMatchObject({
        status: 400,
        body: {
          reason: 'BadRequest',
          message: 'the namespace of the provided object does not match the namespace sent on the request',
        },
      })
    })

    it('refuses a body of another kind', async ({ api, namespace }) => {
      expect(await api.post(pathOf.daemonSets(namespace), configMap('a'))).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    })

    it('accepts a body without apiVersion and kind, and reads it as the kind of the path', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), { metadata: { name: 'a' } })
      expect(answer).toMatchObject({ status: 201, body: { kind: 'ConfigMap', apiVersion: 'v1' } })
    })

    it('refuses a body that is not JSON with 400', async ({ api, namespace }) => {
      expect(await api.post(pathOf.configMaps(namespace), '{"metadata":')).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    })

    it('accepts YAML', async ({ api, namespace }) => {
      const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n'
      const answer = await api.post(pathOf.configMaps(namespace), yaml, { type: 'application/yaml' })
      expect(answer).toMatchObject({ status: 201, body: { data: { a: '1' } } })
    })

    it('refuses an unknown content type with 415', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), 'a', { type: 'text/plain' })
      expect(answer).toMatchObject({ status: 415, body: { reason: 'UnsupportedMediaType' } })
    })

    it('refuses an unsupported Accept header with 406', async ({ api, namespace }) => {
      expect((await api.get(pathOf.configMaps(namespace), { accept: 'text/plain' })).status).toBe(406)
    })

    it('refuses an object with a resource version', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a', { metadata: { name: 'a', resourceVersion: '1' } }))
      expect(answer).toMatchObject({ status: 500, body: { message: 'resourceVersion should not be set on objects to be created' } })
    })
  })

  describe('create with generateName', () => {
    it('adds five letters to the name', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.configMaps(namespace), { metadata: { generateName: 'a-' } })
      expect(metadata.name).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      expect(metadata).toMatchObject({ generateName: 'a-' })
    })

    it('truncates the given part so that the name has 63 characters', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.configMaps(namespace), { metadata: { generateName: `${'a'.repeat(70)}-` } })
      expect(metadata.name).toMatch(/^a{58}.{5}$/)
    })

    it('keeps a name that is given too', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.configMaps(namespace), { metadata: { generateName: 'a-', name: 'b' } })
      expect(metadata.name).toBe('b')
    })
  })

  describe('create, metadata', () => {
    it.for([
      { title: 'no name', metadata: {}, causes: ['FieldValueRequired metadata.name'] },
      { title: 'a name with a capital', metadata: { name: 'A' }, causes: ['FieldValueInvalid metadata.name'] },
      { title: 'a name of 254 characters', metadata: { name: 'a'.repeat(254) }, causes: ['FieldValueInvalid metadata.name'] },
      {
        title: 'a label key with two slashes',
        metadata: { name: 'a', labels: { 'a/b/c': 'x' } },
        causes: ['FieldValueInvalid metadata.labels'],
      },
      { title: 'a label value with a space', metadata: { name: 'a', labels: { a: 'x y' } }, causes: ['FieldValueInvalid metadata.labels'] },
      {
        title: 'a label value of 64 characters',
        metadata: { name: 'a', labels: { a: 'x'.repeat(64) } },
        causes: ['FieldValueInvalid metadata.labels'],
      },
      {
        title: 'an annotation key with a space',
        metadata: { name: 'a', annotations: { 'x y': '' } },
        causes: ['FieldValueInvalid metadata.annotations'],
      },
      {
        title: 'annotations of more than 256 KiB',
        metadata: { name: 'a', annotations: { a: 'x'.repeat(262_145) } },
        causes: ['FieldValueTooLong metadata.annotations'],
      },
      {
        title: 'an owner without uid',
        metadata: { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: '' }] },
        causes: ['FieldValueInvalid metadata.ownerReferences.uid'],
      },
      {
        title: 'two owners that both control',
        metadata: {
          name: 'a',
          ownerReferences: ['b', 'c'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, controller: true })),
        },
        causes: ['FieldValueInvalid metadata.ownerReferences'],
      },
      {
        title: 'a finalizer without a domain',
        metadata: { name: 'a', finalizers: ['hold'] },
        causes: ['FieldValueInvalid metadata.finalizers[0]'],
      },
    ])('refuses $title with 422', async ({ metadata, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), { metadata })
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind: 'ConfigMap' } } })
      expect(causesOf(answer)).toEqual(causes)
    })
  })

  describe('create as a dry run', () => {
    it('answers like a real request, and stores nothing', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'), { query: { dryRun: 'All' } })
      expect(answer).toMatchObject({ status: 201, body: { metadata: { name: 'a' } } })
      expect(answer.body.metadata.uid).toBeDefined()
      expect(answer.body.metadata.resourceVersion).toBeUndefined()
      expect((await api.get(pathOf.configMaps(namespace, 'a'))).status).toBe(404)
    })

    it('refuses the same requests as without dry run', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.post(pathOf.configMaps(namespace), configMap('a'), { query: { dryRun: 'All' } })).status).toBe(409)
    })

    it('refuses any other value than All with 422', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'), { query: { dryRun: 'true' } })
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueNotSupported dryRun'])
    })
  })

  describe('create with unknown and repeated fields', () => {
    const unknown = '{"metadata":{"name":"a"},"daata":{}}'
    const repeated = '{"metadata":{"name":"a"},"data":{"a":"1"},"data":{"a":"2"}}'
    const send = async (api: Api, namespace: string, text: string, fieldValidation?: string) =>
      api.post(pathOf.configMaps(namespace), text, { query: { fieldValidation } })

    it('refuses an unknown field under strict validation', async ({ api, namespace }) => {
      const answer = await send(api, namespace, unknown, 'Strict')
      expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
      expect(answer.body['message']).toContain('strict decoding error: unknown field "daata"')
    })

    it('refuses a repeated field under strict validation', async ({ api, namespace }) => {
      const answer = await send(api, namespace, repeated, 'Strict')
      expect(answer.status).toBe(400)
      expect(answer.body['message']).toContain('duplicate field "data"')
    })

    it.for([
      { title: 'asked to warn', fieldValidation: 'Warn' },
      { title: 'asked for nothing', fieldValidation: undefined },
    ])('accepts them with a warning when $title', async ({ fieldValidation }, { api, namespace }) => {
      const first = await send(api, namespace, unknown, fieldValidation)
      expect(first).toMatchObject({ status: 201, headers: { warning: '299 - "unknown field \\"daata\\""' } })
      const second = await send(api, namespace, repeated.replace('"a"}', '"b"}'), fieldValidation)
      expect(second).toMatchObject({ status: 201, headers: { warning: '299 - "duplicate field \\"data\\""' }, body: { data: { a: '2' } } })
    })

    it('accepts them silently when it ignores unknown fields', async ({ api, namespace }) => {
      const answer = await send(api, namespace, unknown, 'Ignore')
      expect(answer.status).toBe(201)
      expect(answer.headers['warning']).toBeUndefined()
    })

    it('refuses any other value of fieldValidation with 422', async ({ api, namespace }) => {
      const answer = await send(api, namespace, unknown, 'Loud')
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueNotSupported fieldValidation'])
    })
  })
}
