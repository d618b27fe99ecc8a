import { type ApiObject, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, namespace, unexpected, type World } from './harness.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

describe('a node that is silent', () => {
  it('loses pods after their toleration, and keeps those of DaemonSets', async () => {
    const world = await createRunningWorld(2)
    await addPod(world, 'web', 'node-001')
    await addPod(world, 'hasty', 'node-001', {
      tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 5 }],
    })
    await world.pass(2000)
    await world.sim.nodes.kill('node-001')
    await world.pass(44_000)
    expect(await goingOn(world, 'node-001')).toEqual([])
    await world.pass(3000)
    expect(await goingOn(world, 'node-001')).toEqual(['hasty'])
    await world.pass(300_000)
    expect(await goingOn(world, 'node-001')).toEqual(['hasty', 'web'])
    expect(conditionOf(await world.get(resources.pods, 'web', namespace), 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    })
    await world.sim.nodes.revive('node-001')
    await world.pass(3000)
    expect((await world.pods()).map(({ metadata }) => metadata.labels?.['app'])).toEqual(['agent', 'agent'])
  })

  it('keeps its pods if it is back in time', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await addPod(world, 'web', 'node-001')
    await world.pass(2000)
    await world.sim.nodes.kill('node-001')
    await world.pass(100_000)
    await world.sim.nodes.revive('node-001')
    await world.pass(600_000)
    expect(await goingOn(world, 'node-001')).toEqual([])
    const { items } = await world.admin.list(resources.events, { namespace })
    expect(items.map((event) => event['message'])).toContain(`Cancelling deletion of Pod ${namespace}/web`)
  })

  it('releases terminating pods once it is marked as out of service', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await addPod(world, 'web', 'node-001')
    await world.pass(2000)
    await world.sim.nodes.kill('node-001')
    await world.pass(50_000)
    await world.admin.delete(resources.pods, 'web', namespace)
    await world.pass(60_000)
    expect(await goingOn(world, 'node-001')).toEqual(['web'])
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute', value: 'nodeshutdown' }]
    await world.admin.patch(resources.nodes, 'node-001', undefined, { spec: { taints } })
    await world.pass(25_000)
    expect(await world.pods()).toEqual([])
  })
})

describe('the pod collector', () => {
  it('records in a pod that it is removed because its node is gone', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await addPod(world, 'web', 'node-001')
    await world.pass(2000)
    await world.sim.nodes.removeNode('node-001')
    await world.pass(70_000)
    const last = world.recording().filter(({ kind, type }) => kind === 'Pod' && type === 'MODIFIED')
    expect(last.at(-1)).toMatchObject({ actor: 'pod-garbage-collector', o: { phase: 'Failed' } })
    expect(await world.pods()).toEqual([])
  })

  it('removes terminating pods that were never bound', async () => {
    const world = await createWorld()
    await world.sim.start()
    await addPod(world, 'web', undefined, { schedulerName: 'other' }, ['example.com/hold'])
    await world.admin.delete(resources.pods, 'web', namespace)
    await world.pass(25_000)
    expect(world.recording().at(-1)).toMatchObject({ actor: 'pod-garbage-collector', o: { name: 'web', phase: 'Failed', deleting: true } })
  })
})

describe('a kubelet', () => {
  it.each<[name: string, spec: object, reason: string, message: string]>([
    [
      'has too little of',
      { containers: [{ name: 'main', image: 'main:v1', resources: { requests: { cpu: '9' } } }] },
      'OutOfcpu',
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 8000",
    ],
    [
      'does not match',
      { nodeSelector: { zone: 'elsewhere' } },
      'NodeAffinity',
      "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'has no port for',
      { containers: [{ name: 'main', image: 'main:v1', ports: [{ containerPort: 80, hostPort: 80 }] }] },
      'NodePorts',
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
  ])('rejects a pod that was bound to a node which %s it', async (_name, spec, reason, message) => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await addPod(world, 'first', 'node-001', {
      containers: [{ name: 'main', image: 'main:v1', ports: [{ containerPort: 80, hostPort: 80 }] }],
    })
    await world.pass(2000)
    await addPod(world, 'web', 'node-001', spec)
    await world.pass(2000)
    expect((await world.get(resources.pods, 'web', namespace))['status']).toMatchObject({ phase: 'Failed', reason, message })
  })

  it('records that each time it rejects a pod of the same name', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    for (const _ of ['first', 'second']) {
      await addPod(world, 'web', 'node-001', { nodeSelector: { zone: 'elsewhere' } })
      await world.pass(2000)
      await world.admin.delete(resources.pods, 'web', namespace, { gracePeriodSeconds: 0 })
    }
    const { items } = await world.admin.list(resources.events, { namespace })
    expect(items.filter((event) => event['reason'] === 'NodeAffinity')).toHaveLength(2)
  })

  it('rejects a changing pod once', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await addPod(world, 'web', 'node-001', { nodeSelector: { zone: 'elsewhere' } })
    await world.admin.patch(resources.pods, 'web', namespace, { metadata: { labels: { changed: 'yes' } } })
    await world.pass(2000)
    const { items } = await world.admin.list(resources.events, { namespace })
    expect(items.filter((event) => event['reason'] === 'NodeAffinity').map((event) => event['count'])).toEqual([1])
  })

  it('renews the Lease of its node every ten seconds while it lives', async () => {
    const world = await createWorld({ nodes: 2, heartbeats: true })
    await world.sim.start()
    await world.pass(25_000)
    const lease = await world.get(resources.leases, 'node-001', 'kube-node-lease')
    expect(lease).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'node-001' }] },
      spec: { holderIdentity: 'node-001', leaseDurationSeconds: 40, renewTime: expect.stringMatching(/\.\d{6}Z$/) },
    })
    await world.sim.nodes.kill('node-001')
    await world.pass(30_000)
    expect((await world.get(resources.leases, 'node-001', 'kube-node-lease'))['spec']).toEqual(lease['spec'])
    world.sim.stop()
  })

  it('and the node controller leave the conditions of other programs as they are', async () => {
    const world = await createWorld({ nodes: 1, heartbeats: true })
    await world.sim.start()
    const condition = { type: 'DrainInProgress', status: 'True', reason: 'NodeMaintenance', lastHeartbeatTime: '2023-01-01T00:00:00Z' }
    await world.admin.patch(resources.nodes, 'node-001', undefined, { status: { conditions: [condition] } }, 'status')
    const drain = async (): Promise<unknown> => {
      const { status } = (await world.get(resources.nodes, 'node-001')) as { readonly status?: { readonly conditions?: readonly object[] } }
      return status?.conditions?.find((one) => (one as typeof condition).type === condition.type)
    }
    await world.pass(700_000)
    expect(await drain()).toEqual(condition)
    await world.sim.nodes.kill('node-001')
    await world.pass(60_000)
    expect(await drain()).toEqual(condition)
    await world.sim.nodes.revive('node-001')
    await world.pass(10_000)
    expect(await drain()).toEqual(condition)
    world.sim.stop()
  })

  it('costs at most fifty renewals a second, however many nodes there are', async () => {
    const world = await createWorld({ nodes: 1000, heartbeats: true })
    await world.sim.start()
    await world.pass(2000)
    const before = world.lines.length
    await world.pass(10_000)
    expect(world.lines.length - before).toBeLessThanOrEqual(500)
    const { items } = await world.admin.list(resources.leases, { namespace: 'kube-node-lease' })
    expect(items[0]!['spec']).toMatchObject({ leaseDurationSeconds: 80 })
    world.sim.stop()
  })
})

async function addPod(
  world: World,
  name: string,
  nodeName: string | undefined,
  spec: object = {},
  finalizers: readonly string[] = [],
): Promise<void> {
  const containers = [{ name: 'main', image: 'main:v1' }]
  await world.admin.create(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, finalizers },
    spec: { ...(nodeName && { nodeName }), containers, ...spec },
  })
}

async function goingOn(world: World, nodeName: string): Promise<readonly string[]> {
  const { items } = await world.admin.list(resources.pods, { namespace, fieldSelector: `spec.nodeName=${nodeName}` })
  return items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name)
}

function conditionOf(pod: ApiObject, type: string): unknown {
  const { conditions = [] } = pod['status'] as { readonly conditions?: readonly { readonly type: string }[] }
  return conditions.find((condition) => condition.type === type)
}
