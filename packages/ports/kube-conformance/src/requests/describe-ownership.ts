import { describe, expect } from 'vitest'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet, idlePod } from '../fixtures/objects.ts'
import { managedFieldsOf, ownersOf } from '../fixtures/owned-fields.ts'
import { pathOf } from '../fixtures/paths.ts'

const by = (fieldManager: string) => ({ query: { fieldManager } })

/** `metadata.managedFields` as creates, updates and patches leave it behind. */
export function describeOwnership(it: ConformanceTest): void {
  describe('the creator of an object', () => {
    it('owns the fields that it sent, and the defaults', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.daemonSets(namespace), labelled(), by('ci'))
      expect(ownersOf(body)).toEqual({ 'Update ci': fieldsOfDaemonSet })
      expect(managedFieldsOf(body)[0]).toMatchObject({
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        time: body.metadata.creationTimestamp,
      })
    })

    it('is named after the first word of its user agent if it gives no name', async ({ api, namespace }) => {
      const body = await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect(ownersOf(body)).toEqual({ 'Update tranche-conformance': ['data.', 'data.a'] })
    })

    it('owns the items of lists by their keys, and sets by their values', async ({ api, namespace }) => {
      const metadata = { labels: { app: 'a' }, finalizers: ['x.y/b', 'x.y/a'] }
      const spec = {
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'main', image: 'main:v1', ports: [{ containerPort: 8080 }, { containerPort: 90, protocol: 'UDP' }] }],
      }
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', spec, metadata), by('ci'))
      await api.patch(pathOf.pods(namespace, 'a'), 'merge', { metadata: { finalizers: null } })
      const owned = ownersOf(body)['Update ci']
      expect(owned).toEqual(
        expect.arrayContaining([
          'metadata.finalizers.',
          'metadata.finalizers["x.y/a"]',
          'metadata.labels.app',
          'spec.containers[name=main].ports[containerPort=8080,protocol=TCP].containerPort',
          'spec.containers[name=main].ports[containerPort=90,protocol=UDP].',
          'spec.tolerations',
        ]),
      )
      expect(owned?.filter((path) => path.startsWith('status') || path.startsWith('spec.volumes'))).toEqual([])
      const ports = owned?.filter((path) => /ports\[.*\]\.$/.test(path))
      expect(ports?.[0]).toContain('containerPort=90')
    })
  })

  describe('a writer of an object', () => {
    it('owns the fields that it changed, and removes the owners of removed fields', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.post(pathOf.configMaps(namespace), configMap('a', { data: { a: '1', b: '2', c: '3' } }), by('ci'))
      const { body } = await api.patch(path, 'merge', { data: { a: '2', b: null, d: '4' } }, by('person'))
      expect(ownersOf(body)).toEqual({ 'Update ci': ['data.', 'data.c'], 'Update person': ['data.a', 'data.d'] })
      const replaced = await api.put(path, configMap('a', { data: { a: '2', c: '9' } }), by('tool'))
      expect(ownersOf(replaced.body)).toEqual({ 'Update ci': ['data'], 'Update person': ['data.a'], 'Update tool': ['data.c'] })
    })

    it('owns no more fields after sending the same again, and writes nothing', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const { body } = await api.put(pathOf.configMaps(namespace, 'a'), configMap('a'), by('other'))
      expect(body).toEqual(before)
    })

    it('has one entry for each subresource, and owns no field that cannot be written there', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      const created = await api.post(pathOf.daemonSets(namespace), daemonSet('a'), by('ci'))
      const status = { desiredNumberScheduled: 7, numberReady: 7 }
      const patch = { spec: { minReadySeconds: 9 }, metadata: { labels: { x: '1' } }, status }
      const { body } = await api.patch(`${path}/status`, 'merge', patch, by('ci'))
      expect(ownersOf(body)['Update ci status']).toEqual([
        'metadata.labels.',
        'metadata.labels.x',
        'status.desiredNumberScheduled',
        'status.numberReady',
      ])
      const main = await api.patch(path, 'merge', { status: { numberReady: 1 } }, by('other'))
      expect(ownersOf(main.body)['Update other']).toBeUndefined()
      expect(created.body.metadata.uid).toBe(body.metadata.uid)
    })

    it('owns the generation label of the template if it replaces a DaemonSet without it', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      const { body: created } = await api.post(pathOf.daemonSets(namespace), daemonSet('a'), by('ci'))
      const {
        annotations: _mark,
        managedFields: _own,
        ...metadata
      } = created.metadata as typeof created.metadata & { managedFields?: unknown }
      const { body } = await api.put(path, { ...created, metadata: { ...metadata, resourceVersion: undefined } }, by('tool'))
      expect(ownersOf(body)['Update tool']).toEqual(['metadata.annotations.deprecated.daemonset.template.generation'])
    })

    it('is one of at most ten: the oldest are merged', async ({ api, namespace }) => {
      await api.post(pathOf.configMaps(namespace), configMap('a', { data: { first: '1' } }), by('w-00'))
      const names = Array.from({ length: 11 }, (_, index) => `w-${String(index + 1).padStart(2, '0')}`)
      let body = (await api.get(pathOf.configMaps(namespace, 'a'))).body
      for (const name of names)
        body = (await api.patch(pathOf.configMaps(namespace, 'a'), 'merge', { data: { [name]: '1' } }, by(name))).body
      const owners = ownersOf(body)
      expect(Object.keys(owners)).toHaveLength(10)
      expect(owners['Update ancient-changes']).toEqual(['data.', 'data.first', 'data.w-01', 'data.w-02'])
    })
  })

  describe('managed fields that come with a change', () => {
    it('are used, unless they cannot be read', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const created = (await api.post(pathOf.configMaps(namespace), configMap('a'), by('ci'))).body
      const [entry] = managedFieldsOf(created)
      const moved = [{ op: 'replace', path: '/metadata/managedFields', value: [{ ...entry, manager: 'cd', operation: 'Apply' }] }]
      expect(ownersOf((await api.patch(path, 'json', moved, by('x'))).body)).toEqual({ 'Apply cd': ['data.', 'data.a'] })
      const broken = configMap('a', { metadata: { name: 'a', managedFields: [{ ...entry, operation: 'Guess' }] } })
      const { body } = await api.put(path, broken, by('x'))
      expect(ownersOf(body)).toEqual({ 'Apply cd': ['data.', 'data.a'] })
    })

    it.for([
      { title: 'none at all', managedFields: [] },
      { title: 'one empty entry', managedFields: [{}] },
    ])('are dropped if they are $title', async ({ managedFields }, { api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const { body } = await api.patch(path, 'merge', { metadata: { managedFields } })
      expect(body.metadata).not.toHaveProperty('managedFields')
      const again = await api.patch(path, 'merge', { data: { b: '1' } })
      expect(again.body.metadata).not.toHaveProperty('managedFields')
    })

    it('are also in lists, watches and tables', async ({ api, namespace }) => {
      const created = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const owners = ownersOf(created)
      const query = { fieldSelector: 'metadata.name=a' }
      const { body: list } = await api.get(pathOf.configMaps(namespace), { query })
      expect(ownersOf(list.items[0]!)).toEqual(owners)
      const watch = await api.watch(pathOf.configMaps(namespace), { ...query, resourceVersion: '0' })
      expect(ownersOf((await watch.next()).object)).toEqual(owners)
      await watch.close()
      const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
      expect(ownersOf((await api.get(pathOf.configMaps(namespace, 'a'), { accept })).body)).toEqual(owners)
    })
  })

  describe('a field manager', () => {
    it.for([
      { title: 'of more than 128 bytes', name: 'x'.repeat(129), says: 'fieldManager: Too long: may not be more than 128 bytes' },
      { title: 'with a tab', name: 'a\tb', says: 'fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)' },
    ])('$title is refused with 422', async ({ name, says }, { api, namespace }) => {
      const answer = await api.post(pathOf.configMaps(namespace), configMap('a'), by(name))
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind: 'CreateOptions', group: 'meta.k8s.io' } } })
      expect(answer.body['message']).toBe(`CreateOptions.meta.k8s.io "" is invalid: ${says}`)
    })
  })
}

function labelled(): object {
  return daemonSet('a', {
    metadata: { labels: { team: 'a' }, annotations: { note: 'x' } },
    podSpec: { containers: [{ name: 'main', image: 'main:v1', env: [{ name: 'A', value: '1' }] }] },
  })
}

const main = 'spec.template.spec.containers[name=main]'
const fieldsOfDaemonSet = [
  'metadata.annotations.',
  'metadata.annotations.deprecated.daemonset.template.generation',
  'metadata.annotations.note',
  'metadata.labels.',
  'metadata.labels.team',
  'spec.revisionHistoryLimit',
  'spec.selector',
  'spec.template.metadata.labels.',
  'spec.template.metadata.labels.app',
  `${main}.`,
  `${main}.env.`,
  `${main}.env[name=A].`,
  `${main}.env[name=A].name`,
  `${main}.env[name=A].value`,
  `${main}.image`,
  `${main}.imagePullPolicy`,
  `${main}.name`,
  `${main}.resources`,
  `${main}.terminationMessagePath`,
  `${main}.terminationMessagePolicy`,
  'spec.template.spec.dnsPolicy',
  'spec.template.spec.nodeSelector',
  'spec.template.spec.restartPolicy',
  'spec.template.spec.schedulerName',
  'spec.template.spec.securityContext',
  'spec.template.spec.terminationGracePeriodSeconds',
  'spec.updateStrategy.rollingUpdate.',
  'spec.updateStrategy.rollingUpdate.maxSurge',
  'spec.updateStrategy.rollingUpdate.maxUnavailable',
  'spec.updateStrategy.type',
]
