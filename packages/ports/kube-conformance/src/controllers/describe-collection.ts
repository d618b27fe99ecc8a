import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { type Body, namesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { configMap } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Garbage collection, and the end of namespaces. */
export function describeCollection(it: ConformanceTest): void {
  const isGone = (object: Body | undefined): boolean => object === undefined
  const own = async (api: Api, namespace: string, more: object = {}): Promise<Body> => {
    const owner = await api.create(pathOf.configMaps(namespace), configMap('owner'))
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, ...more }
    await api.create(pathOf.configMaps(namespace), configMap('owned', { metadata: { name: 'owned', ownerReferences: [reference] } }))
    return owner
  }

  describe('garbage collection', () => {
    it('deletes the dependents of a deleted owner', async ({ api, namespace }) => {
      await own(api, namespace)
      await api.delete(pathOf.configMaps(namespace, 'owner'))
      await api.until(pathOf.configMaps(namespace), 'owned', 'the end of what was owned', isGone)
    })

    it('keeps orphans, without the reference to their owner', async ({ api, namespace }) => {
      await own(api, namespace)
      await api.delete(pathOf.configMaps(namespace, 'owner'), { body: { propagationPolicy: 'Orphan' } })
      await api.until(pathOf.configMaps(namespace), 'owner', 'the end of the owner', isGone)
      const { status, body } = await api.get(pathOf.configMaps(namespace, 'owned'))
      expect([status, body.metadata.ownerReferences]).toEqual([200, undefined])
    })

    it('keeps an owner in the foreground until its blocking dependents are deleted', async ({ api, namespace }) => {
      await own(api, namespace, { blockOwnerDeletion: true })
      await api.patch(pathOf.configMaps(namespace, 'owned'), 'merge', { metadata: { finalizers: ['x.y/hold'] } })
      await api.delete(pathOf.configMaps(namespace, 'owner'), { body: { propagationPolicy: 'Foreground' } })
      const isMarked = (object: Body | undefined): boolean => object?.metadata.deletionTimestamp !== undefined
      await api.until(pathOf.configMaps(namespace), 'owned', 'the mark of what is owned', isMarked)
      expect((await api.get(pathOf.configMaps(namespace, 'owner'))).body.metadata.finalizers).toEqual(['foregroundDeletion'])
      await api.patch(pathOf.configMaps(namespace, 'owned'), 'merge', { metadata: { finalizers: null } })
      await api.until(pathOf.configMaps(namespace), 'owner', 'the end of the owner', isGone)
    })

    it('deletes an object whose owner does not exist', async ({ api, namespace }) => {
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: '11111111-1111-4111-8111-111111111111' }]
      await api.create(pathOf.configMaps(namespace), configMap('owned', { metadata: { name: 'owned', ownerReferences } }))
      await api.until(pathOf.configMaps(namespace), 'owned', 'the end of what is owned', isGone)
    })

    it('keeps an object that has another owner', async ({ api, namespace }) => {
      const other = await api.create(pathOf.configMaps(namespace), configMap('other'))
      const owner = await own(api, namespace)
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other.metadata.uid }
      await api.patch(pathOf.configMaps(namespace, 'owned'), 'strategic', { metadata: { ownerReferences: [reference] } })
      await api.delete(pathOf.configMaps(namespace, 'owner'))
      const hasOneOwner = (object: Body | undefined): boolean => object?.metadata.ownerReferences?.length === 1
      const kept = await api.until(pathOf.configMaps(namespace), 'owned', 'the end of one reference', hasOneOwner)
      expect(kept?.metadata.ownerReferences).toMatchObject([{ uid: other.metadata.uid }])
      expect(owner.metadata.uid).not.toBe(other.metadata.uid)
    })
  })

  describe('the end of a namespace', () => {
    it('deletes all its objects, and waits for finalizers', async ({ api, namespace }) => {
      await api.create(pathOf.configMaps(namespace), configMap('a'))
      await api.create(pathOf.configMaps(namespace), configMap('held', { metadata: { name: 'held', finalizers: ['x.y/hold'] } }))
      await api.delete(pathOf.namespaces(namespace))
      await api.until(pathOf.configMaps(namespace), 'a', 'the end of the ConfigMap', isGone)
      const isExplained = (object: Body | undefined): boolean =>
        ((valueAt(object, 'status.conditions') ?? []) as readonly { readonly type: string; readonly status: string }[]).some(
          ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
        )
      await api.until(pathOf.namespaces(), namespace, 'the condition of the namespace', isExplained)
      await api.patch(pathOf.configMaps(namespace, 'held'), 'merge', { metadata: { finalizers: null } })
      await api.until(pathOf.namespaces(), namespace, 'the end of the namespace', isGone)
      expect(namesOf(await api.get(pathOf.configMaps(namespace)))).toEqual([])
    })
  })
}
