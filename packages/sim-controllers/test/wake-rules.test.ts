import { FakeClock } from '@tranche/clock'
import { type ApiObject, type ResourceId, resources, type SimClient, type WatchEvent } from '@tranche/sim-api'
import { startControllers } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { daemonSet, node, pod } from './builders.ts'

/**
 * What wakes a DaemonSet. A pass shows by its first question to the API: the history of a DaemonSet that has none yet is
 * created, and here the answer is always an error, so that nothing else happens and the cache stays as the test makes it.
 */
describe('what wakes a DaemonSet', () => {
  const other = { ...pod('a'), metadata: { ...pod('a').metadata, ownerReferences: [] } }
  const labelled = (labels: Readonly<Record<string, string>>, resourceVersion: string): object => ({
    ...other,
    metadata: { ...other.metadata, uid: 'orphan', name: 'orphan', labels, resourceVersion },
  })
  const owned = pod('a')
  const version = (object: typeof owned, resourceVersion: string, change: object = {}): object => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion },
    ...change,
  })

  const cases: readonly [name: string, before: readonly Told[], then: Told, wakes: boolean][] = [
    ['55 a pod of its own is added', [], told('pods', 'ADDED', owned), true],
    ['56 an orphan is added that it selects', [], told('pods', 'ADDED', labelled({ app: 'agent' }, '2')), true],
    ['56 an orphan is added that it does not select', [], told('pods', 'ADDED', labelled({ app: 'other' }, '2')), false],
    ['57 a pod of its own is changed', [told('pods', 'ADDED', owned)], told('pods', 'MODIFIED', version(owned, '2')), true],
    ['a pod of its own is told again', [told('pods', 'ADDED', owned)], told('pods', 'MODIFIED', version(owned, '1')), false],
    [
      '58 an orphan is changed, its labels stay',
      orphan({ app: 'agent' }),
      told('pods', 'MODIFIED', labelled({ app: 'agent' }, '3')),
      false,
    ],
    ['59 an orphan gets the labels it selects', orphan({ app: 'x' }), told('pods', 'MODIFIED', labelled({ app: 'agent' }, '3')), true],
    ['61 a pod loses its owner', [told('pods', 'ADDED', owned)], told('pods', 'MODIFIED', { ...labelledAs(owned, '2') }), true],
    ['62 a pod of its own is deleted', [told('pods', 'ADDED', owned)], told('pods', 'DELETED', version(owned, '2')), true],
    ['62 an orphan is deleted', orphan({ app: 'agent' }), told('pods', 'DELETED', labelled({ app: 'agent' }, '3')), false],
    ['64 a node is added on which it should run', [], told('nodes', 'ADDED', node('b')), true],
    [
      '64 a node is added on which it should not run',
      [],
      told('nodes', 'ADDED', node('b', {}, [{ key: 'gpu', effect: 'NoSchedule' }])),
      false,
    ],
    ['65 conditions of a node change', [], told('nodes', 'MODIFIED', { ...node('a'), status: { conditions: [] } }), false],
    ['65 labels of a node change', [], told('nodes', 'MODIFIED', node('a', { x: 'y' })), true],
    ['65 taints of a node change', [], told('nodes', 'MODIFIED', node('a', {}, [{ key: 'gpu', effect: 'PreferNoSchedule' }])), true],
    ['104 a node is deleted', [], told('nodes', 'DELETED', node('a')), false],
  ]

  it.each(cases)('%s', async (_name, before, then, wakes) => {
    const world = await watchedController()
    for (const one of before) world.tell(one)
    await world.settle()
    const passes = world.passes()
    world.tell(then)
    await world.settle()
    expect(world.passes() > passes).toBe(wakes)
  })

  function orphan(labels: Readonly<Record<string, string>>): readonly Told[] {
    return [told('pods', 'ADDED', labelled(labels, '2'))]
  }

  function labelledAs(one: typeof owned, resourceVersion: string): object {
    return { ...one, metadata: { ...one.metadata, resourceVersion, ownerReferences: [] } }
  }
})

interface Told {
  readonly resource: string
  readonly event: WatchEvent
}

function told(resource: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object): Told {
  return { resource, event: { type, object: object as ApiObject } }
}

/** The DaemonSet `agent` and node `a`, the controller having been told of both. */
async function watchedController(): Promise<{ tell(one: Told): void; passes(): number; settle(): Promise<void> }> {
  const clock = new FakeClock()
  const watchers = new Map<string, (event: WatchEvent) => void>()
  let passes = 0
  const silent: SimClient = {
    discover: () => [],
    get: never,
    list: never,
    create: never,
    update: never,
    patch: never,
    strategicPatch: never,
    delete: never,
    bind: never,
    watch: () => ({ stop: () => {} }),
  }
  const client: SimClient = {
    ...silent,
    create(id) {
      if (id.resource === 'controllerrevisions') passes++
      // The retry waits for the clock, which stands still.
      return Promise.reject(new Error('refused'))
    },
    watch(id: ResourceId, _scope, onEvent) {
      watchers.set(id.resource, onEvent)
      return { stop: () => {} }
    },
  }
  startControllers({ clientFor: ({ name }) => (name === 'daemonset-controller' ? client : silent), clock, seed: '1', onError: () => {} })
  const tell = ({ resource, event }: Told): void => watchers.get(resource)!(event)
  tell(told(resources.daemonSets.resource, 'ADDED', daemonSet()))
  tell(told(resources.nodes.resource, 'ADDED', node('a')))
  for (const watcher of watchers.values()) watcher({ type: 'SYNCED' })
  const settle = (): Promise<void> => clock.advanceAsync(0)
  await settle()
  return { tell, passes: () => passes, settle }
}

function never(): Promise<never> {
  return Promise.reject(new Error('not asked for in this test'))
}
