import { describe, expect, it } from 'vitest'
import {
  type AcceptedWrite,
  type AdmissionAnswer,
  type ApiServer,
  ApiStatusError,
  ConnectionCutError,
  resources,
  type WatchEvent,
} from '@tranche/sim-api'
import { aConfigMap, aPod, aServer, at, refusal, textOf } from '../testing.ts'

const tester = { name: 'tester' }

describe('faults', () => {
  it('answer with an error, and nothing is written', async () => {
    const { server, client } = setUp()
    const counts: number[] = []
    server.useFaults({
      onRequest(call) {
        counts.push(call.count)
        return call.verb === 'create' ? { kind: 'error', error: new ApiStatusError(500, 'InternalError', 'broken') } : undefined
      },
    })
    expect((await refusal(client.create(resources.configMaps, aConfigMap('a')))).code).toBe(500)
    expect([(await client.list(resources.configMaps)).items, counts]).toEqual([[], [1, 2]])
  })

  it('answer with a conflict', async () => {
    const { server, client } = setUp()
    server.useFaults({ onRequest: (call) => (call.verb === 'patch' ? { kind: 'conflict' } : undefined) })
    await client.create(resources.configMaps, aConfigMap('a'))
    expect((await refusal(client.patch(resources.configMaps, 'a', 'default', {}))).code).toBe(409)
  })

  for (const when of ['before', 'after'] as const)
    it(`cut the connection ${when} the write takes effect`, async () => {
      const { server, client } = setUp()
      server.useFaults({ onRequest: (call) => (call.verb === 'create' ? { kind: 'cut', when } : undefined) })
      await expect(client.create(resources.configMaps, aConfigMap('a'))).rejects.toThrow(ConnectionCutError)
      expect((await client.list(resources.configMaps)).items).toHaveLength(when === 'after' ? 1 : 0)
    })

  for (const when of ['before', 'after'] as const)
    it(`let a write take effect ${when === 'before' ? 'late' : 'at once'} when its delay is ${when} it`, async () => {
      const { server, client, clock } = setUp()
      server.useFaults({ onRequest: (call) => (call.verb === 'create' ? { kind: 'delay', ms: 500, when } : undefined) })
      const created = client.create(resources.configMaps, aConfigMap('a'))
      await clock.advanceAsync(499)
      expect((await client.list(resources.configMaps)).items).toHaveLength(when === 'after' ? 1 : 0)
      await clock.advanceAsync(1)
      expect((await created).metadata.name).toBe('a')
    })

  for (const kind of ['cut', 'gap', 'stall'] as const)
    it(`let a client catch up after a watch fault: ${kind}`, async () => {
      const { server, client, clock } = setUp()
      const events: WatchEvent[] = []
      server.useFaults({ onEvent: (event) => (event.watch === 1 && event.event === 3 ? { kind, ms: 1_000 } : undefined) })
      client.watch(resources.configMaps, {}, (event) => events.push(event))
      await clock.advanceAsync(20)
      for (const name of ['a', 'b', 'c', 'd']) await client.create(resources.configMaps, aConfigMap(name))
      await client.delete(resources.configMaps, 'a', 'default')
      await clock.advanceAsync(10_000)
      expect(events.map(textOf).toSorted()).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d', 'DELETED a', 'SYNCED'])
    })
})

describe('admission', () => {
  it('changes an object before it is checked and stored', async () => {
    const { server, client } = setUp()
    hook(server, ({ object }) => ({ allowed: true, object: { ...object!, metadata: { ...object!.metadata, labels: { seen: 'yes' } } } }))
    expect((await client.create(resources.configMaps, aConfigMap('a'))).metadata.labels).toEqual({ seen: 'yes' })
  })

  it('refuses with its own answer, and warns', async () => {
    const { server, client } = setUp()
    const error = new ApiStatusError(403, 'Forbidden', 'not now')
    hook(server, ({ operation }) => (operation === 'DELETE' ? { allowed: false, error } : { allowed: true, warnings: ['careful'] }))
    const create = { actor: tester, verb: 'create', resource: resources.configMaps, namespace: 'default', body: aConfigMap('a') } as const
    expect((await server.handle(create)).warnings).toEqual(['careful'])
    expect(await refusal(client.delete(resources.configMaps, 'a', 'default'))).toBe(error)
  })

  it('is called again if the object has changed meanwhile, unless the writer named a version', async () => {
    const { server, client } = setUp()
    const map = await client.create(resources.configMaps, aConfigMap('a'))
    let asked = 0
    server.useAdmission({
      handles: ({ operation }) => operation === 'UPDATE',
      async admit({ actor }) {
        if (actor.name === 'tester' && asked++ === 0)
          await server.clientFor({ name: 'rival' }).patch(resources.configMaps, 'a', 'default', { data: { rival: 'x' } })
        return { allowed: true }
      },
    })
    const patched = await client.patch(resources.configMaps, 'a', 'default', { data: { own: 'y' } })
    expect([patched['data'], asked]).toEqual([{ rival: 'x', own: 'y' }, 2])
    expect((await refusal(client.update(resources.configMaps, map))).code).toBe(409)
  })
})

describe('observers', () => {
  it('see each accepted write with its author, and no refused one', async () => {
    const { server, client } = setUp()
    const writes: AcceptedWrite[] = []
    const stop = server.observe((write) => writes.push(write))
    await client.create(resources.pods, aPod('a'))
    await refusal(client.create(resources.pods, aPod('a')))
    await client.bind('a', 'default', 'node-1')
    await client.patch(resources.pods, 'a', 'default', {})
    stop()
    await client.delete(resources.pods, 'a', 'default')
    expect(writes.map(({ type, kind, actor, verb }) => [type, kind, actor.name, verb])).toEqual([
      ['ADDED', 'Pod', 'tester', 'create'],
      ['MODIFIED', 'Pod', 'tester', 'create'],
    ])
    expect([at(writes[1]!.previous!, 'spec', 'nodeName'), at(writes[1]!.object, 'spec', 'nodeName')]).toEqual([undefined, 'node-1'])
  })
})

describe('binding', () => {
  it('binds a pod to a node once', async () => {
    const { client } = setUp()
    await client.create(resources.pods, aPod('a'))
    await client.bind('a', 'default', 'node-1')
    const pod = await client.get(resources.pods, 'a', 'default')
    expect(pod).toMatchObject({
      spec: { nodeName: 'node-1' },
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
    })
    expect((await refusal(client.bind('a', 'default', 'node-2'))).code).toBe(409)
  })

  it('changes only the mutable fields of a pod spec', async () => {
    const { client } = setUp()
    const pod = await client.create(resources.pods, aPod('a'))
    const image = [{ op: 'replace', path: '/spec/containers/0/image', value: 'agent:2' }]
    expect(at(await client.patch(resources.pods, 'a', 'default', image), 'metadata', 'generation')).toBe(2)
    expect(
      (await refusal(client.patch(resources.pods, 'a', 'default', { spec: { hostNetwork: true } }))).status.details?.causes?.[0]?.field,
    ).toBe('spec')
    expect(pod.metadata.generation).toBe(1)
  })
})

function setUp() {
  const { server, clock } = aServer()
  return { server, clock, client: server.clientFor(tester) }
}

function hook(
  server: ApiServer,
  admit: (review: Parameters<NonNullable<Parameters<ApiServer['useAdmission']>[0]>['admit']>[0]) => AdmissionAnswer,
): void {
  server.useAdmission({ handles: ({ resource }) => resource.resource === 'configmaps', admit })
}
