import { describe, expect, it } from 'vitest'
import { type ApiObject, type ApiServer, resources, type SimClient } from '@tranche/sim-api'
import { aConfigMap, aDaemonSet, aPod, aServer, at, refusal } from '../testing.ts'

const tester = { name: 'tester' }

describe('deleting a pod', () => {
  it('marks a running pod, which is removed when it is deleted again with grace 0', async () => {
    const { client, clock, writes } = await setUp()
    const pod = await boundPod(client, 'a')
    await client.delete(resources.pods, 'a', 'default')
    const marked = await client.get(resources.pods, 'a', 'default')
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2, uid: pod.metadata.uid })
    expect(Date.parse(marked.metadata.deletionTimestamp!)).toBe(clock.nowMs() + 30_000)
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } })
    expect((await refusal(client.get(resources.pods, 'a', 'default'))).message).toBe('pods "a" not found')
    expect(writes.slice(-2)).toEqual(['MODIFIED a', 'DELETED a'])
  })

  const immediate: Record<string, (client: SimClient) => Promise<unknown>> = {
    'removes a pod without a node at once': (client) => client.create(resources.pods, aPod('a')),
    'removes a pod that has ended at once': async (client) => {
      const pod = await boundPod(client, 'a')
      await client.update(resources.pods, { ...pod, status: { phase: 'Failed' } }, 'status')
    },
  }
  for (const [name, prepare] of Object.entries(immediate))
    it(name, async () => {
      const { client } = await setUp()
      await prepare(client)
      await client.delete(resources.pods, 'a', 'default')
      expect((await refusal(client.get(resources.pods, 'a', 'default'))).code).toBe(404)
    })

  it('shortens a running grace period, and never lengthens it', async () => {
    const { client, clock } = await setUp()
    await boundPod(client, 'a')
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 60 })
    const startMs = clock.nowMs()
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 90 })
    expect((await client.get(resources.pods, 'a', 'default')).metadata.deletionGracePeriodSeconds).toBe(60)
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 20 })
    const pod = await client.get(resources.pods, 'a', 'default')
    expect(pod.metadata.deletionGracePeriodSeconds).toBe(20)
    expect(Date.parse(pod.metadata.deletionTimestamp!)).toBe(startMs + 20_000)
  })

  it('gives a pod one more second if the shortened grace period is already over', async () => {
    const { client, clock } = await setUp()
    await boundPod(client, 'a')
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 60 })
    await clock.advanceAsync(30_000)
    await client.delete(resources.pods, 'a', 'default', { gracePeriodSeconds: 20 })
    const pod = await client.get(resources.pods, 'a', 'default')
    expect(pod.metadata.deletionGracePeriodSeconds).toBe(1)
    expect(Date.parse(pod.metadata.deletionTimestamp!)).toBe(clock.nowMs() + 1_000)
  })

  it('keeps a pod with finalizers until the last one is gone', async () => {
    const { client, writes } = await setUp()
    await client.create(resources.pods, aPod('a', { metadata: { finalizers: ['example.com/hold'] } }))
    await client.delete(resources.pods, 'a', 'default')
    const marked = await client.get(resources.pods, 'a', 'default')
    expect(marked.metadata.deletionTimestamp).toBeDefined()
    const added = { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } }
    expect((await refusal(client.patch(resources.pods, 'a', 'default', added))).status.details?.causes?.[0]?.reason).toBe(
      'FieldValueForbidden',
    )
    await client.patch(resources.pods, 'a', 'default', { metadata: { finalizers: null } })
    expect(writes.at(-1)).toBe('DELETED a')
  })
})

describe('deleting anything', () => {
  it('checks the uid and resource version preconditions', async () => {
    const { client } = await setUp()
    const map = await client.create(resources.configMaps, aConfigMap('a'))
    const byUid = await refusal(client.delete(resources.configMaps, 'a', 'default', { preconditions: { uid: 'other' } }))
    expect([byUid.code, byUid.message]).toEqual([
      409,
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${map.metadata.uid}). The object might have been deleted and then recreated`,
    ])
    const byVersion = await refusal(client.delete(resources.configMaps, 'a', 'default', { preconditions: { resourceVersion: '1' } }))
    expect(byVersion.code).toBe(409)
    await client.delete(resources.configMaps, 'a', 'default', { preconditions: map.metadata })
  })

  it('answers with a Status that names the uid if the object is gone, or with the object if it is only marked', async () => {
    const { client, server } = await setUp()
    const agent = await client.create(resources.daemonSets, aDaemonSet('agent'))
    const gone = await server.handle({ actor: tester, verb: 'delete', resource: resources.daemonSets, namespace: 'default', name: 'agent' })
    expect(gone).toMatchObject({ kind: 'status', status: { status: 'Success', details: { uid: agent.metadata.uid, kind: 'daemonsets' } } })
    await client.create(resources.daemonSets, aDaemonSet('other'))
    const body = { propagationPolicy: 'Foreground' }
    const marked = await server.handle({
      actor: tester,
      verb: 'delete',
      resource: resources.daemonSets,
      namespace: 'default',
      name: 'other',
      body,
    })
    expect(marked).toMatchObject({
      kind: 'object',
      object: { metadata: { finalizers: ['foregroundDeletion'], generation: 2, deletionGracePeriodSeconds: 0 } },
    })
  })

  it('refuses two policies at once', async () => {
    const { client, server } = await setUp()
    await client.create(resources.configMaps, aConfigMap('a'))
    const body = { propagationPolicy: 'Orphan', orphanDependents: false }
    const request = { actor: tester, verb: 'delete', resource: resources.configMaps, namespace: 'default', name: 'a', body } as const
    expect((await refusal(server.handle(request))).code).toBe(422)
  })

  it('refuses an invalid dryRun value', async () => {
    const { client, server } = await setUp()
    await client.create(resources.configMaps, aConfigMap('a'))
    const body = { dryRun: ['true'] }
    const request = { actor: tester, verb: 'delete', resource: resources.configMaps, namespace: 'default', name: 'a', body } as const
    expect((await refusal(server.handle(request))).status.details?.causes?.[0]).toMatchObject({
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
    })
  })

  it('does not delete namespaces as a collection', async () => {
    const { server } = await setUp()
    expect((await refusal(server.handle({ actor: tester, verb: 'deletecollection', resource: resources.namespaces }))).code).toBe(405)
  })

  it('deletes what a selector matches', async () => {
    const { client, server } = await setUp()
    await client.create(resources.configMaps, aConfigMap('a', { labels: { app: 'x' } }))
    await client.create(resources.configMaps, aConfigMap('b'))
    const options = { labelSelector: 'app=x' }
    await server.handle({ actor: tester, verb: 'deletecollection', resource: resources.configMaps, namespace: 'default', options })
    expect((await client.list(resources.configMaps)).items.map((item) => item.metadata.name)).toEqual(['b'])
  })

  it('keeps a namespace until it is finalized', async () => {
    const { client, server } = await setUp()
    await client.create(resources.namespaces, { metadata: { name: 'team' } })
    await client.delete(resources.namespaces, 'team', undefined)
    const namespace = await client.get(resources.namespaces, 'team')
    expect(at(namespace, 'status', 'phase')).toBe('Terminating')
    const body = { ...namespace, spec: { finalizers: [] } }
    await server.handle({ actor: tester, verb: 'update', resource: resources.namespaces, name: 'team', subresource: 'finalize', body })
    expect((await refusal(client.get(resources.namespaces, 'team'))).code).toBe(404)
  })

  it('does nothing in a dry run', async () => {
    const { client, server } = await setUp()
    await client.create(resources.configMaps, aConfigMap('a'))
    const revision = server.revision()
    const options = { dryRun: true }
    await server.handle({ actor: tester, verb: 'delete', resource: resources.configMaps, namespace: 'default', name: 'a', options })
    expect([server.revision(), (await client.get(resources.configMaps, 'a', 'default')).metadata.name]).toEqual([revision, 'a'])
  })
})

async function setUp() {
  const { server, clock } = aServer()
  return { server, clock, client: server.clientFor(tester), writes: recorded(server) }
}

function recorded(server: ApiServer): string[] {
  const writes: string[] = []
  server.observe((write) => writes.push(`${write.type} ${write.object.metadata.name}`))
  return writes
}

async function boundPod(client: SimClient, name: string): Promise<ApiObject> {
  await client.create(resources.pods, aPod(name))
  await client.bind(name, 'default', 'node-1')
  return client.get(resources.pods, name, 'default')
}
