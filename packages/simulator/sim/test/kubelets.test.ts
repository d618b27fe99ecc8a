import { type ApiObject, ApiStatusError, type FaultInjector, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, namespace, unexpected, type World } from './harness.ts'

/** @see core/v1 Pod */
interface HelperPodStatus {
  readonly status?: { readonly containerStatuses?: readonly { readonly state?: { readonly waiting?: { readonly reason?: string } } }[] }
}

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

describe('a kubelet', () => {
  it('keeps its timeline despite patches of other clients', async () => {
    const started = async (disturb: (world: World) => Promise<void>): Promise<number> => {
      const world = await createWorld({ nodes: 1 })
      await world.sim.start()
      await world.admin.create(resources.daemonSets, daemonSet({ annotations: { 'sim.tranche.dev/start-ms': '5000' } }))
      await world.pass(2000)
      await disturb(world)
      await world.settled()
      return world.recording().find(({ kind, o }) => kind === 'Pod' && o['ready'] === true)!.t
    }
    const undisturbed = await started(async () => {})
    const disturbed = await started(async (world) => {
      const [pod] = await world.pods()
      await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { metadata: { labels: { touched: 'yes' } } })
    })
    expect(disturbed).toBe(undisturbed)
  })

  it('pulls the image of a container that must not run as root and would, and never starts it', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    const securityContext = { runAsNonRoot: true, runAsUser: 0 }
    const pod = {
      metadata: { name: 'helper', namespace },
      spec: { nodeName: 'node-001', containers: [{ name: 'main', image: 'agent:v2-pull20s', securityContext }] },
    }
    const reason = async (): Promise<unknown> => {
      const { status } = (await world.admin.get(resources.pods, 'helper', namespace)) as unknown as HelperPodStatus
      return status?.containerStatuses?.[0]?.state?.waiting?.reason
    }
    await world.admin.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', ...pod } as never)
    await world.pass(15_000)
    expect(await reason()).toBe('ContainerCreating')
    await world.pass(10_000)
    expect(await reason()).toBe('CreateContainerConfigError')
    await world.pass(600_000)
    expect(await reason()).toBe('CreateContainerConfigError')
  })

  it('starts a pod that could not be pulled at the next attempt after its node reaches the registry again', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    const reach = async (isReached: boolean): Promise<void> => {
      const annotations = { 'sim.tranche.dev/no-registry': isReached ? null : 'true' }
      await world.admin.patch(resources.nodes, 'node-001', '', { metadata: { annotations } })
    }
    const reason = async (): Promise<unknown> => {
      const [pod] = await world.pods()
      return (pod as unknown as HelperPodStatus).status?.containerStatuses?.[0]?.state?.waiting?.reason
    }
    await reach(false)
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(60_000)
    expect(await reason()).toBe('ImagePullBackOff')
    await reach(true)
    await world.pass(1_000)
    expect(await reason()).toBe('ImagePullBackOff')
    await world.pass(60_000)
    expect(await reason()).toBeUndefined()
    expect((await world.pods()).map((pod) => (pod as { readonly status?: { readonly phase?: string } }).status?.phase)).toEqual(['Running'])
  })

  it('starts a pod at once whose image another pod has pulled', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    const podSpec = { containers: [{ name: 'agent', image: 'agent:v2-pull20s' }] }
    await world.admin.create(resources.daemonSets, daemonSet({ podSpec }))
    await world.pass(30_000)
    const [first] = await world.pods()
    await world.admin.delete(resources.pods, first!.metadata.name, namespace)
    await world.pass(5_000)
    const ready = world.recording().filter(({ kind, o }) => kind === 'Pod' && o['ready'] === true && o['uid'] !== first!.metadata.uid)
    expect(ready.length).toBeGreaterThan(0)
  })

  it.each<[tag: string, want: readonly string[]]>([
    ['v1', []],
    [
      'v1-bad-pull',
      [
        'Warning Failed Failed to pull image "agent:v1-bad-pull"',
        'Warning Failed Error: ErrImagePull',
        'Normal BackOff Back-off pulling image "agent:v1-bad-pull"',
        'Warning Failed Error: ImagePullBackOff',
      ],
    ],
    ['v1-bad-config', ["Warning Failed Error: couldn't find key in ConfigMap"]],
    ['v1-bad-crash', ['Warning BackOff Back-off restarting failed container agent in pod POD_demo(UID)']],
    [
      'v1-bad-start',
      [
        'Warning Failed Error: exec: "agent": executable file not found in $PATH',
        'Warning BackOff Back-off restarting failed container agent in pod POD_demo(UID)',
      ],
    ],
    ['v1-bad-ready', ['Warning Unhealthy Readiness probe failed: the tag of the image wants it so']],
  ])('reports failures in events, and no successes: %s', async (tag, want) => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet({ podSpec: { containers: [{ name: 'agent', image: `agent:${tag}` }] } }))
    await world.pass(5_000)
    const [pod] = await world.pods()
    const { items } = await world.admin.list(resources.events, { namespace })
    const said = items
      .filter((event) => (event['source'] as { readonly component: string }).component === 'kubelet')
      .map((event) => `${event['type']} ${event['reason']} ${event['message']}`)
    expect(said.map((text) => text.replace(pod!.metadata.name, 'POD').replace(pod!.metadata.uid, 'UID'))).toEqual(want)
  })

  it('also reports a failure of a pod that had a namesake on another node', async () => {
    const world = await createWorld({ nodes: 2 })
    await world.sim.start()
    const said: number[] = []
    for (const nodeName of ['node-001', 'node-002']) {
      const spec = { nodeName, containers: [{ name: 'agent', image: 'agent:bad-config' }] }
      const { metadata } = await world.admin.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'solo', namespace },
        spec,
      })
      await world.pass(5_000)
      const { items } = await world.admin.list(resources.events, { namespace })
      said.push(items.filter((event) => (event['involvedObject'] as { readonly uid: string }).uid === metadata.uid).length)
      await world.admin.delete(resources.pods, 'solo', namespace, { gracePeriodSeconds: 0 })
      await world.pass(1_000)
    }
    expect(said).toEqual([1, 1])
  })

  it('fails init containers if a pod has some, and crashes at once otherwise', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    const containers = [{ name: 'agent', image: 'agent:v1' }]
    const first = [{ name: 'first', image: 'first:bad-init' }]
    await world.admin.create(resources.daemonSets, daemonSet({ podSpec: { initContainers: first, containers } }))
    await world.pass(5_000)
    const [pod] = await world.pods()
    expect(pod!.status).toMatchObject({
      phase: 'Pending',
      initContainerStatuses: [{ name: 'first', restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      containerStatuses: [{ name: 'agent', restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } }],
    })
    expect(world.recording().findLast(({ kind }) => kind === 'Pod')!.o).toMatchObject({ waiting: 'CrashLoopBackOff' })
    await world.setImage('agent:bad-init')
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { template: { spec: { initContainers: null } } } })
    await world.pass(5_000)
    expect((await world.pods())[0]!.status).toMatchObject({ containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] })
  })

  it('reports that its node is unhealthy while a pod on it breaks it', async () => {
    const world = await createRunningWorld(2, { annotations: { 'sim.tranche.dev/bad-nodes': 'node-001' } })
    const readiness = async (): Promise<readonly (string | undefined)[]> => {
      const { items } = await world.admin.list(resources.nodes)
      return items.map((node) => conditionsOf(node).find(({ type }) => type === 'Ready')?.status)
    }
    await world.setImage('agent:v2-bad-node')
    await world.pass(20_000)
    expect(await readiness()).toEqual(['False', 'True'])
    await world.setImage('agent:v3')
    await world.pass(20_000)
    expect(await readiness()).toEqual(['True', 'True'])
  })

  it('keeps the conditions of other writers', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet({ annotations: { 'sim.tranche.dev/start-ms': '5000' } }))
    await world.pass(1000)
    const [pod] = await world.pods()
    const conditions = [...conditionsOf(pod!), { type: 'example.com/Gate', status: 'True' }]
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { conditions } }, 'status')
    await world.settled()
    const types = conditionsOf((await world.pods())[0]!).map(({ type, status }) => `${type}=${status}`)
    expect(types.sort()).toEqual(['ContainersReady=True', 'Initialized=True', 'PodScheduled=True', 'Ready=True', 'example.com/Gate=True'])
  })

  it.each<[value: string, want: readonly string[]]>([
    ['true', ['ready', 'ready terminating', 'terminating', 'gone']],
    ['false', ['ready', 'ready terminating', 'gone']],
  ])('stops a pod in two phases, term-notready %s', async (value, want) => {
    const world = await createRunningWorld(1, {
      annotations: { 'sim.tranche.dev/term-notready': value, 'sim.tranche.dev/stop-ms': '2000' },
    })
    const [pod] = await world.pods()
    const from = world.recording().length - 1
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace)
    await world.pass(3000)
    const of = world.recording().filter(({ uid }, at) => uid === pod!.metadata.uid && at >= from - 2)
    const steps = of.map(({ type, o }) =>
      type === 'DELETED' ? 'gone' : [o['ready'] && 'ready', o['deleting'] && 'terminating'].filter(Boolean).join(' '),
    )
    expect(steps.filter((step, at) => step !== steps[at - 1] && step !== '')).toEqual(want)
    expect(of.at(-1)!.t - of.find(({ o }) => o['deleting'] === true)!.t).toBeGreaterThanOrEqual(2000)
  })

  it('stops within the grace period', async () => {
    const world = await createRunningWorld(1, { annotations: { 'sim.tranche.dev/stop-ms': '60000' } })
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace, { gracePeriodSeconds: 2 })
    await world.pass(2500)
    expect((await world.pods()).map(({ metadata }) => metadata.name)).not.toContain(pod!.metadata.name)
  })

  it('restarts a crashed container, later each time', async () => {
    const world = await createWorld({ nodes: 1 })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet({ podSpec: { containers: [{ name: 'agent', image: 'agent:v1-bad-oom' }] } }))
    await world.pass(40_000)
    const [pod] = await world.pods()
    expect(pod!['status']).toMatchObject({
      phase: 'Running',
      containerStatuses: [
        {
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
        },
      ],
    })
  })

  it('does not let a late write undo a newer one', async () => {
    let patches = 0
    const faults: FaultInjector = {
      onRequest: ({ actor, verb }) =>
        actor.startsWith('kubelet:') && verb === 'patch' && ++patches === 1 ? { kind: 'delay', ms: 5000, when: 'before' } : undefined,
    }
    const world = await createWorld({ nodes: 1, faults })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(10_000)
    expect((await world.pods())[0]!['status']).toMatchObject({ phase: 'Running', containerStatuses: [{ ready: true }] })
  })

  it('reports again that its pod is ready if the node controller reports otherwise before the response arrives', async () => {
    let isSlow = false
    const faults: FaultInjector = {
      onRequest: ({ actor, verb }) =>
        isSlow && actor.startsWith('kubelet:') && verb === 'patch' ? { kind: 'delay', ms: 5000, when: 'after' } : undefined,
    }
    const world = await createRunningWorld(1, {}, { faults })
    await world.pass(1000)
    isSlow = true
    await world.sim.nodes.kill('node-001')
    await world.sim.nodes.revive('node-001')
    await world.pass(7000)
    const [pod] = await world.pods()
    const conditions = [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }]
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { conditions } }, 'status')
    await world.pass(20_000)
    expect(readyOf((await world.pods())[0]!)).toBe('True')
  })

  it('retries if the API does not answer', async () => {
    let failures = 3
    const faults: FaultInjector = {
      onRequest: ({ actor, verb }) =>
        actor.startsWith('kubelet:') && verb === 'patch' && failures-- > 0
          ? { kind: 'error', error: new ApiStatusError(500, 'InternalError', 'injected') }
          : undefined,
    }
    const world = await createWorld({ nodes: 1, faults, onError: () => {} })
    await world.sim.start()
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.settled()
    expect(failures).toBeLessThan(0)
  })
})

describe('the machines', () => {
  it('accept no new pods while silent, and do so when they are back', async () => {
    const world = await createRunningWorld(1)
    await world.sim.nodes.kill('node-001')
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace, { gracePeriodSeconds: 0 })
    await world.pass(5000)
    expect((await world.pods())[0]!['status']).not.toHaveProperty('containerStatuses')
    await world.sim.nodes.revive('node-001')
    await world.settled()
  })

  it('are ready and labelled from the start', async () => {
    const world = await createWorld({ nodes: 4 })
    await world.sim.start()
    const { items } = await world.admin.list(resources.nodes)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['node-001', 'node-002', 'node-003', 'node-004'])
    expect(items.map(({ metadata }) => metadata.labels!['topology.kubernetes.io/zone'])).toEqual(['zone-a', 'zone-b', 'zone-c', 'zone-a'])
    expect(items[0]!.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'node-001', 'kubernetes.io/os': 'linux' })
    expect(items.map(readyOf)).toEqual(['True', 'True', 'True', 'True'])
  })

  it('become unreachable 40 s after their kubelet falls silent, whatever the speed', async () => {
    const world = await createRunningWorld(2, {}, { speed: 10 })
    await world.sim.nodes.kill('node-001')
    await world.pass(39_000)
    expect(readyOf(await world.get(resources.nodes, 'node-001'))).toBe('True')
    await world.pass(2000)
    const node = await world.get(resources.nodes, 'node-001')
    expect(readyOf(node)).toBe('Unknown')
    expect((node['spec'] as { readonly taints: unknown }).taints).toEqual([
      { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
    ])
    expect(await world.status()).toMatchObject({ numberReady: 1, desiredNumberScheduled: 2 })
    await world.sim.nodes.revive('node-001')
    await world.pass(1000)
    expect(readyOf(await world.get(resources.nodes, 'node-001'))).toBe('True')
    expect(await world.status()).toMatchObject({ numberReady: 2 })
  })

  it('become silent and come back by annotation', async () => {
    const world = await createRunningWorld(2)
    const annotate = (value: string | null): Promise<ApiObject> =>
      world.admin.patch(resources.nodes, 'node-001', undefined, { metadata: { annotations: { 'sim.tranche.dev/dead': value } } })
    await annotate('true')
    await world.pass(41_000)
    expect(readyOf(await world.get(resources.nodes, 'node-001'))).toBe('Unknown')
    await annotate(null)
    await world.pass(1000)
    expect(readyOf(await world.get(resources.nodes, 'node-001'))).toBe('True')
  })

  it('do not stop pods while silent, and do so when they are back', async () => {
    const world = await createRunningWorld(1)
    await world.sim.nodes.kill('node-001')
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace)
    await world.pass(30_000)
    expect((await world.pods()).map(({ metadata }) => metadata.uid)).toEqual([pod!.metadata.uid])
    await world.sim.nodes.revive('node-001')
    await world.pass(5000)
    expect((await world.pods()).map(({ metadata }) => metadata.uid)).not.toEqual([pod!.metadata.uid])
    await world.settled()
  })

  it('get a kubelet when a user creates a Node', async () => {
    const world = await createRunningWorld(1)
    await world.admin.create(resources.nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'by-hand' } })
    await world.pass(3000)
    expect(readyOf(await world.get(resources.nodes, 'by-hand'))).toBe('True')
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 2, numberReady: 2 })
  })

  it('have a taint while they are cordoned', async () => {
    const world = await createRunningWorld(1)
    await world.admin.patch(resources.nodes, 'node-001', undefined, { spec: { unschedulable: true } })
    await world.pass(100)
    expect((await world.get(resources.nodes, 'node-001'))['spec']).toMatchObject({ taints: [{ key: 'node.kubernetes.io/unschedulable' }] })
    await world.admin.patch(resources.nodes, 'node-001', undefined, { spec: { unschedulable: null } })
    await world.pass(100)
    expect((await world.get(resources.nodes, 'node-001'))['spec']).not.toHaveProperty('taints[0]')
  })
})

function conditionsOf(pod: ApiObject): readonly { readonly type: string; readonly status: string }[] {
  return (pod['status'] as { readonly conditions: readonly { readonly type: string; readonly status: string }[] }).conditions
}

function readyOf(node: ApiObject): string | undefined {
  return conditionsOf(node).find(({ type }) => type === 'Ready')?.status
}
