import { describe, expect } from 'vitest'
import { type Body, causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet, idlePod, lease } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** PUT of an object that exists. */
export function describeUpdate(it: ConformanceTest): void {
  describe('update', () => {
    it('replaces the object and gives it a new resource version', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), { ...before, data: { b: '2' } })
      expect(answer).toMatchObject({ status: 200, body: { metadata: { uid: before.metadata.uid } } })
      expect(answer.body['data']).toEqual({ b: '2' })
      expect(Number(answer.body.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
    })

    it('keeps the resource version when nothing changes', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), before)
      expect(answer).toMatchObject({ status: 200, body: { metadata: { resourceVersion: before.metadata.resourceVersion } } })
    })

    it('refuses an old resource version with 409 Conflict', async ({ api, namespace }) => {
      const before = await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      await api.patch(pathOf.daemonSets(namespace, 'a'), 'merge', { metadata: { labels: { a: 'b' } } })
      const answer = await api.put(pathOf.daemonSets(namespace, 'a'), before)
      expect(answer).toMatchObject({
        status: 409,
        body: {
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on daemonsets.apps "a": the object has been modified; please apply your changes to the latest version and try again',
          details: { name: 'a', group: 'apps', kind: 'daemonsets' },
        },
      })
    })

    it.for([
      { title: 'a ConfigMap', path: pathOf.configMaps, object: configMap('a') },
      { title: 'a DaemonSet', path: pathOf.daemonSets, object: daemonSet('a') },
    ])('replaces $title without a resource version', async ({ path, object }, { api, namespace }) => {
      await api.create(path(namespace), object)
      const changed = { ...object, metadata: { name: 'a', labels: { a: 'b' } } }
      expect(await api.put(path(namespace, 'a'), changed)).toMatchObject({ status: 200, body: { metadata: { labels: { a: 'b' } } } })
    })

    it.for(['constructor', 'toString'])('adds and removes the label %s', async (key, { api, namespace }) => {
      const labelled = (labels: object): object => configMap('a', { metadata: { name: 'a', labels } })
      const put = async (labels: object): Promise<unknown> =>
        valueAt((await api.put(pathOf.configMaps(namespace, 'a'), labelled(labels))).body, 'metadata.labels')
      await api.create(pathOf.configMaps(namespace), labelled({ a: 'b' }))
      expect(await put({ a: 'b', [key]: 'c' })).toEqual({ a: 'b', [key]: 'c' })
      expect(await put({ a: 'b' })).toEqual({ a: 'b' })
    })

    it('requires the resource version of a Lease', async ({ api, namespace }) => {
      await api.create(pathOf.leases(namespace), lease('a'))
      const answer = await api.put(pathOf.leases(namespace, 'a'), lease('a', { holderIdentity: 'me' }))
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid' } })
      expect(causesOf(answer)).toEqual(['FieldValueInvalid metadata.resourceVersion'])
    })

    it('refuses another uid with 409, naming both', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const uid = '11111111-1111-4111-8111-111111111111'
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), configMap('a', { metadata: { name: 'a', uid } }))
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
      expect(answer.body['message']).toContain(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
    })

    it('refuses a name other than that of the path with 400', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect(await api.put(pathOf.configMaps(namespace, 'a'), configMap('b'))).toMatchObject({
        status: 400,
        body: { reason: 'BadRequest', message: 'the name of the object (b) does not match the name on the URL (a)' },
      })
    })

    it('answers 404 for an object that does not exist', async ({ api, namespace }) => {
      expect(await api.put(pathOf.daemonSets(namespace, 'a'), daemonSet('a'))).toMatchObject({ status: 404, body: { reason: 'NotFound' } })
    })

    it.for([
      { kind: 'Lease', path: pathOf.leases, object: lease('a') },
      { kind: 'Role', path: pathOf.roles, object: { metadata: { name: 'a' }, rules: [] } },
    ])('creates a $kind that does not exist', async ({ path, object }, { api, namespace }) => {
      expect((await api.put(path(namespace, 'a'), object)).status).toBe(201)
      expect((await api.get(path(namespace, 'a'))).status).toBe(200)
    })

    it('stores nothing in a dry run', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const changed = { ...before, data: { b: '2' } }
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), changed, { query: { dryRun: 'All' } })
      expect(answer).toMatchObject({ status: 200, body: { data: { b: '2' } } })
      expect((await api.get(pathOf.configMaps(namespace, 'a'))).body).toEqual(before)
    })

    it('refuses a namespace other than that of the path with 400', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), configMap('a', { metadata: { name: 'a', namespace: 'other' } }))
      expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
    })

    it('keeps uid and creation time, whatever time is sent', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      const creationTimestamp = '2020-01-01T00:00:00Z'
      const answer = await api.put(
        pathOf.configMaps(namespace, 'a'),
        configMap('a', { metadata: { name: 'a', creationTimestamp }, data: {} }),
      )
      expect(answer.status).toBe(200)
      expect(answer.body.metadata).toMatchObject({ uid: before.metadata.uid, creationTimestamp: before.metadata.creationTimestamp })
    })

    it('does not allow a change of an immutable ConfigMap', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), { ...configMap('a'), immutable: true })
      const answer = await api.put(pathOf.configMaps(namespace, 'a'), { ...before, data: { a: '2' } })
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueForbidden data'])
    })
  })

  describe('update of a DaemonSet', () => {
    const changeTemplate = (object: Body): object => ({
      ...object,
      spec: {
        ...(object['spec'] as object),
        template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'main:v2' }] } },
      },
    })

    it('raises the generation with the spec, and the template generation with the template', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      const created = await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const relabelled = await api.patch(path, 'merge', { metadata: { labels: { a: 'b' } } })
      const slower = await api.patch(path, 'merge', { spec: { minReadySeconds: 5 } })
      // Without a version: the controller writes the status meanwhile.
      const changed = await api.put(path, { ...changeTemplate(slower.body), metadata: { name: 'a' } })
      const read = (body: Body): readonly unknown[] => [
        body.metadata.generation,
        body.metadata.annotations?.['deprecated.daemonset.template.generation'],
      ]
      expect([created, relabelled.body, slower.body, changed.body].map(read)).toEqual([
        [1, '1'],
        [1, '1'],
        [2, '1'],
        [3, '2'],
      ])
    })

    it('does not allow a change of the selector', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const labels = { app: 'a', more: 'x' }
      const body = { spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } } }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a'), 'merge', body)
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { group: 'apps', kind: 'DaemonSet', name: 'a' } } })
      expect(causesOf(answer)).toEqual(['FieldValueInvalid spec.selector'])
    })

    it('ignores the status', async ({ api, namespace }) => {
      const before = await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const status = { ...(before['status'] as object), numberReady: 9 }
      const answer = await api.put(pathOf.daemonSets(namespace, 'a'), { ...daemonSet('a'), status })
      expect(valueAt(answer.body, 'status.numberReady')).toBe(0)
    })

    it('changes nothing but the status through the status subresource', async ({ api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a', 'status')
      const settled = await api.until(pathOf.daemonSets(namespace), 'a', 'none', () => true)
      expect(settled).toBeUndefined()
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const before = (await api.get(path)).body
      const conditions = [{ type: 'Checked', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'r', message: 'm' }]
      const answer = await api.patch(path, 'merge', { spec: { minReadySeconds: 5 }, status: { conditions } })
      expect(answer.status).toBe(200)
      expect(valueAt(answer.body, 'status.conditions')).toEqual(conditions)
      expect(valueAt(answer.body, 'spec')).toEqual(before['spec'])
      expect(answer.body.metadata.generation).toBe(1)
    })

    it('does not allow a lower status.collisionCount', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const path = pathOf.daemonSets(namespace, 'a', 'status')
      await api.patch(path, 'merge', { status: { collisionCount: 2 } })
      const answer = await api.patch(path, 'merge', { status: { collisionCount: 1 } })
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueInvalid status.collisionCount'])
    })

    it('refuses negative numbers in the status, each by its field', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      const status = { currentNumberScheduled: -1, desiredNumberScheduled: -1, numberMisscheduled: -1, numberReady: -1 }
      const answer = await api.patch(pathOf.daemonSets(namespace, 'a', 'status'), 'merge', { status })
      expect(causesOf(answer)).toEqual(Object.keys(status).map((field) => `FieldValueInvalid status.${field}`))
    })
  })

  describe('update of a pod', () => {
    it('accepts a new image, and no other change of the spec', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const path = pathOf.pods(namespace, 'a')
      const image = await api.patch(path, 'strategic', { spec: { containers: [{ name: 'main', image: 'main:v2' }] } })
      expect(image).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } })
      const restart = await api.patch(path, 'strategic', { spec: { restartPolicy: 'Never' } })
      expect(restart.status).toBe(422)
      expect(causesOf(restart)).toEqual(['FieldValueForbidden spec'])
    })

    it('does not change the status through the pod', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const answer = await api.patch(pathOf.pods(namespace, 'a'), 'merge', { status: { phase: 'Running' } })
      expect(valueAt(answer.body, 'status.phase')).toBe('Pending')
    })

    it('changes status and not spec through the status subresource', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const body = { status: { phase: 'Running' }, spec: { schedulerName: 'other' } }
      const answer = await api.patch(pathOf.pods(namespace, 'a', 'status'), 'merge', body)
      expect(answer).toMatchObject({ status: 200, body: { spec: { schedulerName: 'no-scheduler' }, status: { phase: 'Running' } } })
    })
  })
}
