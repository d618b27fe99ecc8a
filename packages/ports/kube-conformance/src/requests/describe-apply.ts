import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { type Answer, causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet } from '../fixtures/objects.ts'
import { managedFieldsOf, ownersOf } from '../fixtures/owned-fields.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Server-side apply: who owns a field says what becomes of it. */
export function describeApply(it: ConformanceTest): void {
  describe('server-side apply', () => {
    it('creates a missing object, and its writer owns the applied fields and nothing else', async ({ api, namespace }) => {
      const answer = await apply(api, pathOf.daemonSets(namespace, 'a'), daemonSet('a'), 'ci')
      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({ metadata: { generation: 1 }, spec: { revisionHistoryLimit: 10 } })
      expect(ownersOf(answer.body)).toEqual({ 'Apply ci': appliedByDaemonSet })
      expect(managedFieldsOf(answer.body)[0]).toMatchObject({ apiVersion: 'apps/v1', time: answer.body.metadata.creationTimestamp })
    })

    it('writes nothing if the same fields are applied again', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const first = await apply(api, path, config({ a: '1' }), 'ci')
      const again = await apply(api, path, config({ a: '1' }), 'ci')
      expect(again).toMatchObject({ status: 200, body: first.body })
    })

    it('accepts YAML, and a resource version as a precondition', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1"}\n'
      expect((await api.patch(path, 'apply', text, { query: { fieldManager: 'ci' } })).status).toBe(201)
      const answer = await apply(api, path, configMap('a', { metadata: { name: 'a', resourceVersion: '1' } }), 'ci')
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict', details: { kind: 'configmaps', name: 'a' } } })
    })

    it('removes fields that its writer no longer applies, unless another manager owns them', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await apply(api, path, config({ mine: '1', both: '2', theirs: '3' }), 'ci')
      await apply(api, path, config({ both: '2' }), 'other')
      await api.patch(path, 'merge', { data: { theirs: '4' } }, { query: { fieldManager: 'person' } })
      const { body } = await apply(api, path, config({ new: '5' }), 'ci')
      expect(body['data']).toEqual({ both: '2', theirs: '4', new: '5' })
      expect(ownersOf(body)).toEqual({ 'Apply ci': ['data.new'], 'Apply other': ['data.both'], 'Update person': ['data.theirs'] })
    })

    it('leaves an object unchanged if its writer applies no field any more', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await apply(api, path, config({ a: '1' }), 'ci')
      const { body } = await apply(api, path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, 'ci')
      expect(body['data']).toBeUndefined()
      expect(managedFieldsOf(body)).toEqual([])
    })

    it('lets writers share equal values; a writer that joins without a change has no time', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await apply(api, path, config({ a: '1' }), 'ci')
      const { status, body } = await apply(api, path, config({ a: '1' }), 'other')
      expect(status).toBe(200)
      expect(ownersOf(body)).toEqual({ 'Apply other': ['data.a'], 'Apply ci': ['data.a'] })
      expect(managedFieldsOf(body).map(({ manager, time }) => [manager, time !== undefined])).toEqual([
        ['other', false],
        ['ci', true],
      ])
    })

    it('keeps a separate entry for each subresource', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      await apply(api, path, daemonSet('a'), 'ci')
      const status = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'a' }, status: { numberAvailable: 3 } }
      const answer = await apply(api, `${path}/status`, status, 'ci')
      expect(answer.status).toBe(200)
      expect(ownersOf(answer.body)['Apply ci status']).toEqual(['status.numberAvailable'])
      expect(ownersOf(answer.body)['Apply ci']).toEqual(appliedByDaemonSet)
      expect((await apply(api, pathOf.daemonSets(namespace, 'b', 'status'), { ...status, metadata: { name: 'b' } }, 'ci')).status).toBe(404)
    })

    it('does everything but the write in a dry run', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const query = { fieldManager: 'ci', dryRun: 'All' }
      const answer = await api.patch(path, 'apply', config({ a: '1' }), { query })
      expect(answer.status).toBe(201)
      expect(ownersOf(answer.body)).toEqual({ 'Apply ci': ['data.a'] })
      expect((await api.get(path)).status).toBe(404)
    })
  })

  describe('a conflict of server-side apply', () => {
    it('about one field is answered with 409, and changes nothing', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      await apply(api, path, daemonSet('a'), 'ci')
      const before = await api.get(path)
      const answer = await apply(api, path, withImage('main:v2'), 'other')
      const field = '.spec.template.spec.containers[name="main"].image'
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({
        reason: 'Conflict',
        message: `Apply failed with 1 conflict: conflict with "ci": ${field}`,
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "ci"', field }] },
      })
      expect(valueAt((await api.get(path)).body, 'spec')).toEqual(before.body['spec'])
    })

    it('with several writers names each of them and their fields', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await apply(api, path, config({ a: '1', b: '2' }), 'ci')
      await api.patch(path, 'merge', { data: { c: '3' } }, { query: { fieldManager: 'person' } })
      const answer = await apply(api, path, config({ a: '9', b: '9', c: '9' }), 'other')
      expect(answer.status).toBe(409)
      expect(causesOf(answer)).toEqual(['FieldManagerConflict .data.a', 'FieldManagerConflict .data.b', 'FieldManagerConflict .data.c'])
      const says = String(answer.body['message'])
      expect(says).toContain('Apply failed with 3 conflicts: conflicts with "ci":\n- .data.a\n- .data.b\nconflicts with "person" using v1')
      expect(says).toMatch(/conflicts with "person" using v1.*:\n- \.data\.c$/)
    })

    it('is resolved by force: the writer takes the fields over', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await apply(api, path, config({ a: '1', b: '2' }), 'ci')
      const { status, body } = await apply(api, path, config({ a: '9' }), 'other', { force: true })
      expect(status).toBe(200)
      expect(body['data']).toEqual({ a: '9', b: '2' })
      expect(ownersOf(body)).toEqual({ 'Apply ci': ['data.b'], 'Apply other': ['data.a'] })
    })

    it('is also caused by a change from an update', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      await apply(api, path, daemonSet('a', { spec: { updateStrategy: { type: 'RollingUpdate' } } }), 'ci')
      const patch = [{ op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' }]
      const flipped = await api.patch(path, 'json', patch, { query: { fieldManager: 'controller' } })
      expect(ownersOf(flipped.body)['Update controller']).toEqual(['spec.updateStrategy.type'])
      const answer = await apply(api, path, daemonSet('a', { spec: { updateStrategy: { type: 'RollingUpdate' } } }), 'ci')
      expect(answer.status).toBe(409)
      expect(causesOf(answer)).toEqual(['FieldManagerConflict .spec.updateStrategy.type'])
      const silent = await apply(api, path, daemonSet('a'), 'ci')
      expect(valueAt(silent.body, 'spec.updateStrategy.type')).toBe('OnDelete')
    })
  })

  describe('lists under server-side apply', () => {
    const containers = (...names: readonly string[]): object =>
      daemonSet('a', { podSpec: { containers: names.map((name) => ({ name, image: `${name}:v1` })) } })
    const namesIn = ({ body }: Answer): readonly unknown[] =>
      (valueAt(body, 'spec.template.spec.containers') as readonly { readonly name: string }[]).map(({ name }) => name)

    it('keep items of other writers in place', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      await apply(api, path, containers('b', 'd'), 'ci')
      const joined = await apply(api, path, containers('x', 'd', 'y', 'b'), 'other')
      expect(namesIn(joined)).toEqual(['x', 'd', 'y', 'b'])
      expect(namesIn(await apply(api, path, containers('b', 'd', 'z'), 'ci'))).toEqual(['x', 'y', 'b', 'd', 'z'])
      const left = await apply(api, path, containers('y'), 'other')
      expect(new Set(namesIn(left))).toEqual(new Set(['b', 'd', 'z', 'y']))
    })

    it('of plain values are sets', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const guarded = (...finalizers: readonly string[]): object => configMap('a', { metadata: { name: 'a', finalizers } })
      await apply(api, path, guarded('x.y/a', 'x.y/b'), 'ci')
      const { body } = await apply(api, path, guarded('x.y/c'), 'other')
      const next = await apply(api, path, guarded('x.y/b'), 'ci')
      await api.patch(path, 'merge', { metadata: { finalizers: null } })
      expect(body.metadata.finalizers).toEqual(['x.y/a', 'x.y/b', 'x.y/c'])
      expect(next.body.metadata.finalizers).toEqual(['x.y/b', 'x.y/c'])
      expect(ownersOf(next.body)['Apply other']).toEqual(['data.a', 'metadata.finalizers["x.y/c"]'])
    })

    it('are atomic if their type says so, as some objects are', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      const tolerating = (key: string): object =>
        daemonSet('a', { podSpec: { tolerations: [{ key, operator: 'Exists' }], nodeSelector: { [key]: '1' } } })
      await apply(api, path, tolerating('a'), 'ci')
      const answer = await apply(api, path, tolerating('b'), 'other')
      expect(causesOf(answer)).toEqual([
        'FieldManagerConflict .spec.template.spec.nodeSelector',
        'FieldManagerConflict .spec.template.spec.tolerations',
      ])
      const forced = await apply(api, path, tolerating('b'), 'other', { force: true })
      expect(valueAt(forced.body, 'spec.template.spec')).toMatchObject({ tolerations: [{ key: 'b' }], nodeSelector: { b: '1' } })
    })

    it('treat a port without a protocol as TCP', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      const ports = (...list: readonly object[]): object =>
        daemonSet('a', { podSpec: { containers: [{ name: 'main', image: 'main:v1', ports: list }] } })
      await apply(api, path, ports({ containerPort: 80 }), 'ci')
      const { status, body } = await apply(api, path, ports({ containerPort: 80, protocol: 'UDP' }), 'other')
      expect(status).toBe(200)
      expect(valueAt(body, 'spec.template.spec.containers.0.ports')).toHaveLength(2)
    })
  })

  describe('server-side apply refuses', () => {
    const said = (answer: Answer): readonly unknown[] => [answer.status, answer.body['message']]

    it.for([
      { title: 'another kind', body: { apiVersion: 'v1', kind: 'Secret' }, says: [400, 'invalid object type: /v1, Kind=Secret'] },
      { title: 'no kind', body: {}, says: [400, 'invalid object type: /, Kind='] },
      { title: 'managed fields', body: config({}, { managedFields: [] }), says: [400, 'metadata.managedFields must be nil'] },
      {
        title: 'another name',
        body: config({}, { name: 'b' }),
        says: [400, 'the name of the object (b) does not match the name on the URL (a)'],
      },
      {
        title: 'an unknown uid',
        body: config({}, { uid: '5' }),
        says: [
          409,
          'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid 5, and no existing object was found',
        ],
      },
      {
        title: 'a field that the kind does not have',
        body: { ...config({}), colour: 'red' },
        says: [500, 'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .colour: field not declared in schema'],
      },
      {
        title: 'a value of another type',
        body: { ...config({}), data: { a: 5 } },
        says: [
          500,
          'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:5}',
        ],
      },
    ])('$title', async ({ body, says }, { api, namespace }) => {
      expect(said(await apply(api, pathOf.configMaps(namespace, 'a'), body, 'ci'))).toEqual(says)
    })

    it('items of the same key', async ({ api, namespace }) => {
      const container = { name: 'main', image: 'main:v1' }
      const body = daemonSet('a', { podSpec: { containers: [container, container] } })
      const answer = await apply(api, pathOf.daemonSets(namespace, 'a'), body, 'ci')
      expect(said(answer)).toEqual([
        500,
        'failed to create typed patch object (/a; apps/v1, Kind=DaemonSet): .spec.template.spec.containers: duplicate entries for key [name="main"]',
      ])
    })

    it('to apply without a field manager', async ({ api, namespace }) => {
      const answer = await api.patch(pathOf.configMaps(namespace, 'a'), 'apply', config({ a: '1' }))
      expect(said(answer)).toEqual([
        422,
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      ])
    })

    it('a body that is not an object, or not YAML', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      for (const text of ['[1]', '{: [']) {
        const answer = await api.patch(path, 'apply', text, { query: { fieldManager: 'ci' } })
        expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
        expect(answer.body['message']).toContain('error decoding YAML')
      }
    })
  })

  describe('from client-side apply', () => {
    const lastApplied = (data: object): object => {
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(config(data, { annotations: {} }))}\n` }
      return configMap('a', { metadata: { name: 'a', annotations }, data })
    }
    const clientSide = { query: { fieldManager: 'kubectl-client-side-apply' } }

    it('kubectl takes over the fields in its annotation, without a conflict, and keeps the annotation up to date', async ({
      api,
      namespace,
    }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.post(pathOf.configMaps(namespace), lastApplied({ a: '1' }), clientSide)
      const { status, body } = await apply(api, path, config({ a: '2' }), 'kubectl')
      expect(status).toBe(200)
      expect(body).toMatchObject({ data: { a: '2' } })
      const annotation = body.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration']
      expect(annotation).toBe('{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n')
      expect(ownersOf(body)['Apply kubectl']).toEqual(['data.a'])
    })

    it('kubectl conflicts with a later writer', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.post(pathOf.configMaps(namespace), lastApplied({ a: '1', b: '1' }), clientSide)
      await api.patch(path, 'merge', { data: { b: '5' } }, { query: { fieldManager: 'person' } })
      expect(causesOf(await apply(api, path, config({ a: '2', b: '2' }), 'kubectl'))).toEqual(['FieldManagerConflict .data.b'])
      expect(causesOf(await apply(api, path, config({ a: '2', b: '2' }), 'other'))).toEqual([
        'FieldManagerConflict .data.a',
        'FieldManagerConflict .data.b',
      ])
    })
  })

  describe('an object without managed fields', () => {
    it('gets an owner before-first-apply', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      await api.patch(path, 'merge', { metadata: { managedFields: [] } })
      const { status, body } = await apply(api, path, config({ b: '1' }), 'ci')
      expect(status).toBe(200)
      expect(ownersOf(body)).toEqual({ 'Apply ci': ['data.b'], 'Update before-first-apply': ['data.', 'data.a'] })
    })
  })
}

function config(data: object, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data }
}

function withImage(image: string): object {
  return daemonSet('a', { podSpec: { containers: [{ name: 'main', image }] } })
}

/** Applies a configuration as the manager of this name. */
export function apply(
  api: Api,
  path: string,
  body: object,
  fieldManager: string,
  { force }: { readonly force?: boolean } = {},
): Promise<Answer> {
  return api.patch(path, 'apply', body, { query: { fieldManager, force } })
}

const appliedByDaemonSet = [
  'spec.selector',
  'spec.template.metadata.labels.app',
  'spec.template.spec.containers[name=main].',
  'spec.template.spec.containers[name=main].image',
  'spec.template.spec.containers[name=main].name',
  'spec.template.spec.nodeSelector',
]
