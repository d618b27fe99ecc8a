import type { VirtualClock } from '@tranche/clock'
import type { RecordedDelivery, RecordedWrite } from '@tranche/recording'
import { createSimulator, project, recordEntries } from '@tranche/sim'
import { type ApiObject, resources } from '@tranche/sim-api'
import { bodyText } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, namespace, unexpected } from './harness.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

describe('a run in virtual time', () => {
  const run = async (seed: number): Promise<readonly string[]> => {
    const world = await createRunningWorld(20, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 3 } } } }, { seed })
    await world.setImage('agent:v2')
    await world.settled()
    return world.lines
  }

  it('is the same for the same seed, line by line', async () => {
    const [first, second] = [await run(7), await run(7)]
    expect(first.length).toBeGreaterThan(200)
    expect(second).toEqual(first)
  })

  it('differs for another seed', async () => {
    expect(await run(8)).not.toEqual(await run(7))
  })

  it('updates 300 nodes', async () => {
    const world = await createRunningWorld(300, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 20 } } } })
    await world.setImage('agent:v2')
    await world.settled()
    expect(await world.status()).toMatchObject({ updatedNumberScheduled: 300, numberAvailable: 300 })
  })
})

describe('speed', () => {
  it('divides the durations of kubelets', async () => {
    const startMs = async (speed: number): Promise<number> => {
      const world = await createRunningWorld(
        1,
        { annotations: { 'sim.tranche.dev/start-ms': '10000', 'sim.tranche.dev/jitter-ms': '0' } },
        { speed },
      )
      const at = (test: (o: Readonly<Record<string, unknown>>) => boolean): number =>
        world.recording().find(({ kind, o }) => kind === 'Pod' && test(o))!.t
      return at(({ ready }) => ready === true) - at(({ bound }) => bound === true)
    }
    expect(Math.round((await startMs(1)) / 1000)).toBe(10)
    expect(Math.round((await startMs(10)) / 100)).toBe(10)
  })
})

describe('the recording', () => {
  it('records the actor and the object of every accepted write', async () => {
    const world = await createRunningWorld(1)
    const pods = world.recording().filter(({ kind }) => kind === 'Pod')
    expect(pods.map(({ type, actor, verb }) => `${type} ${verb} ${actor}`)).toEqual([
      'ADDED create daemonset-controller',
      'MODIFIED create default-scheduler',
      'MODIFIED patch kubelet:node-001',
      'MODIFIED patch kubelet:node-001',
    ])
    expect(pods.at(-1)).toMatchObject({
      resource: 'pods/status',
      namespace,
      node: 'node-001',
      rv: expect.any(Number),
      o: { ready: true, phase: 'Running' },
    })
    const times = world.recording().map(({ t }) => t)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('keeps the fields of a pod that matter for a rollout', async () => {
    const world = await createRunningWorld(1)
    const [pod] = await world.pods()
    expect(project(pod!)).toEqual({
      name: pod!.metadata.name,
      uid: pod!.metadata.uid,
      owner: 'agent',
      ownerUid: pod!.metadata.ownerReferences?.[0]?.uid,
      created: pod!.metadata.creationTimestamp,
      node: 'node-001',
      bound: true,
      hash: pod!.metadata.labels!['controller-revision-hash'],
      gen: '1',
      phase: 'Running',
      ready: true,
      readyAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      deleting: false,
      images: ['agent:v1'],
      waiting: undefined,
      restarts: 0,
    })
  })

  it('keeps the fields of DaemonSet, node and revision that matter for a rollout, and other objects whole', async () => {
    const world = await createRunningWorld(1)
    const fields = async (object: Promise<ApiObject>): Promise<readonly string[]> => Object.keys(project(await object)).sort()
    const ofDaemonSets =
      'annotations collisions deleting generation labels minReadySeconds name observed placement rest status strategy template uid'
    expect(await fields(world.get(resources.daemonSets, 'agent', namespace))).toEqual(ofDaemonSets.split(' '))
    expect(await fields(world.get(resources.nodes, 'node-001'))).toEqual(['deleting', 'labels', 'name', 'ready', 'taints', 'unschedulable'])
    expect(await fields(world.revisions().then(([revision]) => revision!))).toEqual([
      'hash',
      'name',
      'owner',
      'ownerUid',
      'revision',
      'template',
      'uid',
    ])
    const config = await world.admin.create(resources.configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace },
    })
    expect(project(config)).toBe(config)
  })

  it('records the same digest for a template in the DaemonSet and in its revision, and another one for another template', async () => {
    const world = await createRunningWorld(1)
    await world.setImage('agent:v2')
    await world.settled()
    const digests = (kind: string): readonly unknown[] => [
      ...new Set(
        world
          .recording()
          .filter((write) => write.kind === kind && write.o['template'] !== undefined)
          .map(({ o }) => o['template']),
      ),
    ]
    expect(digests('DaemonSet')).toHaveLength(2)
    expect(digests('ControllerRevision')).toEqual(digests('DaemonSet'))
  })

  it('records the preconditions and the arrival time of a write', async () => {
    const world = await createRunningWorld(1)
    const [pod] = await world.pods()
    const { name, uid, resourceVersion } = pod!.metadata
    world.sim.server.useFaults({ onRequest: ({ verb }) => (verb === 'delete' ? { kind: 'delay', when: 'before', ms: 700 } : undefined) })
    const deleted = world.admin.delete(resources.pods, name, namespace, { preconditions: { uid, resourceVersion } })
    await world.pass(1000)
    await deleted
    const write = world.recording().find(({ verb, o }) => verb === 'delete' && o['uid'] === uid)!
    expect(write.preconditions).toEqual({ uid, resourceVersion })
    expect(write.t - write.sent!).toBeCloseTo(700)

    const { resourceVersion: read } = (await world.get(resources.daemonSets, 'agent', namespace)).metadata
    const test = { op: 'test', path: '/metadata/resourceVersion', value: read }
    const patch = [test, { op: 'add', path: '/metadata/labels', value: { a: 'b' } }]
    const { metadata } = await world.admin.patch(resources.daemonSets, 'agent', namespace, patch)
    expect(world.recording().find(({ rv }) => rv === Number(metadata.resourceVersion))?.basedOn).toBe(Number(read))
  })

  it('records the deliveries to selected watches, with their times', async () => {
    const entries: (RecordedWrite | RecordedDelivery)[] = []
    const { sim, pass } = await createWorld({ watchDelayMs: { min: 30, max: 30 } })
    const { clock } = sim
    recordEntries(sim.server, clock, (entry) => entries.push(entry), { deliveriesTo: (actor) => actor === 'reader' })
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' } }
    const created = await sim.clientFor({ name: 'writer' }).create(resources.configMaps, config)
    const watching = sim.clientFor({ name: 'reader' }).watch(resources.configMaps, {}, () => {})
    await pass(100)
    const patched = await sim.clientFor({ name: 'writer' }).patch(resources.configMaps, 'c', 'default', { data: { a: 'b' } })
    await pass(100)
    watching.stop()
    const writtenMs = entries.find((entry) => entry.rv === Number(patched.metadata.resourceVersion))!.t
    expect(entries.filter((entry) => 'to' in entry)).toEqual([
      { t: expect.any(Number), to: 'reader', of: 'configmaps', rv: Number(created.metadata.resourceVersion) },
      { t: writtenMs + 30, to: 'reader', of: 'configmaps', rv: Number(patched.metadata.resourceVersion) },
    ])
  })
})

describe('a simulator', () => {
  it('answers HTTP in process', async () => {
    const world = await createWorld({ nodes: 3 })
    await world.sim.start()
    const { signal } = new AbortController()
    const response = await world.sim.exchangeFor('someone')({ method: 'GET', path: '/api/v1/nodes', headers: {} }, signal)
    expect(response.status).toBe(200)
    expect((JSON.parse(await bodyText(response)) as { readonly items: readonly unknown[] }).items).toHaveLength(3)
  })

  it('records the user of HTTP requests', async () => {
    const world = await createWorld()
    const { signal } = new AbortController()
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } })
    const headers = { 'content-type': 'application/json' }
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const response = await world.sim.exchangeFor('someone')({ method: 'POST', path, headers, body }, signal)
    expect(response.status).toBe(201)
    expect(world.recording().at(-1)).toMatchObject({ kind: 'ConfigMap', actor: 'someone', verb: 'create' })
  })

  it('refuses to touch machines before it has started', async () => {
    const sim = createSimulator({ clock: 'virtual', nodes: 1 })
    await expect(sim.nodes.kill('node-001')).rejects.toThrow('has not started')
  })

  it('is quiet after it is stopped', async () => {
    const world = await createRunningWorld(2)
    world.sim.stop()
    await world.setImage('agent:v2')
    const lines = world.lines.length
    await (world.sim.clock as VirtualClock).run()
    expect(world.lines.length).toBe(lines)
  })
})
