import { describe, expect } from 'vitest'
import { causesOf, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'

/** Pods: what admission adds, their binding and their eviction. */
export function describePods(it: ConformanceTest): void {
  describe('a pod', () => {
    it('gets an account, tolerations and a priority at admission', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a'))
      expect(body).toMatchObject({
        metadata: { generation: 1 },
        spec: {
          serviceAccountName: 'default',
          serviceAccount: 'default',
          priority: 0,
          preemptionPolicy: 'PreemptLowerPriority',
          enableServiceLinks: true,
          tolerations: ['not-ready', 'unreachable'].map((key) => ({
            key: `node.kubernetes.io/${key}`,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: 300,
          })),
        },
        status: { phase: 'Pending', qosClass: 'BestEffort' },
      })
    })

    it('gets a volume with the token of its account', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a'))
      const name = valueAt(body, 'spec.volumes.0.name')
      expect(name).toMatch(/^kube-api-access-.{5}$/)
      expect(valueAt(body, 'spec.containers.0.volumeMounts')).toEqual([
        { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
      ])
    })

    it('gets no token if it declines one', async ({ api, namespace }) => {
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', { automountServiceAccountToken: false }))
      expect(valueAt(body, 'spec.volumes')).toBeUndefined()
    })

    it.for([
      { title: 'Guaranteed', resources: { limits: { cpu: '1', memory: '1Gi' } } },
      { title: 'Burstable', resources: { requests: { cpu: '1' } } },
      { title: 'BestEffort', resources: {} },
    ])('is $title by its resources', async ({ title, resources }, { api, namespace }) => {
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', { containers: [{ name: 'main', image: 'main:v1', resources }] }))
      expect(valueAt(body, 'status.qosClass')).toBe(title)
    })

    it('requests as much as its limits', async ({ api, namespace }) => {
      const containers = [{ name: 'main', image: 'main:v1', resources: { limits: { cpu: '100m', memory: '64Mi' } } }]
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', { containers }))
      expect(valueAt(body, 'spec.containers.0.resources.requests')).toEqual({ cpu: '100m', memory: '64Mi' })
    })

    it('keeps quantities in their shortest form', async ({ api, namespace }) => {
      const requests = { cpu: '1000m', memory: '0.5Gi', 'example.com/x': '2000' }
      const limits = { cpu: '2.5', memory: '1024Mi', 'example.com/x': '2k' }
      const containers = [{ name: 'main', image: 'main:v1', resources: { requests, limits } }]
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', { containers }))
      expect(valueAt(body, 'spec.containers.0.resources')).toEqual({
        requests: { cpu: '1', memory: '512Mi', 'example.com/x': '2k' },
        limits: { cpu: '2500m', memory: '1Gi', 'example.com/x': '2k' },
      })
    })

    it('is refused with 403 when its account does not exist', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.pods(namespace), idlePod('a', { serviceAccountName: 'none' }))
      expect(answer).toMatchObject({ status: 403, body: { reason: 'Forbidden' } })
    })

    it('is refused with 403 when its priority class does not exist', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.pods(namespace), idlePod('a', { priorityClassName: 'none' }))
      expect(answer).toMatchObject({ status: 403, body: { reason: 'Forbidden' } })
    })

    it.for([
      { priorityClassName: 'system-node-critical', priority: 2_000_001_000 },
      { priorityClassName: 'system-cluster-critical', priority: 2_000_000_000 },
    ])('gets the priority of $priorityClassName', async ({ priorityClassName, priority }, { api, namespace }) => {
      const { body } = await api.post(pathOf.pods(namespace), idlePod('a', { priorityClassName }))
      expect(valueAt(body, 'spec.priority')).toBe(priority)
    })

    it('is refused with 422 for an unknown restart policy', async ({ api, namespace }) => {
      const answer = await api.post(pathOf.pods(namespace), idlePod('a', { restartPolicy: 'Sometimes' }))
      expect([answer.status, causesOf(answer)]).toEqual([422, ['FieldValueNotSupported spec.restartPolicy']])
    })
  })

  describe('a pod without a node', () => {
    const binding = (node: string): object => ({ metadata: { name: 'a' }, target: { kind: 'Node', name: node } })

    it('is bound by its binding', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const answer = await api.post(pathOf.pods(namespace, 'a', 'binding'), binding('conformance-none'))
      expect(answer).toMatchObject({ status: 201, body: { kind: 'Status', status: 'Success' } })
      const { body } = await api.get(pathOf.pods(namespace, 'a'))
      expect(valueAt(body, 'spec.nodeName')).toBe('conformance-none')
      expect(valueAt(body, 'status.conditions')).toMatchObject([{ type: 'PodScheduled', status: 'True' }])
    })

    it('is bound once', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      await api.post(pathOf.pods(namespace, 'a', 'binding'), binding('conformance-none'))
      const answer = await api.post(pathOf.pods(namespace, 'a', 'binding'), binding('conformance-other'))
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
      expect(answer.body['message']).toContain('pod a is already assigned to node "conformance-none"')
    })

    it('is not bound when it does not exist', async ({ api, namespace }) => {
      expect((await api.post(pathOf.pods(namespace, 'a', 'binding'), binding('conformance-none'))).status).toBe(404)
    })

    it('is evicted by its eviction', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
      expect(await api.post(pathOf.pods(namespace, 'a', 'eviction'), eviction)).toMatchObject({
        status: 201,
        body: { kind: 'Status', status: 'Success' },
      })
      expect((await api.get(pathOf.pods(namespace, 'a'))).status).toBe(404)
    })

    it('is not evicted under another name', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'b' } }
      expect((await api.post(pathOf.pods(namespace, 'a', 'eviction'), eviction)).status).toBe(400)
    })

    it('is not evicted in a dry run', async ({ api, namespace }) => {
      await api.create(pathOf.pods(namespace), idlePod('a'))
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
      expect((await api.post(pathOf.pods(namespace, 'a', 'eviction'), eviction, { query: { dryRun: 'All' } })).status).toBe(201)
      expect((await api.get(pathOf.pods(namespace, 'a'))).status).toBe(200)
    })
  })
}
