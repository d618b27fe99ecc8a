import { describe, expect } from 'vitest'
import { type Body, causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'
import { allReady, fleetTest } from './fleet-fixture.ts'

/** Disruption budgets at eviction, and quotas. */
export function describeBudgets(base: ConformanceTest): void {
  const it = fleetTest(base)
  const budget = (minAvailable: number): object => ({
    metadata: { name: 'a' },
    spec: { minAvailable, selector: { matchLabels: { app: 'agent' } } },
  })
  const eviction = (name: string): object => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })

  describe('eviction', () => {
    it('enforces the budget', async ({ api, namespace, fleet }) => {
      await fleet.create({ updateStrategy: { type: 'OnDelete' } })
      await api.create(pathOf.podDisruptionBudgets(namespace), budget(2))
      const isCounted = (object: Body | undefined): boolean => valueAt(object, 'status.disruptionsAllowed') === 1
      const counted = await api.until(pathOf.podDisruptionBudgets(namespace), 'a', 'the counted budget', isCounted)
      expect(counted?.['status']).toMatchObject({ currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 1 })
      const [first, second] = fleet.log.pods()
      expect((await api.post(pathOf.pods(namespace, first!.name, 'eviction'), eviction(first!.name))).status).toBe(201)
      const refused = await api.post(pathOf.pods(namespace, second!.name, 'eviction'), eviction(second!.name))
      expect(refused).toMatchObject({
        status: 429,
        body: { reason: 'TooManyRequests', message: "Cannot evict pod as it would violate the pod's disruption budget." },
      })
      expect(causesOf(refused)).toEqual(['DisruptionBudget'])
      await fleet.log.until('the end of the pod', (pods) => !pods.some(({ uid }) => uid === first!.uid))
      await fleet.log.until('a new pod', allReady(3, 'rev1'))
    })

    it('leaves the pod its condition', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const [pod] = fleet.log.pods()
      const path = pathOf.pods(namespace)
      const { resourceVersion } = (await api.get(path)).body.metadata
      const watch = await api.watch(path, { resourceVersion, fieldSelector: `metadata.name=${pod!.name}` })
      await api.post(pathOf.pods(namespace, pod!.name, 'eviction'), eviction(pod!.name))
      let event = await watch.next()
      while (event.object.metadata.deletionTimestamp === undefined) event = await watch.next()
      const conditions = valueAt(event.object, 'status.conditions') as readonly { readonly type: string }[]
      expect(conditions.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'EvictionByEvictionAPI' })
    })

    it('does not restrict a delete: it checks no budget', async ({ api, namespace, fleet }) => {
      await fleet.create()
      await api.create(pathOf.podDisruptionBudgets(namespace), budget(3))
      const isCounted = (object: Body | undefined): boolean => valueAt(object, 'status.currentHealthy') === 3
      await api.until(pathOf.podDisruptionBudgets(namespace), 'a', 'the counted budget', isCounted)
      expect((await api.delete(pathOf.pods(namespace, fleet.log.pods()[0]!.name))).status).toBe(200)
    })
  })

  describe('a quota', () => {
    it('refuses the pod beyond it with 403', async ({ api, namespace }) => {
      await api.create(pathOf.resourceQuotas(namespace), { metadata: { name: 'a' }, spec: { hard: { pods: '1' } } })
      const isCounted = (used: string) => (object: Body | undefined) => valueAt(object, 'status.used.pods') === used
      await api.until(pathOf.resourceQuotas(namespace), 'a', 'the counted quota', isCounted('0'))
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const answer = await api.post(pathOf.pods(namespace), idlePod('b'))
      expect(answer).toMatchObject({
        status: 403,
        body: {
          reason: 'Forbidden',
          message: 'pods "b" is forbidden: exceeded quota: a, requested: pods=1, used: pods=1, limited: pods=1',
        },
      })
      await api.delete(pathOf.pods(namespace, 'a'))
      await api.until(pathOf.resourceQuotas(namespace), 'a', 'the freed quota', isCounted('0'))
      expect((await api.post(pathOf.pods(namespace), idlePod('b'))).status).toBe(201)
    })

    it('requires the requests that it limits', async ({ api, namespace }) => {
      await api.create(pathOf.resourceQuotas(namespace), { metadata: { name: 'a' }, spec: { hard: { 'requests.cpu': '1' } } })
      await api.until(pathOf.resourceQuotas(namespace), 'a', 'the counted quota', (object) => valueAt(object, 'status.used') !== undefined)
      const answer = await api.post(pathOf.pods(namespace), idlePod('a'))
      expect(answer.status).toBe(403)
      expect(answer.body['message']).toContain('failed quota: a: must specify requests.cpu')
    })
  })
}
