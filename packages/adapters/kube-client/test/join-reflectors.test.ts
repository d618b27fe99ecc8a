import { VirtualClock } from '@tranche/clock'
import { createKubeClient, createReflector, joinReflectors, type Reflector } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createApiServer, createHttpFront, inProcessExchange } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

describe('reflectors of several namespaces, joined', () => {
  it('hold the objects of these namespaces, and no others', async () => {
    const { joined, create, pass } = await watching('agents', 'network')
    for (const namespace of ['agents', 'network', 'default']) await create(namespace, 'a')
    await create('agents', 'b')
    await pass()
    const { store } = joined
    expect([store.size, store.list().toSorted()]).toEqual([3, ['agents/a', 'agents/b', 'network/a']])
    expect([store.get({ namespace: 'network', name: 'a' }), store.get({ namespace: 'default', name: 'a' })]).toEqual([
      'network/a',
      undefined,
    ])
    expect(store.byIndex('name', 'a')).toEqual(['agents/a', 'network/a'])
    expect(store.list()).toBe(store.list())
  })

  it('report every change of each', async () => {
    const { joined, create, pass } = await watching('agents', 'network')
    const heard: string[] = []
    const end = joined.subscribe({ onChange: (_key, _previous, current) => void heard.push(current ?? '') })
    await create('agents', 'a')
    await create('network', 'a')
    await create('default', 'a')
    await pass()
    end()
    await create('agents', 'b')
    await pass()
    expect(heard).toEqual(['agents/a', 'network/a'])
  })

  it('have the position of the slowest one, and in one namespace that of its reflector', async () => {
    const { joined, create, pass } = await watching('agents', 'network')
    const version = await create('agents', 'a')
    await pass()
    expect(joined.positionOf('agents')).toBe(version)
    expect(joined.positionOf('network')).not.toBe(version)
    expect(joined.resourceVersion).toBe(joined.positionOf('network'))
    expect(joined.positionOf('default')).toBe('')
  })

  it('have reached a version in one namespace as soon as its own watch has, whatever the position of the others', async () => {
    const { joined, create, pass } = await watching('agents', 'network')
    const version = await create('agents', 'a')
    const reached: string[] = []
    void joined.whenReachedIn('agents', version).then(() => reached.push('agents'))
    void joined.whenReached(version).then(() => reached.push('all'))
    await pass()
    expect(reached).toEqual(['agents'])
    await create('network', 'a')
    await pass()
    expect(reached).toEqual(['agents', 'all'])
    await expect(joined.whenReachedIn('default', version)).rejects.toThrow('namespace "default" is not watched')
  })

  it('are synced once each is, and end together', async () => {
    const { joined, pass, running } = await watching('agents', 'network')
    expect(joined.synced).toBe(true)
    joined.stop()
    await pass()
    await expect(running).resolves.toBeUndefined()
  })
})

describe('reflectors that are joined', () => {
  it('all end as soon as one of them does', async () => {
    const stopped: string[] = []
    const fault = new Error('its own fault')
    const one = part({ start: () => Promise.reject(fault), stop: () => stopped.push('one') })
    const two = part({ start: () => new Promise(() => {}), stop: () => stopped.push('two') })
    await expect(join({ one, two }).start()).rejects.toBe(fault)
    expect(stopped).toEqual(['one', 'two'])
  })

  it('are synced when each of them is, and reached and refreshed when each of them is', async () => {
    const one = part({ synced: true })
    const arrivals: (() => void)[] = []
    const arrive = (): Promise<void> => new Promise((resolve) => arrivals.push(resolve))
    const two = part({ synced: false, whenSynced: arrive, refresh: arrive, whenReached: arrive })
    const joined = join({ one, two })
    expect(joined.synced).toBe(false)
    expect(join({ one }).synced).toBe(true)
    for (const wait of [() => joined.whenSynced(), () => joined.refresh(), () => joined.whenReached('7')]) {
      let hasCome = false
      const waiting = wait().then(() => (hasCome = true))
      for (let turns = 0; turns < 9; turns++) await Promise.resolve()
      expect(hasCome).toBe(false)
      arrivals.shift()?.()
      await waiting
    }
  })

  it('count lists and connections of all of them, and show the lists of each namespace', () => {
    const one = part({ listsDone: 2, connectionChanges: 3, listsOf: () => ({ begun: 5, done: 4 }) })
    const two = part({ listsDone: 5, connectionChanges: 7 })
    const joined = join({ one, two })
    expect([joined.listsDone, joined.connectionChanges]).toEqual([7, 10])
    expect([joined.listsOf('one'), joined.listsOf('three')]).toEqual([
      { begun: 5, done: 4 },
      { begun: 0, done: 0 },
    ])
  })

  it('have no position before each of them has', () => {
    expect(join({ one: part({ resourceVersion: '7' }), two: part({ resourceVersion: '' }) }).resourceVersion).toBe('')
  })

  const part = (members: object): Reflector<string> =>
    ({ whenSynced: async () => {}, refresh: async () => {}, whenReached: async () => {}, ...members }) as unknown as Reflector<string>
  const join = (parts: Record<string, Reflector<string>>): Reflector<string> => joinReflectors(new Map(Object.entries(parts)))
})

/** Reflectors of these namespaces that have seen their first lists. */
async function watching(...scope: readonly string[]) {
  const clock = new VirtualClock()
  const server = createApiServer({ clock, seed: 1, watchDelayMs: { min: 1, max: 1 } })
  const front = createHttpFront(server, { tokens: { one: { name: 'one', groups: ['system:masters'] } }, clock })
  const client = createKubeClient({ exchange: inProcessExchange(front, 'one'), clock, userAgent: 'test/1', log: silentLogger })
  const create = async (namespace: string, name: string): Promise<string> => {
    const created = client.create<KubeObject>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } } as never)
    return (await driven(clock, created)).metadata.resourceVersion
  }
  for (const name of scope)
    await driven(clock, client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as never))
  const reflectors = scope.map((namespace): [string, Reflector<string>] => [
    namespace,
    createReflector<string, KubeObject>({
      client,
      clock,
      log: silentLogger,
      resource: configMaps,
      scope: { namespace },
      transform: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
      indexers: { name: (text) => text.split('/')[1] },
    }),
  ])
  const joined = joinReflectors(new Map(reflectors))
  const running = joined.start()
  await driven(clock, joined.whenSynced())
  return { joined, create, running, pass: () => clock.run({ untilMs: clock.monotonicMs() + 100 }) }
}

async function driven<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  void work.finally(() => (isDone = true)).catch(() => {})
  await clock.run({ done: () => isDone })
  return work
}
