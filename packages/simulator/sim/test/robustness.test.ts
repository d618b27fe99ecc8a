import {
  type ApiObject,
  ApiStatusError,
  createRandom,
  type FaultInjector,
  type RequestFault,
  resources,
  type WatchFault,
} from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { createWorld, daemonSet, type Line, namespace, type World } from './harness.ts'

const kinds = [
  'errors',
  'conflicts',
  'delays',
  'lost answers',
  'lost requests',
  'watch cuts',
  'watch gaps',
  'late events',
  'all of them',
] as const
type Kind = (typeof kinds)[number]

const native = /^(daemonset-controller|default-scheduler|garbage-collector|kubelets?(:.*)?)$/

describe('52 the native controllers under faults', () => {
  it.each(kinds.flatMap((kind) => [1, 2, 3].map((seed) => [kind, seed] as const)))(
    'finish an update with one pod a node: %s, seed %i',
    async (kind, seed) => {
      const world = await createWorld({ nodes: 8, seed, faults: faultsOf(kind, seed), onError: () => {} })
      let started = false
      void world.sim.start().then(() => (started = true))
      await world.until(() => started)
      await world.admin.create(resources.daemonSets, daemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 3 } } } }))
      await world.settled('agent', 3_600_000)
      await world.setImage('agent:v2')
      await world.settled('agent', 3_600_000)
      expect((await world.pods()).map(imageOf)).toEqual(Array.from({ length: 8 }, () => 'agent:v2'))
      // When the answer to a creation is lost, the controller cannot know of the pod and may create another, which it prunes.
      if (kind !== 'lost answers' && kind !== 'all of them') expect(mostTogether(world)).toBe(1)
    },
  )
})

describe('the scheduler', () => {
  it.each([
    ['after that', false],
    ['before that', true],
  ])('gives the room of a pod that was deleted before it was bound to one that was created %s', async (_when, waits) => {
    // It learns of the deletion long after the answer to the binding.
    const onEvent: FaultInjector['onEvent'] = ({ actor, type }) =>
      actor === 'default-scheduler' && type === 'DELETED' ? { kind: 'delay', ms: 5_000 } : undefined
    const onRequest: FaultInjector['onRequest'] = ({ actor, subresource }) =>
      actor === 'default-scheduler' && subresource === 'binding' ? { kind: 'delay', ms: 2_000, when: 'before' } : undefined
    const world = await createWorld({ nodes: 1, faults: { onEvent, onRequest } })
    await world.sim.start()
    const large = (name: string): object => {
      const containers = [{ name: 'main', image: 'main:v1', resources: { requests: { cpu: '8' } } }]
      return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers } }
    }
    await world.admin.create(resources.pods, large('gone'))
    await world.pass(1_000)
    if (waits) await world.admin.create(resources.pods, large('next'))
    await world.pass(500)
    await world.admin.delete(resources.pods, 'gone', namespace)
    await world.pass(10_000)
    if (!waits) await world.admin.create(resources.pods, large('next'))
    await world.pass(10_000)
    expect((await world.pods()).map(({ spec }) => (spec as { readonly nodeName?: string }).nodeName)).toEqual(['node-001'])
  })
})

describe('owners and dependents of custom kinds', () => {
  it('are deleted together', async () => {
    const world = await createWorld({ nodes: 0 })
    await world.sim.start()
    await world.admin.create(resources.customResourceDefinitions, definition)
    await world.pass(1000)
    const id = { group: 'example.com', resource: 'things' }
    const thing = (name: string, owner?: ApiObject): object => ({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: {
        name,
        namespace,
        ...(owner && { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'owner', uid: owner.metadata.uid }] }),
      },
    })
    const owner = await world.admin.create(id, thing('owner'))
    await world.admin.create(id, thing('dependent', owner))
    await world.admin.create(id, thing('bystander'))
    await world.pass(1000)
    expect((await world.admin.list(id, { namespace })).items).toHaveLength(3)
    await world.admin.delete(id, 'owner', namespace)
    await world.pass(1000)
    expect((await world.admin.list(id, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual(['bystander'])
  })

  it('a dependent of an owner that never existed is deleted', async () => {
    const world = await createWorld({ nodes: 0 })
    await world.sim.start()
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '00000000-0000-4000-8000-000000000000' }]
    await world.admin.create(resources.configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'lost', namespace, ownerReferences },
    })
    await world.pass(1000)
    expect((await world.admin.list(resources.configMaps, { namespace })).items).toEqual([])
  })
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** One request or event in ten goes wrong. */
function faultsOf(kind: Kind, seed: number): FaultInjector {
  const random = createRandom(kind, seed).next
  const requests: Partial<Record<Kind, () => RequestFault>> = {
    errors: () => ({ kind: 'error', error: new ApiStatusError(500, 'InternalError', 'injected') }),
    conflicts: () => ({ kind: 'conflict' }),
    delays: () => ({ kind: 'delay', ms: 3000 * random(), when: random() < 0.5 ? 'before' : 'after' }),
    'lost answers': () => ({ kind: 'cut', when: 'after' }),
    'lost requests': () => ({ kind: 'cut', when: 'before' }),
  }
  const events: Partial<Record<Kind, () => WatchFault>> = {
    'watch cuts': () => ({ kind: 'cut' }),
    'watch gaps': () => ({ kind: 'gap' }),
    'late events': () => ({ kind: 'delay', ms: 3000 * random() }),
  }
  function draw<T>(table: Partial<Record<Kind, () => T>>): T | undefined {
    if (random() >= 0.1) return undefined
    const choices = Object.entries(table).filter(([name]) => kind === 'all of them' || name === kind)
    return choices[Math.floor(random() * choices.length)]?.[1]()
  }
  return {
    onRequest: ({ actor }) => (native.test(actor) ? draw(requests) : undefined),
    onEvent: ({ actor }) => (native.test(actor) ? draw(events) : undefined),
  }
}

/** Most pods of one node that were there at the same time and not terminating. */
function mostTogether(world: World): number {
  const nodes = new Map<string, Set<string>>()
  let most = 0
  for (const { kind, type, uid, node, o } of world.recording() satisfies readonly Line[]) {
    if (kind !== 'Pod' || node === undefined) continue
    const there = nodes.get(node) ?? new Set<string>()
    nodes.set(node, there)
    if (type === 'DELETED' || o['deleting'] === true) there.delete(uid)
    else there.add(uid)
    most = Math.max(most, there.size)
  }
  return most
}

function imageOf(pod: ApiObject): string {
  return (pod['spec'] as { readonly containers: readonly { readonly image: string }[] }).containers[0]!.image
}
