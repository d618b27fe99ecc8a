import { describe, expect } from 'vitest'
import { causesOf, namesOf } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap, daemonSet, idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

const held = { name: 'a', finalizers: ['conformance.tranche.dev/hold'] }
const noFinalizers = { metadata: { finalizers: null } }

/** DELETE of one object and of many. */
export function describeDelete(it: ConformanceTest): void {
  describe('delete', () => {
    it('answers with a Status that names the deleted object', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.daemonSets(namespace), daemonSet('a'))
      expect(await api.delete(pathOf.daemonSets(namespace, 'a'))).toMatchObject({
        status: 200,
        body: { kind: 'Status', status: 'Success', details: { name: 'a', group: 'apps', kind: 'daemonsets', uid: metadata.uid } },
      })
      expect((await api.get(pathOf.daemonSets(namespace, 'a'))).status).toBe(404)
    })

    it('answers with the pod itself for a pod', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      expect(await api.delete(pathOf.pods(namespace, 'a'))).toMatchObject({ status: 200, body: { kind: 'Pod', metadata: { name: 'a' } } })
    })

    it('answers 404 for a missing object', async ({ api, namespace }) => {
      expect(await api.delete(pathOf.configMaps(namespace, 'none'))).toMatchObject({ status: 404, body: { reason: 'NotFound' } })
    })

    it('deletes nothing in a dry run', async ({ api, namespace }) => {
      const before = await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.delete(pathOf.configMaps(namespace, 'a'), { query: { dryRun: 'All' } })).status).toBe(200)
      expect((await api.get(pathOf.configMaps(namespace, 'a'))).body).toEqual(before)
    })

    it.for([
      {
        title: 'uid',
        preconditions: { uid: '11111111-1111-4111-8111-111111111111' },
        text: 'the UID in the precondition (11111111-1111-4111-8111-111111111111) does not match the UID in record (',
      },
      {
        title: 'resource version',
        preconditions: { resourceVersion: '1' },
        text: 'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (',
      },
    ])('refuses another $title with 409, naming both', async ({ preconditions, text }, { api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const answer = await api.delete(pathOf.pods(namespace, 'a'), { body: { preconditions } })
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
      expect(answer.body['message']).toContain(text)
    })

    it('accepts the current uid and resource version', async ({ api, namespace }) => {
      const { uid, resourceVersion } = (await api.create(pathOf.pods(namespace), idlePod('a'))).metadata
      expect((await api.delete(pathOf.pods(namespace, 'a'), { body: { preconditions: { uid, resourceVersion } } })).status).toBe(200)
    })

    it.for([
      { title: 'an unknown policy', body: { propagationPolicy: 'Sideways' }, causes: ['FieldValueNotSupported propagationPolicy'] },
      {
        title: 'two policies',
        body: { propagationPolicy: 'Orphan', orphanDependents: true },
        causes: ['FieldValueInvalid propagationPolicy'],
      },
      { title: 'an unknown dry run', body: { dryRun: ['true'] }, causes: ['FieldValueNotSupported dryRun'] },
    ])('refuses $title with 422', async ({ body, causes }, { api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      const answer = await api.delete(pathOf.configMaps(namespace, 'a'), { body })
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind: 'DeleteOptions' } } })
      expect(causesOf(answer)).toEqual(causes)
    })

    it('refuses a body that is not DeleteOptions with 400', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      expect((await api.delete(pathOf.configMaps(namespace, 'a'), { body: '{' })).status).toBe(400)
    })
  })

  describe('delete with finalizers', () => {
    it('marks the object, and keeps it until the last finalizer is removed', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      const before = await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: held }))
      const answer = await api.delete(path)
      expect(answer).toMatchObject({ status: 200, body: { kind: 'ConfigMap', metadata: { deletionGracePeriodSeconds: 0 } } })
      expect(answer.body.metadata.deletionTimestamp).toBeDefined()
      expect(Number(answer.body.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
      const again = await api.delete(path)
      expect(again).toMatchObject({ status: 200, body: { metadata: { resourceVersion: answer.body.metadata.resourceVersion } } })
      const last = await api.patch(path, 'merge', noFinalizers)
      expect(last).toMatchObject({ status: 200, body: { kind: 'ConfigMap' } })
      expect((await api.get(path)).status).toBe(404)
    })

    it('raises the generation of a DaemonSet', async ({ api, namespace }) => {
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { metadata: held }))
      const answer = await api.delete(pathOf.daemonSets(namespace, 'a'))
      await api.patch(pathOf.daemonSets(namespace, 'a'), 'merge', noFinalizers)
      expect(answer.body.metadata.generation).toBe(2)
    })

    it('accepts no new finalizer once it is marked', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: held }))
      await api.delete(path)
      const answer = await api.patch(path, 'merge', { metadata: { finalizers: [...held.finalizers, 'x.y/more'] } })
      await api.patch(path, 'merge', noFinalizers)
      expect(answer.status).toBe(422)
      expect(causesOf(answer)).toEqual(['FieldValueForbidden metadata.finalizers'])
    })

    it('accepts other changes while it is marked, and cannot be unmarked', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: held }))
      await api.delete(path)
      const answer = await api.patch(path, 'merge', { metadata: { deletionTimestamp: null, labels: { a: 'b' } } })
      await api.patch(path, 'merge', noFinalizers)
      expect(answer).toMatchObject({ status: 200, body: { metadata: { labels: { a: 'b' } } } })
      expect(answer.body.metadata.deletionTimestamp).toBeDefined()
    })

    it.for([
      { propagationPolicy: 'Foreground', finalizer: 'foregroundDeletion' },
      { propagationPolicy: 'Orphan', finalizer: 'orphan' },
    ])('adds the finalizer $finalizer for the policy $propagationPolicy', async ({ propagationPolicy, finalizer }, { api, namespace }) => {
      const path = pathOf.daemonSets(namespace, 'a')
      await api.create(pathOf.daemonSets(namespace), daemonSet('a', { metadata: held }))
      const answer = await api.delete(path, { body: { propagationPolicy } })
      await api.patch(path, 'merge', noFinalizers)
      expect(answer.body.metadata.finalizers?.toSorted()).toEqual([...held.finalizers, finalizer].toSorted())
    })

    it('reads the policy from the query too', async ({ api, namespace }) => {
      const path = pathOf.configMaps(namespace, 'a')
      await api.create(pathOf.configMaps(namespace), configMap('a', { metadata: held }))
      const answer = await api.delete(path, { query: { propagationPolicy: 'Foreground' } })
      await api.patch(path, 'merge', noFinalizers)
      expect(answer.body.metadata.finalizers).toContain('foregroundDeletion')
    })
  })

  describe('delete of a pod', () => {
    /** A node that does not exist, so that no kubelet ends the pod. */
    const boundPod = (spec: Readonly<Record<string, unknown>> = {}): object => idlePod('a', { nodeName: 'conformance-none', ...spec })

    it('gives a pod on a node its grace period', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), boundPod({ terminationGracePeriodSeconds: 300 }))
      const { status, body } = await api.delete(pathOf.pods(namespace, 'a'))
      expect(status).toBe(200)
      expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 300, generation: 2 })
      expect((await api.get(pathOf.pods(namespace, 'a'))).body.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp)
    })

    it('removes a pod without a node at once', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      await api.delete(pathOf.pods(namespace, 'a'))
      expect((await api.get(pathOf.pods(namespace, 'a'))).status).toBe(404)
    })

    it.for(['Succeeded', 'Failed'])('removes a pod at once whose phase is %s', async (phase, { api, namespace }) => {
      await api.create(pathOf.pods(namespace), boundPod())
      await api.patch(pathOf.pods(namespace, 'a', 'status'), 'merge', { status: { phase } })
      await api.delete(pathOf.pods(namespace, 'a'))
      expect((await api.get(pathOf.pods(namespace, 'a'))).status).toBe(404)
    })

    it('accepts a shorter grace period, and no longer one', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), boundPod({ terminationGracePeriodSeconds: 300 }))
      const seconds = async (gracePeriodSeconds: number): Promise<number | undefined> =>
        (await api.delete(pathOf.pods(namespace, 'a'), { body: { gracePeriodSeconds } })).body.metadata.deletionGracePeriodSeconds
      expect([await seconds(200), await seconds(250), await seconds(100)]).toEqual([200, 200, 100])
    })

    it('removes a pod at once with a grace period of 0', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), boundPod())
      await api.delete(pathOf.pods(namespace, 'a'))
      expect((await api.delete(pathOf.pods(namespace, 'a'), { query: { gracePeriodSeconds: 0 } })).status).toBe(200)
      expect((await api.get(pathOf.pods(namespace, 'a'))).status).toBe(404)
    })

    it('treats a negative grace period as one second', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), boundPod())
      const { body } = await api.delete(pathOf.pods(namespace, 'a'), { body: { gracePeriodSeconds: -1 } })
      expect(body.metadata.deletionGracePeriodSeconds).toBe(1)
    })
  })

  describe('delete of a collection', () => {
    it('deletes the matching objects, and lists them', async ({ api, namespace }) => {
      for (const name of ['a', 'b', 'c'])
        await api.create(pathOf.configMaps(namespace), configMap(name, { metadata: { name, labels: { app: name } } }))
      const answer = await api.delete(pathOf.configMaps(namespace), { query: { labelSelector: 'app in (a,b)' } })
      expect(answer).toMatchObject({ status: 200, body: { kind: 'ConfigMapList' } })
      expect(namesOf(answer)).toEqual(['a', 'b'])
      expect(namesOf(await api.get(pathOf.configMaps(namespace), { query: { labelSelector: 'app' } }))).toEqual(['c'])
    })

    it('selects by field', async ({ api, namespace }) => {
      for (const name of ['a', 'b']) await api.create(pathOf.secrets(namespace), { metadata: { name } })
      await api.delete(pathOf.secrets(namespace), { query: { fieldSelector: 'metadata.name=a' } })
      expect(namesOf(await api.get(pathOf.secrets(namespace)))).toEqual(['b'])
    })

    it('is not supported for namespaces', async ({ api }) => {
      expect((await api.delete(pathOf.namespaces(), { query: { labelSelector: 'conformance=none' } })).status).toBe(405)
    })
  })
}
