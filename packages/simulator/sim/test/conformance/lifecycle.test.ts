import { type Admission, type ApiObject, ApiStatusError, isStatus, type ResourceId, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, namespace, unexpected, type World } from '../harness.ts'
import { build } from './stage.ts'

/** The controller retries rejected writes. */
afterEach(() => expect(unexpected.splice(0).filter((error) => !isStatus(error, 403))).toEqual([]))

describe('pods that cannot run', () => {
  it('9 are created if they do not fit on their node, and wait', async () => {
    const containers = [{ name: 'agent', image: 'agent:v1', resources: { requests: { memory: '120M' } } }]
    const world = await build({
      nodes: ['small', 'big'],
      daemonSet: { podSpec: { containers }, annotations: { 'sim.tranche.dev/start-ms': '500' } },
    })
    for (const [name, memory] of [
      ['small', '100M'],
      ['big', '200M'],
    ] as const)
      await world.admin.patch(resources.nodes, name, undefined, { status: { capacity: { memory }, allocatable: { memory } } }, 'status')
    await world.sim.start()
    await world.pass(5000)
    expect((await world.pods()).map(scheduledReason).sort()).toEqual(['Unschedulable', 'yes'])
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 2, numberReady: 1 })
  })

  it('49 are refused, and the status counts the existing ones', async () => {
    let created = 0
    const error = new ApiStatusError(403, 'Forbidden', 'pods is forbidden: two are enough')
    const admit: Admission = {
      handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'pods',
      admit: () => (++created <= 2 ? { allowed: true } : { allowed: false, error }),
    }
    const world = await createWorld({ nodes: 5, admit })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(10_000)
    expect(await world.status()).toMatchObject({
      desiredNumberScheduled: 5,
      currentNumberScheduled: 2,
      numberReady: 2,
      numberUnavailable: 3,
    })
  })

  it('47 are refused by a quota and made when it is gone', async () => {
    const world = await createWorld({ nodes: 6 })
    await world.sim.start()
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'three', namespace }, spec: { hard: { pods: '3' } } }
    await world.admin.create(resources.resourceQuotas, quota)
    await world.pass(1000)
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(5000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 6, currentNumberScheduled: 3, observedGeneration: 1 })
    await world.admin.delete(resources.resourceQuotas, 'three', namespace)
    await world.settled()
  })
})

describe('the dependents of a DaemonSet', () => {
  it('98 its revisions can be patched, made, deleted and updated, and the numbers continue', async () => {
    const world = await createRunningWorld(2)
    const before = (await world.pods()).map(({ metadata }) => metadata.name)
    const [initial] = await world.revisions()
    await world.admin.strategicPatch(resources.controllerRevisions, initial!.metadata.name, namespace, {
      metadata: { labels: { patched: 'yes' } },
    })
    const { labels, ownerReferences } = initial!.metadata
    const made = {
      ...initial!,
      metadata: { name: 'agent-made', namespace, labels: { ...labels, 'controller-revision-hash': 'made' }, ownerReferences },
    }
    await world.admin.create(resources.controllerRevisions, { ...made, revision: 2 })
    expect(await world.revisions()).toHaveLength(2)
    await world.admin.delete(resources.controllerRevisions, initial!.metadata.name, namespace)
    await world.pass(1000)
    expect((await world.revisions()).map(nameOf)).toEqual(['agent-made'])
    await world.admin.patch(resources.controllerRevisions, 'agent-made', namespace, { metadata: { labels: { updated: 'yes' } } })
    // The number of the template keeps the pods from being replaced, though none has the new hash.
    await world.pass(10_000)
    expect((await world.pods()).map(({ metadata }) => metadata.name)).toEqual(before)
    await world.setImage('agent:v2')
    await world.settled()
    expect(await world.revisions()).toHaveLength(2)
    await deleteCollection(world, resources.controllerRevisions, 'updated=yes')
    await world.pass(1000)
    expect((await world.revisions()).map((one) => one['revision'])).toEqual([3])
  })

  it('99 DaemonSets are listed and deleted by label', async () => {
    const world = await createRunningWorld(1)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { metadata: { labels: { team: 'x' } } })
    await world.admin.create(resources.daemonSets, daemonSet({ name: 'other' }))
    const scope = { namespace, labelSelector: 'team=x' }
    expect((await world.admin.list(resources.daemonSets, scope)).items.map(nameOf)).toEqual(['agent'])
    await deleteCollection(world, resources.daemonSets, 'team=x')
    expect((await world.admin.list(resources.daemonSets, scope)).items).toEqual([])
    expect((await world.admin.list(resources.daemonSets, { namespace })).items.map(nameOf)).toEqual(['other'])
  })

  it('106 orphaned pods and revisions are adopted by the next DaemonSet that selects them, and nothing restarts', async () => {
    const world = await createRunningWorld(3)
    const { spec, before } = await orphan(world)
    await createAgain(world, spec)
    await world.settled()
    expect((await world.pods()).map(nameOf)).toEqual(before)
    expect((await world.revisions()).map((one) => one['revision'])).toEqual([1])
    const { uid } = (await world.get(resources.daemonSets, 'agent', namespace)).metadata
    const owners = [...(await world.pods()), ...(await world.revisions())].map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)
    expect(owners).toEqual([uid, uid, uid, uid])
  })

  it('106 with another template they count as updated, until the template changes again', async () => {
    const world = await createRunningWorld(3)
    const { spec, before } = await orphan(world)
    await createAgain(world, { ...spec, template: { ...spec.template, spec: { containers: [{ name: 'agent', image: 'agent:v2' }] } } })
    await world.pass(10_000)
    expect((await world.pods()).map(nameOf)).toEqual(before)
    expect(await world.status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 })
    expect((await world.revisions()).map((one) => one['revision'])).toEqual([1, 2])
    await world.setImage('agent:v3')
    await world.settled()
    expect((await world.pods()).map(nameOf).filter((name) => before.includes(name))).toEqual([])
  })

  it('97 a revision of another owner under the next name causes one collision, and the update continues', async () => {
    const world = await createRunningWorld(2)
    await world.setImage('agent:v2')
    await world.settled()
    const [, second] = await world.revisions()
    await world.setImage('agent:v1')
    await world.settled()
    await world.admin.delete(resources.controllerRevisions, second!.metadata.name, namespace)
    const other = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: second!.metadata.name, namespace },
      revision: 1,
      data: {},
    }
    await world.admin.create(resources.controllerRevisions, other)
    await world.setImage('agent:v2')
    await world.settled()
    expect(await world.status()).toMatchObject({ collisionCount: 1 })
    expect((await world.revisions()).map((one) => one['revision'])).toEqual([1, 3, 4])
  })
})

interface Orphaned {
  readonly spec: Readonly<Record<string, unknown>> & { readonly template: object }
  /** Names of the pods left. */
  readonly before: readonly string[]
}

async function orphan(world: World): Promise<Orphaned> {
  const { spec } = await world.get(resources.daemonSets, 'agent', namespace)
  const before = (await world.pods()).map(nameOf)
  await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Orphan' })
  await world.pass(2000)
  return { spec: spec as Orphaned['spec'], before }
}

async function createAgain(world: World, spec: object): Promise<void> {
  await world.admin.create(resources.daemonSets, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent', namespace }, spec })
}

async function deleteCollection({ sim }: World, resource: ResourceId, labelSelector: string): Promise<void> {
  await sim.server.handle({ actor: { name: 'admin' }, verb: 'deletecollection', resource, namespace, options: { labelSelector } })
}

function scheduledReason(pod: ApiObject): string {
  const { conditions = [] } = pod['status'] as { readonly conditions?: readonly { readonly type: string; readonly reason?: string }[] }
  return conditions.find(({ type }) => type === 'PodScheduled')?.reason ?? 'yes'
}

function nameOf({ metadata }: ApiObject): string {
  return metadata.name
}
