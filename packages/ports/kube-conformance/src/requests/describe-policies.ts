import { describe, expect } from 'vitest'
import { type Answer, causesOf, namesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { lease } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Leases, events, disruption budgets, quotas, secrets, namespaces, nodes: defaults and validation. */
export function describePolicies(it: ConformanceTest): void {
  describe('a Lease', () => {
    it('keeps times with microseconds', async ({ api, namespace }) => {
      const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-01T00:00:00.123456Z', leaseTransitions: 0 }
      expect((await api.post(pathOf.leases(namespace), lease('a', spec))).body['spec']).toEqual(spec)
    })

    it.for([
      { title: 'a duration of 0', spec: { leaseDurationSeconds: 0 }, causes: ['FieldValueInvalid spec.leaseDurationSeconds'] },
      { title: 'negative transitions', spec: { leaseTransitions: -1 }, causes: ['FieldValueInvalid spec.leaseTransitions'] },
    ])('is refused for $title', async ({ spec, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.leases(namespace), lease('a', spec))
      expect([answer.status, causesOf(answer)]).toEqual([422, causes])
    })

    it('is refused for an invalid time', async ({ api, namespace }) => {
      expect((await api.post(pathOf.leases(namespace), lease('a', { renewTime: 'now' }))).status).toBe(400)
    })

    it('is won by the first of two writers', async ({ api, namespace }) => {
      const before = await api.create(pathOf.leases(namespace), lease('a', { holderIdentity: 'me' }))
      const take = (holderIdentity: string): Promise<{ readonly status: number }> =>
        api.put(pathOf.leases(namespace, 'a'), { ...before, spec: { holderIdentity } })
      expect([(await take('you')).status, (await take('them')).status]).toEqual([200, 409])
    })

    it('is won by the first of two patches that state its version, and keeps what they do not name', async ({ api, namespace }) => {
      const spec = { holderIdentity: 'me', leaseDurationSeconds: 15 }
      const { metadata } = await api.create(pathOf.leases(namespace), lease('a', spec))
      const take = (holderIdentity: string): ReturnType<typeof api.patch> =>
        api.patch(pathOf.leases(namespace, 'a'), 'merge', {
          metadata: { resourceVersion: metadata.resourceVersion },
          spec: { holderIdentity },
        })
      const won = await take('you')
      expect([won.status, (await take('them')).status]).toEqual([200, 409])
      expect(won.body['spec']).toEqual({ ...spec, holderIdentity: 'you' })
    })

    it('is deleted only in the version that the request states', async ({ api, namespace }) => {
      const { metadata } = await api.create(pathOf.leases(namespace), lease('a', { holderIdentity: 'me' }))
      const drop = (preconditions: object): ReturnType<typeof api.delete> =>
        api.delete(pathOf.leases(namespace, 'a'), { body: { preconditions } })
      await api.patch(pathOf.leases(namespace, 'a'), 'merge', { spec: { holderIdentity: 'you' } })
      expect((await drop({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).status).toBe(409)
      expect((await drop({ uid: metadata.uid })).status).toBe(200)
    })
  })

  describe('an Event', () => {
    const event = (namespace: string, more: object = {}): object => ({
      metadata: { name: 'a' },
      involvedObject: { kind: 'ConfigMap', name: 'x', namespace },
      reason: 'Because',
      message: 'why',
      type: 'Normal',
      ...more,
    })

    it('is stored, and found by its object', async ({ api, namespace }) => {
      await api.create(pathOf.events(namespace), event(namespace))
      const query = { fieldSelector: 'involvedObject.name=x,involvedObject.kind=ConfigMap,reason=Because,type=Normal' }
      expect((await api.get(pathOf.events(namespace), { query })).body.items).toHaveLength(1)
      const other = { fieldSelector: 'involvedObject.name=y' }
      expect((await api.get(pathOf.events(namespace), { query: other })).body.items).toHaveLength(0)
    })

    it('is found by the uid of its object, whatever that uid is', async ({ api, namespace }) => {
      const involvedObject = { kind: 'Pod', name: 'x', namespace, uid: 'one-uid' }
      await api.create(pathOf.events(namespace), event(namespace, { involvedObject }))
      await api.create(pathOf.events(namespace), event(namespace, { metadata: { name: 'b' } }))
      const namesFor = async (fieldSelector: string): Promise<readonly string[]> =>
        namesOf(await api.get(pathOf.events(namespace), { query: { fieldSelector } }))
      expect(await namesFor('involvedObject.uid=one-uid')).toEqual(['a'])
      expect(await namesFor('involvedObject.uid=other-uid')).toEqual([])
      expect(await namesFor('involvedObject.uid=')).toEqual(['b'])
    })

    it('about a node is in the namespace default, and found there by kind and name', async ({ api, namespace }) => {
      const involvedObject = { kind: 'Node', name: namespace, uid: namespace }
      const about = event(namespace, { metadata: { name: `${namespace}.node` }, involvedObject })
      const answer = await api.post(pathOf.events(namespace), about)
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid involvedObject.namespace']])
      await api.create(pathOf.events('default'), about)
      const query = { fieldSelector: `involvedObject.kind=Node,involvedObject.name=${namespace}` }
      expect(namesOf(await api.get(pathOf.events('default'), { query }))).toEqual([`${namespace}.node`])
      await api.delete(pathOf.events('default', `${namespace}.node`))
    })

    it('is refused in a namespace other than that of its object', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.events(namespace), event('default'))
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid involvedObject.namespace']])
    })

    it('is counted up by a patch', async ({ api, namespace }) => {
      await api.create(pathOf.events(namespace), event(namespace, { count: 1 }))
      expect((await api.patch(pathOf.events(namespace, 'a'), 'strategic', { count: 2 })).body['count']).toBe(2)
    })
  })

  describe('a PodDisruptionBudget', () => {
    const budget = (spec: object): object => ({ metadata: { name: 'a' }, spec: { selector: { matchLabels: { app: 'x' } }, ...spec } })

    it.for([
      { title: 'both minAvailable and maxUnavailable', spec: { minAvailable: 1, maxUnavailable: 1 }, causes: ['FieldValueInvalid spec'] },
      { title: 'a negative minAvailable', spec: { minAvailable: -1 }, causes: ['FieldValueInvalid spec.minAvailable'] },
      { title: 'maxUnavailable above 100%', spec: { maxUnavailable: '101%' }, causes: ['FieldValueInvalid spec.maxUnavailable'] },
      {
        title: 'an unknown eviction policy',
        spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'Never' },
        causes: ['FieldValueNotSupported spec.unhealthyPodEvictionPolicy'],
      },
    ])('is refused for $title', async ({ spec, causes }, { api, namespace }) => {
      const answer = await api.post(pathOf.podDisruptionBudgets(namespace), budget(spec))
      expect([answer.status, causesOf(answer)]).toEqual([422, causes])
    })

    it('has a separate status', async ({ api, namespace }) => {
      const created = await api.create(pathOf.podDisruptionBudgets(namespace), budget({ minAvailable: 1 }))
      expect(created).toMatchObject({
        metadata: { generation: 1 },
        status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
      })
    })
  })

  describe('a ResourceQuota', () => {
    it('is refused for an invalid quantity', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.resourceQuotas(namespace), { metadata: { name: 'a' }, spec: { hard: { pods: 'many' } } })
      expect(answer.status).toBe(400)
    })

    it('is refused for a negative quantity', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.resourceQuotas(namespace), { metadata: { name: 'a' }, spec: { hard: { pods: '-1' } } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid spec.hard[pods]']])
    })

    it('keeps quantities in their shortest form', async ({ api, namespace }) => {
      const hard = { cpu: '1000m', memory: '1024Mi', pods: '10' }
      const { body } = await api.post(pathOf.resourceQuotas(namespace), { metadata: { name: 'a' }, spec: { hard } })
      expect(valueAt(body, 'spec.hard')).toEqual({ cpu: '1', memory: '1Gi', pods: '10' })
    })
  })

  describe('a Secret', () => {
    it('is Opaque, and stores stringData in data', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.secrets(namespace), { metadata: { name: 'a' }, stringData: { a: 'x' } })
      expect(body).toMatchObject({ type: 'Opaque', data: { a: 'eA==' } })
      expect(body['stringData']).toBeUndefined()
    })

    it('does not change its type', async ({ api, namespace }) => {
      await api.create(pathOf.secrets(namespace), { metadata: { name: 'a' } })
      const answer = await api.patch(pathOf.secrets(namespace, 'a'), 'merge', { type: 'x.y/z' })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid type']])
    })

    it('is refused for data that is not base64', async ({ api, namespace }) => {
      expect((await api.post(pathOf.secrets(namespace), { metadata: { name: 'a' }, data: { a: '*' } })).status).toBe(400)
    })
  })

  describe('a Namespace', () => {
    it('has its name as a label, and the finalizer of its controller', async ({ api, namespace }) => {
      expect((await api.get(pathOf.namespaces(namespace))).body).toMatchObject({
        metadata: { labels: { 'kubernetes.io/metadata.name': namespace } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      })
    })

    it('is refused for a name that is not a DNS label', async ({ api }) => {
      const answer = await api.post(pathOf.namespaces(), { metadata: { name: 'a.b' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueInvalid metadata.name']])
    })

    it.for(['default', 'kube-system', 'kube-public'])('is not deleted when it is %s', async (name, { api }) => {
      expect(await api.delete(pathOf.namespaces(name), { query: { dryRun: 'All' } })).toMatchObject({
        status: 403,
        body: { reason: 'Forbidden' },
      })
    })

    it('is Terminating at once when it is deleted', async ({ api, namespace }) => {
      const { body } = await api.delete(pathOf.namespaces(namespace))
      expect(body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } })
    })
  })

  describe('a Node', () => {
    it('has one condition set and removed in the version that is stated, and keeps the others', async ({ api, uniqueName }) => {
      const path = pathOf.nodes(uniqueName, 'status')
      const patch = (resourceVersion: string, condition: object): ReturnType<typeof api.patch> =>
        api.patch(path, 'strategic', { metadata: { resourceVersion }, status: { conditions: [condition] } })
      // The node lifecycle controller of a real cluster writes taints and conditions of a new node.
      const patchNewest = async (condition: object, attempts = 10): ReturnType<typeof api.patch> => {
        const { body } = await api.get(pathOf.nodes(uniqueName))
        const answer = await patch(body.metadata.resourceVersion, condition)
        return answer.status === 409 && attempts > 1 ? patchNewest(condition, attempts - 1) : answer
      }
      const { metadata } = await api.create(pathOf.nodes(), { metadata: { name: uniqueName } })
      try {
        const first = await patchNewest({ type: 'Other', status: 'True', reason: 'Test', message: 'a' })
        const second = await patchNewest({ type: 'DrainInProgress', status: 'True', reason: 'Test' })
        const late = await patch(metadata.resourceVersion, { type: 'DrainInProgress', $patch: 'delete' })
        const removed = await patchNewest({ type: 'DrainInProgress', $patch: 'delete' })
        expect([first, second, late, removed].map(({ status }) => status)).toEqual([200, 200, 409, 200])
        expect(typesOf(second)).toEqual(expect.arrayContaining(['DrainInProgress', 'Other']))
        expect(typesOf(removed)).toContain('Other')
        expect(typesOf(removed)).not.toContain('DrainInProgress')
      } finally {
        await api.delete(pathOf.nodes(uniqueName))
      }
    })

    it('is refused for a taint with an unknown effect', async ({ api, uniqueName }) => {
      const node = { metadata: { name: uniqueName }, spec: { taints: [{ key: 'a', effect: 'Never' }] } }
      const answer = await api.post(pathOf.nodes(), node, { query: { dryRun: 'All' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueNotSupported metadata.taints[0].effect']])
    })

    it('is refused for the same taint twice', async ({ api, uniqueName }) => {
      const taint = { key: 'a', value: 'x', effect: 'NoSchedule' }
      const node = { metadata: { name: uniqueName }, spec: { taints: [taint, taint] } }
      const answer = await api.post(pathOf.nodes(), node, { query: { dryRun: 'All' } })
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueDuplicate metadata.taints[1]']])
    })
  })
}

/** @returns types of the conditions of a node that no kubelet writes */
function typesOf({ body }: Answer): readonly string[] {
  const conditions = valueAt(body, 'status.conditions') as readonly { readonly type: string }[]
  return conditions.map(({ type }) => type).toSorted()
}
