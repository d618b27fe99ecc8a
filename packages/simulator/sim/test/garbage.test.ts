import { type ApiObject, type ApiOwner, isStatus, type ResourceId, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, namespace, unexpected, type World } from './harness.ts'

/** Controllers get errors when they create objects in a terminating namespace. */
afterEach(() => expect(unexpected.splice(0).filter((error) => !isStatus(error, 403))).toEqual([]))

const HOLD = 'example.com/hold'

describe('deleting a DaemonSet', () => {
  it('deletes its pods and revisions, in the background', async () => {
    const world = await createRunningWorld(2)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Background' })
    expect(await exists(world, resources.daemonSets, 'agent')).toBe(false)
    await world.pass(3000)
    expect([await world.pods(), await world.revisions()]).toEqual([[], []])
  })

  it('waits for its pods, in the foreground', async () => {
    const world = await createRunningWorld(2)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(3000)
    const gone = world.recording().filter(({ type }) => type === 'DELETED')
    expect(gone.map(({ kind }) => kind).sort()).toEqual(['ControllerRevision', 'DaemonSet', 'Pod', 'Pod'])
    expect(gone.at(-1)!.kind).toBe('DaemonSet')
  })

  it('waits in the foreground for a pod that has a finalizer', async () => {
    const world = await createRunningWorld(1)
    const [pod] = await world.pods()
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { metadata: { finalizers: [HOLD] } })
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(60_000)
    expect((await world.get(resources.daemonSets, 'agent', namespace)).metadata.finalizers).toEqual(['foregroundDeletion'])
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { metadata: { finalizers: null } })
    await world.pass(1000)
    expect(await exists(world, resources.daemonSets, 'agent')).toBe(false)
  })

  it('does not delete orphaned pods and revisions; the next DaemonSet adopts them', async () => {
    const world = await createRunningWorld(2)
    const before = (await world.pods()).map(({ metadata }) => metadata.uid)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Orphan' })
    await world.pass(2000)
    expect(await exists(world, resources.daemonSets, 'agent')).toBe(false)
    expect((await world.pods()).map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined, undefined])
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.settled()
    expect((await world.pods()).map(({ metadata }) => metadata.uid)).toEqual(before)
  })
})

describe('the garbage collector', () => {
  it.each<[name: string, owners: (owner: ApiObject) => readonly ApiOwner[], want: string]>([
    ['keeps an object with an existing owner', (owner) => [refTo(owner)], 'there'],
    ['collects an object whose owner has another uid', (owner) => [{ ...refTo(owner), uid: 'other' }], 'gone'],
    ['collects an object whose owner has another name', (owner) => [{ ...refTo(owner), name: 'other' }], 'gone'],
    [
      'keeps an object with one existing owner, and drops the missing one',
      (owner) => [{ ...refTo(owner), uid: 'x' }, refTo(owner)],
      'there, 1 owner',
    ],
    ['keeps an object whose owner is of an unknown kind', (owner) => [{ ...refTo(owner), kind: 'Widget' }], 'there'],
  ])('%s', async (_name, owners, want) => {
    const world = await aWorld()
    const owner = await addMap(world, 'owner')
    await addMap(world, 'child', owners(owner))
    await world.pass(2000)
    const is = await exists(world, resources.configMaps, 'child')
    const count = is ? (await world.get(resources.configMaps, 'child', namespace)).metadata.ownerReferences!.length : 0
    expect(is ? `there${owners(owner).length > 1 ? `, ${count} owner` : ''}` : 'gone').toBe(want)
  })

  it('collects an object whose owner is in another namespace, and reports that', async () => {
    const world = await aWorld()
    await world.admin.create(resources.namespaces, { metadata: { name: 'other' } })
    const owner = await addMap(world, 'owner', [], 'other')
    await addMap(world, 'child', [refTo(owner)])
    await world.pass(2000)
    expect(await exists(world, resources.configMaps, 'child')).toBe(false)
    const { items } = await world.admin.list(resources.events, { namespace })
    expect(items.map((event) => event['message'])).toContain(
      `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${namespace}"`,
    )
  })

  it('keeps a cluster-scoped object with a namespaced owner', async () => {
    const world = await aWorld()
    const metadata = { name: 'child', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'gone' }] }
    await world.admin.create(resources.priorityClasses, { metadata, value: 1 })
    await world.pass(2000)
    expect((await world.get(resources.priorityClasses, 'child')).metadata.name).toBe('child')
  })

  it('collects the dependents of dependents before their owner, in the foreground', async () => {
    const world = await aWorld()
    const owner = await addMap(world, 'owner')
    const child = await addMap(world, 'child', [refTo(owner)])
    await addMap(world, 'grandchild', [refTo(child)])
    await world.pass(500)
    await world.admin.delete(resources.configMaps, 'owner', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(2000)
    const gone = world.recording().filter(({ type, kind }) => type === 'DELETED' && kind === 'ConfigMap')
    expect(gone.map(({ o }) => (o['metadata'] as { readonly name: string }).name)).toEqual(['grandchild', 'child', 'owner'])
  })

  it('deletes objects that own one another in a circle, in the foreground', async () => {
    const world = await aWorld()
    const first = await addMap(world, 'first')
    const second = await addMap(world, 'second', [refTo(first)])
    await world.admin.patch(resources.configMaps, 'first', namespace, { metadata: { ownerReferences: [refTo(second)] } })
    await world.pass(500)
    await world.admin.delete(resources.configMaps, 'first', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(2000)
    const left = [await exists(world, resources.configMaps, 'first'), await exists(world, resources.configMaps, 'second')]
    expect(left).toEqual([false, false])
  })

  it('keeps a dependent with another owner, in the foreground', async () => {
    const world = await aWorld()
    const [first, second] = [await addMap(world, 'first'), await addMap(world, 'second')]
    await addMap(world, 'child', [refTo(first), refTo(second)])
    await world.pass(500)
    await world.admin.delete(resources.configMaps, 'first', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(2000)
    expect(await exists(world, resources.configMaps, 'first')).toBe(false)
    expect((await world.get(resources.configMaps, 'child', namespace)).metadata.ownerReferences).toEqual([refTo(second)])
  })
})

describe('a namespace', () => {
  it('is emptied, pods first, and reports the remaining objects', async () => {
    const world = await createRunningWorld(1)
    await addMap(world, 'held', [], namespace, [HOLD])
    await world.admin.delete(resources.namespaces, namespace, undefined)
    await world.pass(5000)
    const left = await world.get(resources.namespaces, namespace)
    expect(left['status']).toMatchObject({
      phase: 'Terminating',
      conditions: [
        { type: 'NamespaceDeletionDiscoveryFailure', status: 'False', reason: 'ResourcesDiscovered' },
        { type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False' },
        { type: 'NamespaceDeletionContentFailure', status: 'False', reason: 'ContentDeleted' },
        {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: configmaps. has 1 resource instances',
        },
        {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          message: `Some content in the namespace has finalizers remaining: ${HOLD} in 1 resource instances`,
        },
      ],
    })
    const gone = world.recording().filter(({ type }) => type === 'DELETED')
    const order = gone.map(({ kind }) => kind)
    expect(order.indexOf('Pod')).toBeLessThan(order.indexOf('DaemonSet'))
    await world.admin.patch(resources.configMaps, 'held', namespace, { metadata: { finalizers: null } })
    await world.pass(2000)
    await expect(world.get(resources.namespaces, namespace)).rejects.toMatchObject({ code: 404 })
  })

  it('accepts no new object while it terminates', async () => {
    const world = await aWorld()
    await addMap(world, 'held', [], namespace, [HOLD])
    await world.admin.delete(resources.namespaces, namespace, undefined)
    await expect(addMap(world, 'late')).rejects.toMatchObject({
      code: 403,
      message: `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      status: { details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] } },
    })
  })

  it.each(['default', 'kube-system', 'kube-public'])('%s is never deleted', async (name) => {
    const world = await createWorld()
    await expect(world.admin.delete(resources.namespaces, name, undefined)).rejects.toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})

async function aWorld(): Promise<World> {
  const world = await createWorld()
  await world.sim.start()
  return world
}

function addMap(
  world: World,
  name: string,
  ownerReferences: readonly ApiOwner[] = [],
  place = namespace,
  finalizers: readonly string[] = [],
): Promise<ApiObject> {
  const metadata = { name, namespace: place, ownerReferences, finalizers }
  return world.admin.create(resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
}

function refTo({ apiVersion, kind, metadata }: ApiObject): ApiOwner {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true }
}

async function exists(world: World, id: ResourceId, name: string): Promise<boolean> {
  try {
    await world.get(id, name, namespace)
    return true
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}
