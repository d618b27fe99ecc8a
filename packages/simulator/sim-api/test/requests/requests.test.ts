import { describe, expect, it } from 'vitest'
import { resources, type WatchEvent } from '@tranche/sim-api'
import { aConfigMap, aDaemonSet, aPod, aServer, at, refusal, textOf } from '../testing.ts'

const tester = { name: 'tester' }

describe('creating', () => {
  it('fills in the fields that the server sets', async () => {
    const { server, clock } = aServer()
    const created = await server.clientFor(tester).create(resources.configMaps, aConfigMap('a'))
    expect(created.metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      resourceVersion: String(server.revision()),
      creationTimestamp: `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`,
    })
    expect(Object.isFrozen(created.metadata)).toBe(true)
  })

  it('refuses a duplicate name, and repeats the name in the answer', async () => {
    const client = aServer().server.clientFor(tester)
    await client.create(resources.daemonSets, aDaemonSet('agent'))
    const error = await refusal(client.create(resources.daemonSets, aDaemonSet('agent')))
    expect(error.status).toMatchObject({ code: 409, reason: 'AlreadyExists', message: 'daemonsets.apps "agent" already exists' })
  })

  it('refuses an object with a resource version', async () => {
    const client = aServer().server.clientFor(tester)
    const error = await refusal(client.create(resources.configMaps, aConfigMap('a', { resourceVersion: '7' })))
    expect([error.code, error.message]).toEqual([500, 'resourceVersion should not be set on objects to be created'])
  })

  it('sets imagePullPolicy Always for the tag latest, and without a tag', async () => {
    const client = aServer().server.clientFor(tester)
    const images = ['agent', 'agent:latest', 'host:5000/agent', 'host:5000/agent:1', 'agent@sha256:abc']
    const pod = await client.create(
      resources.pods,
      aPod('a', { spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) } }),
    )
    const policies = (at(pod, 'spec', 'containers') as { imagePullPolicy: string }[]).map((container) => container.imagePullPolicy)
    expect(policies).toEqual(['Always', 'Always', 'Always', 'IfNotPresent', 'IfNotPresent'])
  })

  it('generates a name from generateName', async () => {
    const client = aServer().server.clientFor(tester)
    const pod = await client.create(resources.pods, aPod('', { metadata: { name: undefined, generateName: 'agent-' } }))
    expect(pod.metadata.name).toMatch(/^agent-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('refuses an object in a namespace that does not exist', async () => {
    const client = aServer().server.clientFor(tester)
    const error = await refusal(client.create(resources.configMaps, aConfigMap('a', { namespace: 'nowhere' })))
    expect(error.status).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' })
  })

  it('refuses an object in a terminating namespace, with the reason as a cause', async () => {
    const client = aServer().server.clientFor(tester)
    await client.create(resources.namespaces, { metadata: { name: 'old' } })
    await client.delete(resources.namespaces, 'old', undefined)
    expect(at(await client.get(resources.namespaces, 'old'), 'status', 'phase')).toBe('Terminating')
    const error = await refusal(client.create(resources.configMaps, aConfigMap('a', { namespace: 'old' })))
    expect([error.code, error.status.details?.causes?.[0]?.reason]).toEqual([403, 'NamespaceTerminating'])
  })
})

describe('watching through a client', () => {
  it('delivers existing objects, SYNCED, then changes in order', async () => {
    const { server, clock } = aServer()
    const client = server.clientFor(tester)
    const events: WatchEvent[] = []
    const created = await client.create(resources.configMaps, aConfigMap('a'))
    client.watch(resources.configMaps, {}, (event) => events.push(event))
    await clock.advanceAsync(0)
    await client.create(resources.configMaps, aConfigMap('b'))
    await client.update(resources.configMaps, { ...created, data: { key: 'value' } })
    await client.delete(resources.configMaps, 'b', 'default')
    await clock.advanceAsync(20)
    expect(events.map(textOf)).toEqual(['ADDED a', 'SYNCED', 'ADDED b', 'MODIFIED a', 'DELETED b'])
  })
})
