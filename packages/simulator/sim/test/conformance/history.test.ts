import { type ApiObject, type FaultInjector, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, daemonSet, namespace, unexpected, type World } from '../harness.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

describe('the history', () => {
  it('102 gives the old revision a new number when its template returns', async () => {
    const world = await createRunningWorld(2)
    await world.setImage('agent:v2')
    await world.settled()
    await world.setImage('agent:v3')
    await world.settled()
    const [first] = await world.revisions()
    await world.setImage('agent:v1')
    await world.settled()
    const revisions = await world.revisions()
    expect(revisions.map(numberOf)).toEqual([2, 3, 4])
    expect(revisions[2]!.metadata).toMatchObject({ name: first!.metadata.name, uid: first!.metadata.uid })
  })

  it('101 keeps revisionHistoryLimit old revisions, and deletes the lowest first', async () => {
    const world = await createRunningWorld(2, { spec: { revisionHistoryLimit: 1 } })
    for (const image of ['agent:v2', 'agent:v3', 'agent:v4']) {
      await world.setImage(image)
      await world.settled()
    }
    await world.pass(5000)
    expect((await world.revisions()).map(numberOf)).toEqual([3, 4])
  })

  it('101 keeps revisions that pods still carry, beyond the limit', async () => {
    const world = await createRunningWorld(3, { spec: { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' } } })
    for (const image of ['agent:v2', 'agent:v3']) {
      await world.setImage(image)
      await world.pass(500)
      const stale = (await world.pods()).find((pod) => imageOf(pod) === 'agent:v1')!
      await world.admin.delete(resources.pods, stale.metadata.name, namespace)
      await world.pass(5000)
    }
    await world.setImage('agent:v4')
    await world.pass(5000)
    expect((await world.revisions()).map(numberOf)).toEqual([1, 2, 3, 4])
  })

  it('records nothing outside the template', async () => {
    const world = await createRunningWorld(1)
    const spec = { minReadySeconds: 3, revisionHistoryLimit: 4, updateStrategy: { type: 'OnDelete', rollingUpdate: null } }
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { metadata: { labels: { team: 'x' } }, spec })
    await world.pass(5000)
    expect(await world.revisions()).toHaveLength(1)
    expect(await world.status()).toMatchObject({ observedGeneration: 2 })
  })

  it('copies the annotations of the DaemonSet into the revision, and labels it with its hash', async () => {
    const world = await createRunningWorld(1)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, {
      metadata: { annotations: { 'kubernetes.io/change-cause': 'to v2' } },
      spec: { template: { metadata: { labels: { tier: 'node' } } } },
    })
    await world.settled()
    const [, second] = await world.revisions()
    expect(second!.metadata.annotations).toMatchObject({ 'kubernetes.io/change-cause': 'to v2' })
    expect(second!.metadata.labels).toMatchObject({ app: 'agent', tier: 'node' })
    expect(second!.metadata.name).toBe(`agent-${second!.metadata.labels!['controller-revision-hash']}`)
    expect(second!.metadata.ownerReferences).toMatchObject([
      { kind: 'DaemonSet', name: 'agent', controller: true, blockOwnerDeletion: true },
    ])
  })

  it('restores a template from the data of its revision', async () => {
    const world = await createRunningWorld(1)
    const before = (await world.get(resources.daemonSets, 'agent', namespace))['spec']
    const [first] = await world.revisions()
    expect(first!['data']).toEqual({ spec: { template: { $patch: 'replace', ...(before as { readonly template: object }).template } } })
  })
})

describe('the status', () => {
  it('92 counts ready pods once they are ready', async () => {
    const world = await createRunningWorld(2)
    const ready = world
      .recording()
      .filter(({ kind }) => kind === 'DaemonSet')
      .map(({ o }) => (o['status'] as { readonly numberReady: number }).numberReady)
    expect(ready[0]).toBe(0)
    expect(ready.at(-1)).toBe(2)
    expect(await world.status()).toEqual({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberReady: 2,
      numberAvailable: 2,
      numberMisscheduled: 0,
      observedGeneration: 1,
    })
  })

  it('93 observes the generation', async () => {
    const world = await createRunningWorld(1)
    expect((await world.get(resources.daemonSets, 'agent', namespace)).metadata.generation).toBe(1)
    expect(await world.status()).toMatchObject({ observedGeneration: 1 })
  })

  it('100 keeps the conditions of other writers', async () => {
    const world = await createRunningWorld(1)
    const conditions = [{ type: 'Tested', status: 'True' }]
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { status: { conditions } }, 'status')
    await world.setImage('agent:v2')
    await world.settled()
    expect(await world.status()).toMatchObject({ conditions })
  })

  it('counts ready before available while minReadySeconds run', async () => {
    const world = await createRunningWorld(2, { spec: { minReadySeconds: 10 } })
    const between = world
      .recording()
      .filter(({ kind, o }) => kind === 'DaemonSet' && Number(statusOf(o)['numberReady']) > Number(statusOf(o)['numberAvailable']))
    expect(between.length).toBeGreaterThan(0)
  })

  it('checks again when minReadySeconds are over, although no pod has changed', async () => {
    const world = await createRunningWorld(2)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { minReadySeconds: 30 } })
    await world.pass(1000)
    expect(await world.status()).toMatchObject({ numberReady: 2, numberUnavailable: 2 })
    await world.pass(60_000)
    expect(await world.status()).toMatchObject({ numberReady: 2, numberAvailable: 2 })
  })

  it('distinguishes several DaemonSets', async () => {
    const world = await createRunningWorld(3)
    await world.admin.create(resources.daemonSets, daemonSet({ name: 'other' }))
    await world.settled('other')
    await world.setImage('agent:v2', 'other')
    await world.settled('other')
    expect((await world.pods()).filter((pod) => imageOf(pod) === 'agent:v1')).toHaveLength(3)
  })
})

describe('deletion', () => {
  it('deletes pods and revisions in the background', async () => {
    const world = await createRunningWorld(3)
    await world.admin.delete(resources.daemonSets, 'agent', namespace)
    await world.pass(5000)
    expect(await remains(world)).toEqual([0, 0, 0])
  })

  it('waits for the pods in the foreground', async () => {
    const world = await createRunningWorld(3)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Foreground' })
    await world.pass(100)
    expect((await world.get(resources.daemonSets, 'agent', namespace)).metadata.finalizers).toEqual(['foregroundDeletion'])
    await world.pass(5000)
    expect(await remains(world)).toEqual([0, 0, 0])
  })

  it('leaves pods and revisions behind as orphans', async () => {
    const world = await createRunningWorld(3)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Orphan' })
    await world.pass(5000)
    expect(await remains(world)).toEqual([0, 3, 1])
    expect((await world.pods()).map(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([[], [], []])
  })

  it('ignores orphans even if the watch is late', async () => {
    const faults: FaultInjector = {
      onEvent: ({ actor, resource, type }) =>
        actor === 'garbage-collector' && resource.resource === 'pods' && type === 'MODIFIED' ? { kind: 'delay', ms: 500 } : undefined,
    }
    const world = await createRunningWorld(3, {}, { faults })
    await world.pass(5000)
    await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Orphan' })
    await world.pass(5000)
    expect(await remains(world)).toEqual([0, 3, 1])
  })

  it('empties a namespace before it is removed', async () => {
    const world = await createRunningWorld(2)
    await world.admin.delete(resources.namespaces, namespace, undefined)
    await world.pass(10_000)
    expect((await world.admin.list(resources.namespaces)).items.map(({ metadata }) => metadata.name)).not.toContain(namespace)
    expect(await remains(world)).toEqual([0, 0, 0])
  })

  it('53 does nothing for a DaemonSet that is being deleted', async () => {
    const world = await createRunningWorld(2)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { metadata: { finalizers: ['tests/keep'] } })
    await world.admin.delete(resources.daemonSets, 'agent', namespace)
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace)
    await world.pass(5000)
    expect(await world.pods()).toHaveLength(1)
  })
})

async function remains(world: World): Promise<readonly number[]> {
  const ids = [resources.daemonSets, resources.pods, resources.controllerRevisions]
  return Promise.all(ids.map(async (id) => (await world.admin.list(id, { namespace })).items.length))
}

function numberOf(revision: ApiObject): unknown {
  return revision['revision']
}

function statusOf(o: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return o['status'] as Readonly<Record<string, unknown>>
}

function imageOf(pod: ApiObject): string {
  return (pod['spec'] as { readonly containers: readonly { readonly image: string }[] }).containers[0]!.image
}
