import { type ApiObject, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, namespace, unexpected } from '../harness.ts'
import { addNode, done, play, type Stage } from './stage.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

interface Case extends Stage {
  readonly name: string
  /** Pods created, pods deleted, events. */
  readonly want: string
}

const five = nodes(5)
const seven = nodes(7, (at) => (at < 3 ? 'pool=blue' : ''))
const ten = nodes(10, (at) => (at < 5 ? '' : 'pool=blue'))
const blue = { podSpec: { nodeSelector: { pool: 'blue' } } }
const tolerant = { podSpec: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } }

const cases: readonly Case[] = [
  { name: '1 runs on every node', nodes: five, want: '5/0/0' },
  { name: '3 does nothing without nodes', nodes: [], want: '0/0/0' },
  { name: '4 runs on one node', nodes: nodes(1), want: '1/0/0' },
  { name: '5 runs on a node that is not ready', nodes: ['n0 NotReady'], want: '1/0/0' },
  { name: '12 removes duplicates and fills gaps', nodes: five, pods: ['n1', 'n2*2', 'n3*5', 'n4*2 foreign'], want: '2/5/0' },
  { name: '13 runs on the nodes selected', nodes: seven, daemonSet: blue, want: '3/0/0' },
  {
    name: '14 removes pods from nodes not selected',
    nodes: ten,
    daemonSet: blue,
    pods: ['n0*2 foreign', 'n1*3', 'n1 foreign', 'n4'],
    want: '5/4/0',
  },
  {
    name: '15 deals with pods that exist',
    nodes: ten,
    daemonSet: blue,
    pods: ['n0', 'n1*3', 'n1*2 foreign', 'n2*4', 'n6*13', 'n7*4 foreign', 'n9', 'n9 foreign'],
    want: '3/20/0',
  },
  { name: '16 does nothing when no node matches', nodes: five, daemonSet: blue, want: '0/0/0' },
  { name: '17 runs on the node it names', nodes: five, daemonSet: { podSpec: { nodeName: 'n0' } }, want: '1/0/0' },
  { name: '18 does nothing when the node it names is absent', nodes: five, daemonSet: { podSpec: { nodeName: 'n9' } }, want: '0/0/0' },
  {
    name: '19 runs where name and selector agree',
    nodes: seven,
    daemonSet: { podSpec: { nodeName: 'n0', nodeSelector: { pool: 'blue' } } },
    want: '1/0/0',
  },
  {
    name: '20 does nothing where they disagree',
    nodes: seven,
    daemonSet: { podSpec: { nodeName: 'n6', nodeSelector: { pool: 'blue' } } },
    want: '0/0/0',
  },
  { name: '21 runs on the nodes of its affinity', nodes: seven, daemonSet: { podSpec: affinity(['pool', ['blue']]) }, want: '3/0/0' },
  {
    name: '22 takes terms for alternatives',
    nodes: ['n0 zone=test', 'n1 zone=test', 'n2', 'n3 special=yes', 'n4', 'n5'],
    daemonSet: { podSpec: affinity(['zone', ['test']], ['special', ['yes']]) },
    want: '3/0/0',
  },
  { name: '27 runs on a cordoned node', nodes: ['n0 cordoned !node.kubernetes.io/unschedulable:NoSchedule'], want: '1/0/0' },
  {
    name: '27 runs on the host network before there is another',
    nodes: ['n0 cordoned !node.kubernetes.io/network-unavailable:NoSchedule'],
    daemonSet: { podSpec: { hostNetwork: true } },
    want: '1/0/0',
  },
  { name: '28 leaves a running pod on a node tainted NoSchedule', nodes: ['n0 !gpu:NoSchedule'], pods: ['n0'], want: '0/0/0' },
  { name: '29 removes a running pod from a node tainted NoExecute', nodes: ['n0 !gpu:NoExecute'], pods: ['n0'], want: '0/1/0' },
  { name: '30 does not run on a tainted node', nodes: ['n0 !gpu:NoSchedule'], want: '0/0/0' },
  { name: '31 runs on a tainted node when it tolerates', nodes: ['n0 !gpu:NoSchedule'], daemonSet: tolerant, want: '1/0/0' },
  { name: '32 tolerates what is not there', nodes: ['n0'], daemonSet: tolerant, want: '1/0/0' },
  { name: '33 runs on a node tainted not-ready', nodes: ['n0 NotReady !node.kubernetes.io/not-ready:NoExecute'], want: '1/0/0' },
  { name: '34 runs on a node tainted unreachable', nodes: ['n0 !node.kubernetes.io/unreachable:NoExecute'], want: '1/0/0' },
  {
    name: '35 runs on a node under pressure',
    nodes: [
      'n0 !node.kubernetes.io/disk-pressure:NoSchedule !node.kubernetes.io/memory-pressure:NoSchedule !node.kubernetes.io/pid-pressure:NoSchedule',
    ],
    want: '1/0/0',
  },
  { name: '37 leaves one good pod alone', nodes: nodes(1), pods: ['n0'], want: '0/0/0' },
  { name: '39 replaces a failed pod', nodes: nodes(1), pods: ['n0 failed'], want: '1/1/1' },
  { name: '40 removes a failed pod and duplicates', nodes: nodes(1), pods: ['n0 failed', 'n0*3'], want: '0/3/1' },
  { name: '42 replaces a succeeded pod', nodes: nodes(1), pods: ['n0 succeeded'], want: '1/1/1' },
  { name: '44 waits for a pod that is terminating', nodes: nodes(1), pods: ['n0 terminating'], want: '0/0/0' },
  { name: '46 removes an unbound pod of a missing node', nodes: [], pods: ['gone', 'lost unbound'], want: '0/1/0' },
]

describe('placement', () => {
  it.each(cases)('$name', async ({ want, ...stage }) => {
    expect(done(await play(stage))).toBe(want)
  })

  it('2 pins each pod to its own node and leaves binding to the scheduler', async () => {
    const world = await play({ nodes: five })
    const created = world.recording().filter(({ kind, type }) => kind === 'Pod' && type === 'ADDED')
    expect(created.map(({ o }) => o['bound'])).toEqual([false, false, false, false, false])
    expect(new Set(created.map(({ o }) => o['node'])).size).toBe(5)
    expect((await world.pods()).map(nodeNameOf).sort()).toEqual(five)
  })

  it('36 runs on a node once its taint is removed', async () => {
    const world = await play({ nodes: ['n0', 'n1 !gpu:NoSchedule'] })
    expect(done(world)).toBe('1/0/0')
    await world.admin.patch(resources.nodes, 'n1', undefined, { spec: { taints: [] } })
    await world.pass(1000)
    expect(done(world)).toBe('2/0/0')
  })

  it('39 creates a pod only in a later pass than the one that removed the failed pod', async () => {
    const world = await play({ nodes: nodes(1), pods: ['n0 failed'] })
    const own = world.recording().filter(({ kind, actor }) => kind === 'Pod' && actor === 'daemonset-controller')
    expect(own.at(-1)).toMatchObject({ type: 'ADDED' })
    expect(own.at(-1)!.t).toBeGreaterThan(own[0]!.t)
  })

  it('43 recreates a deleted pod', async () => {
    const world = await createRunningWorld(3)
    const [pod] = await world.pods()
    await world.admin.delete(resources.pods, pod!.metadata.name, namespace)
    await world.pass(5000)
    expect((await world.pods()).map(nodeNameOf).sort()).toEqual(['node-001', 'node-002', 'node-003'])
    await world.settled()
  })

  it.each([
    ['selector', { nodeSelector: { pool: 'blue' } }, { nodeSelector: { pool: 'green' } }],
    ['affinity', affinity(['pool', ['blue']]), affinity(['pool', ['green']])],
  ])('24, 25 follows the labels of nodes by %s', async (_how, first, second) => {
    const running = await createWorld({ nodes: 2 })
    await running.sim.start()
    await running.admin.create(resources.daemonSets, daemonSet({ podSpec: first }))
    const label = async (pool: string): Promise<readonly ApiObject[]> => {
      await running.admin.patch(resources.nodes, 'node-001', undefined, { metadata: { labels: { pool } } })
      await running.pass(5000)
      return running.pods()
    }
    await running.pass(3000)
    expect(await running.pods()).toEqual([])
    expect((await label('blue')).map(nodeNameOf)).toEqual(['node-001'])
    expect(await label('green')).toEqual([])
    await running.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { template: { spec: second } } })
    await running.pass(5000)
    expect((await running.pods()).map(nodeNameOf)).toEqual(['node-001'])
  })

  it('64 runs on a node that is added', async () => {
    const world = await createRunningWorld(2)
    await world.sim.nodes.addNode('node-003')
    await world.pass(3000)
    expect((await world.pods()).map(nodeNameOf).sort()).toEqual(['node-001', 'node-002', 'node-003'])
  })

  it('104 does not reconcile when a node is deleted, until its pods are collected', async () => {
    const world = await createRunningWorld(3)
    await world.pass(1000)
    await world.sim.nodes.removeNode('node-002')
    await world.pass(30_000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 3 })
    await world.pass(40_000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 2, numberAvailable: 2 })
    expect((await world.pods()).map(nodeNameOf).sort()).toEqual(['node-001', 'node-003'])
  })

  it('104 counts without the node as soon as another event triggers the DaemonSet', async () => {
    const world = await createRunningWorld(3)
    await world.pass(1000)
    await world.sim.nodes.removeNode('node-002')
    await world.pass(1000)
    await world.admin.patch(resources.daemonSets, 'agent', namespace, { metadata: { labels: { poke: 'yes' } } })
    await world.pass(1000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 2, numberAvailable: 2 })
    expect(await world.pods()).toHaveLength(3)
  })

  it('removes misscheduled pods from the count once the taint is removed', async () => {
    const world = await createRunningWorld(2)
    const taint = async (taints: readonly object[]): Promise<Readonly<Record<string, number>>> => {
      await world.admin.patch(resources.nodes, 'node-001', undefined, { spec: { taints } })
      await world.pass(2000)
      const pod = (await world.pods()).find((one) => nodeNameOf(one) === 'node-002')!
      await world.admin.patch(resources.pods, pod.metadata.name, namespace, { metadata: { annotations: { poke: String(taints.length) } } })
      await world.pass(2000)
      return world.status()
    }
    expect(await taint([{ key: 'gpu', effect: 'NoSchedule' }])).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 })
    expect(await taint([])).toMatchObject({ desiredNumberScheduled: 2, numberMisscheduled: 0 })
  })

  it('46 leaves a pod that is pinned to a missing node unschedulable until the node exists', async () => {
    const world = await createRunningWorld(1)
    await world.admin.create(resources.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'alone', namespace },
      spec: {
        containers: [{ name: 'agent', image: 'agent:v1' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-002'] }] }],
            },
          },
        },
      },
    })
    const scheduled = async (): Promise<unknown> => {
      await world.pass(1000)
      const { conditions } = (await world.get(resources.pods, 'alone', namespace))['status'] as {
        readonly conditions: readonly { readonly type: string }[]
      }
      return conditions.find(({ type }) => type === 'PodScheduled')
    }
    expect(await scheduled()).toMatchObject({ status: 'False', reason: 'Unschedulable' })
    await world.sim.nodes.addNode('node-002')
    expect(await scheduled()).toMatchObject({ status: 'True' })
  })

  it('adds nothing on a node that does not match', async () => {
    const world = await play({ nodes: ['n0 pool=blue'], daemonSet: blue })
    await addNode(world, 'n1')
    await addNode(world, 'n2 pool=blue')
    await world.pass(1000)
    expect(done(world)).toBe('2/0/0')
  })
})

function nodes(count: number, words: (at: number) => string = () => ''): readonly string[] {
  return Array.from({ length: count }, (_, at) => `n${at} ${words(at)}`.trim())
}

function affinity(...terms: readonly (readonly [key: string, values: readonly string[]])[]): object {
  const nodeSelectorTerms = terms.map(([key, values]) => ({ matchExpressions: [{ key, operator: 'In', values }] }))
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

function nodeNameOf(pod: ApiObject): unknown {
  return (pod['spec'] as { readonly nodeName?: string }).nodeName
}
