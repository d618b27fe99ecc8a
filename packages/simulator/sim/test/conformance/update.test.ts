import { type Admission, type ApiObject, ApiStatusError, type FaultInjector, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, type Line, namespace, unexpected, type World } from '../harness.ts'
import { mostDown as mostNodesDown } from '../histories.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

const rolling = (maxUnavailable: number | string): object => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
})
const onDelete = { updateStrategy: { type: 'OnDelete' } }

describe('a rolling update', () => {
  it('68 replaces every pod, as many at a time as maxUnavailable', async () => {
    const world = await createRunningWorld(5, { spec: rolling(2) })
    const before = names(await world.pods())
    await world.setImage('agent:v2')
    await world.settled()
    expect(names(await world.pods()).filter((name) => before.includes(name))).toEqual([])
    expect(mostDown(world)).toBe(2)
  })

  it('69 stops when the new pods do not become ready', async () => {
    const world = await createRunningWorld(5, { spec: rolling(3) })
    await world.setImage('agent:v2-bad-ready')
    await world.pass(120_000)
    expect(images(await world.pods())).toEqual(['v1', 'v1', 'v2-bad-ready', 'v2-bad-ready', 'v2-bad-ready'])
    expect(await world.status()).toMatchObject({ updatedNumberScheduled: 3, numberUnavailable: 3 })
  })

  it('70 replaces all old pods at once when none is ready', async () => {
    const world = await createRunningWorldOf('agent:v1-bad-ready', 5, rolling(3))
    const deletions = world.recording().length
    await world.setImage('agent:v2')
    await world.settled()
    expect(new Set(deletionTimes(world.recording().slice(deletions))).size).toBe(1)
  })

  it('71 replaces only the unready old pod if it uses up the limit', async () => {
    const world = await createRunningWorld(3, { spec: rolling(1), annotations: { 'sim.tranche.dev/start-ms': '60000' } })
    await unready(world, 'node-002')
    await world.setImage('agent:v2')
    await world.pass(5000)
    expect(images(await world.pods())).toEqual(['v1', 'v1', 'v2'])
    expect(imageOn(await world.pods(), 'node-002')).toBe('v2')
  })

  it('72 does nothing when only the strategy changes', async () => {
    const world = await createRunningWorld(3, { spec: onDelete })
    const before = names(await world.pods())
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: rolling(1) })
    await world.pass(10_000)
    expect(names(await world.pods())).toEqual(before)
    expect(await world.status()).toMatchObject({ observedGeneration: 2 })
    expect(await world.revisions()).toHaveLength(1)
  })

  it('78 writes revision 2, and the pods carry its hash', async () => {
    const world = await createRunningWorld(4)
    await world.setImage('agent:v2')
    await world.settled()
    const [, second] = await world.revisions()
    expect(second).toMatchObject({ revision: 2 })
    const hash = second!.metadata.labels!['controller-revision-hash']
    expect((await world.pods()).map(({ metadata }) => metadata.labels!['controller-revision-hash'])).toEqual([hash, hash, hash, hash])
    expect(mostDown(world)).toBe(1)
  })

  it('80 rolls back without a restart of pods that were never updated', async () => {
    const world = await createRunningWorld(5, { spec: rolling(2) })
    await world.setImage('agent:v2-bad-pull')
    await world.pass(10_000)
    const untouched = (await world.pods()).filter((pod) => imageOf(pod) === 'v1')
    expect(untouched).toHaveLength(3)
    await world.setImage('agent:v1')
    await world.settled()
    expect(names(await world.pods())).toEqual(expect.arrayContaining([...names(untouched)]))
  })

  it('rolls over to a third template in the middle', async () => {
    const world = await createRunningWorld(5, { spec: rolling(2) })
    await world.setImage('agent:v2')
    await world.pass(1000)
    await world.setImage('agent:v3')
    await world.settled()
    expect(images(await world.pods())).toEqual(['v3', 'v3', 'v3', 'v3', 'v3'])
    expect(mostDown(world)).toBeLessThanOrEqual(2)
  })

  it('stalls on dead nodes that use up the limit, and ends when they are back', async () => {
    const world = await createRunningWorld(4)
    await world.sim.nodes.kill('node-003')
    await world.pass(60_000)
    const node = await world.get(resources.nodes, 'node-003')
    expect((node['spec'] as { readonly taints: unknown }).taints).toHaveLength(2)
    await world.setImage('agent:v2')
    await world.pass(60_000)
    expect(images(await world.pods())).toEqual(['v1', 'v1', 'v1', 'v1'])
    await world.sim.nodes.revive('node-003')
    await world.settled()
    expect(images(await world.pods())).toEqual(['v2', 'v2', 'v2', 'v2'])
    await world.pass(1000)
    expect((await world.get(resources.nodes, 'node-003'))['spec']).not.toHaveProperty('taints[0]')
  })

  it('rounds a percentage up', async () => {
    const world = await createRunningWorld(5, { spec: rolling('30%') })
    await world.setImage('agent:v2')
    await world.settled()
    expect(mostDown(world)).toBe(2)
  })

  it('waits for minReadySeconds before it continues', async () => {
    const world = await createRunningWorld(3, { spec: { ...rolling(1), minReadySeconds: 5 } })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.settled()
    const times = deletionTimes(world.recording().slice(from))
    expect(times).toHaveLength(3)
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(5000)
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(5000)
  })
})

describe('OnDelete', () => {
  it('79 leaves the pods alone and records revision 2', async () => {
    const world = await createRunningWorld(3, { spec: onDelete })
    const before = await world.pods()
    await world.setImage('agent:v2')
    await world.pass(10_000)
    expect(names(await world.pods())).toEqual(names(before))
    expect(images(await world.pods())).toEqual(['v1', 'v1', 'v1'])
    expect((await world.revisions()).map((one) => one['revision'])).toEqual([1, 2])
    expect(await world.status()).toMatchObject({ observedGeneration: 2, numberAvailable: 3 })
  })

  it('gives a deleted pod the new template', async () => {
    const world = await createRunningWorld(3, { spec: onDelete })
    await world.setImage('agent:v2')
    await world.pass(1000)
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace)
    await world.pass(5000)
    expect(images(await world.pods())).toEqual(['v1', 'v1', 'v2'])
    expect(await world.status()).toMatchObject({ updatedNumberScheduled: 1, numberAvailable: 3 })
  })

  it('becomes a rolling update as soon as the strategy says so', async () => {
    const world = await createRunningWorld(3, { spec: onDelete })
    await world.setImage('agent:v2')
    await world.pass(1000)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: rolling(1) })
    await world.settled()
    expect(images(await world.pods())).toEqual(['v2', 'v2', 'v2'])
    expect(await world.revisions()).toHaveLength(2)
  })

  it('stops a rolling update in the middle', async () => {
    const world = await createRunningWorld(6)
    await world.setImage('agent:v2')
    await world.pass(2000)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, {
      spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
    })
    await world.pass(5000)
    const halfway = images(await world.pods())
    await world.pass(60_000)
    expect(images(await world.pods())).toEqual(halfway)
    expect(new Set(halfway)).toEqual(new Set(['v1', 'v2']))
  })
})

describe('failures', () => {
  it('41 spaces the deletions of pods that fail again and again', async () => {
    const world = await createRunningWorld(1)
    const times: number[] = []
    for (let round = 0; round < 4; round++) {
      const [pod] = await world.pods()
      await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { phase: 'Failed' } }, 'status')
      const from = world.sim.clock.monotonicMs()
      await world.until(() => world.recording().some(({ uid, type }) => uid === pod!.metadata.uid && type === 'DELETED'))
      times.push(world.sim.clock.monotonicMs() - from)
      await world.settled()
      await world.pass(100)
    }
    expect(times[0]).toBeLessThan(100)
    expect(times[3]).toBeGreaterThan(1000)
  })

  it('47 stops creating pods soon after creations begin to fail', async () => {
    let created = 0
    const error = new ApiStatusError(403, 'Forbidden', 'pods is forbidden: exceeded quota')
    const admit: Admission = {
      handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'pods',
      admit: () => (++created <= 10 ? { allowed: true } : { allowed: false, error }),
    }
    const world = await createWorld({ nodes: 100, admit, onError: () => {} })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.until(() => created > 10)
    expect(created).toBeLessThanOrEqual(15)
    await world.pass(1)
    expect(await world.pods()).toHaveLength(10)
    await world.pass(100)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 100, currentNumberScheduled: 10, updatedNumberScheduled: 10 })
  })

  it('40 deletes a failed pod of an old template once', async () => {
    const deleted: (string | undefined)[] = []
    const faults: FaultInjector = {
      onRequest({ actor, verb, resource, name }) {
        if (actor === 'daemonset-controller' && verb === 'delete' && resource.resource === 'pods') deleted.push(name)
        return undefined
      },
    }
    const world = await createRunningWorld(2, { spec: onDelete }, { faults })
    await world.setImage('agent:v2')
    await world.pass(1000)
    const [pod] = await world.pods()
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { phase: 'Failed', conditions: [] } }, 'status')
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: rolling(1) })
    await world.settled()
    expect(deleted.filter((name) => name === pod!.metadata.name)).toHaveLength(1)
  })

  it('48 waits five minutes for unobserved creations, and does not observe a new generation meanwhile', async () => {
    let refused = 0
    const error = new ApiStatusError(403, 'Forbidden', 'the namespace is being terminated', {
      causes: [{ reason: 'NamespaceTerminating', message: 'the namespace is being terminated' }],
    })
    const admit: Admission = {
      handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'pods',
      admit: () => (++refused <= 2 ? { allowed: false, error } : { allowed: true }),
    }
    const world = await createWorld({ nodes: 2, admit })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(1000)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { minReadySeconds: 1 } })
    await world.pass(290_000)
    expect(refused).toBe(2)
    expect(await world.status()).toMatchObject({ observedGeneration: 1 })
    await world.pass(10_000)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { metadata: { labels: { poke: 'yes' } } })
    await world.settled()
  })

  it('42 replaces a pod whose phase is set to Failed', async () => {
    const world = await createRunningWorld(2)
    const [pod] = await world.pods()
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { phase: 'Failed' } }, 'status')
    await world.pass(5000)
    expect(names(await world.pods())).not.toContain(pod!.metadata.name)
    await world.settled()
  })
})

async function createRunningWorldOf(image: string, nodes: number, spec: object): Promise<World> {
  const world = await createWorld({ nodes })
  await world.sim.start()
  await world.admin.create(resources.daemonSets, daemonSet({ spec, podSpec: { containers: [{ name: 'agent', image }] } }))
  await world.pass(20_000)
  return world
}

async function unready(world: World, nodeName: string): Promise<void> {
  const pod = (await world.pods()).find((one) => nodeOf(one) === nodeName)!
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2023-01-01T00:00:00Z' }]
  await world.admin.patch(resources.pods, pod.metadata.name, namespace, { status: { conditions } }, 'status')
  await world.pass(100)
}

function mostDown(world: World): number {
  const lines = world.recording()
  return mostNodesDown(
    lines,
    lines.findIndex(({ kind, o }) => kind === 'DaemonSet' && Number(o['generation']) > 1),
  )
}

function deletionTimes(lines: readonly Line[]): readonly number[] {
  return lines
    .filter(({ kind, actor, verb, type }) => kind === 'Pod' && actor === 'daemonset-controller' && verb === 'delete' && type === 'MODIFIED')
    .map(({ t }) => t)
}

function names(pods: readonly ApiObject[]): readonly string[] {
  return pods.map(({ metadata }) => metadata.name).sort()
}

function images(pods: readonly ApiObject[]): readonly string[] {
  return pods.map(imageOf).sort()
}

function imageOn(pods: readonly ApiObject[], nodeName: string): string {
  return imageOf(pods.find((pod) => nodeOf(pod) === nodeName)!)
}

function imageOf(pod: ApiObject): string {
  return (pod['spec'] as { readonly containers: readonly { readonly image: string }[] }).containers[0]!.image.split(':')[1]!
}

function nodeOf(pod: ApiObject): unknown {
  return (pod['spec'] as { readonly nodeName?: string }).nodeName
}
