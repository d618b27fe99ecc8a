import { type ApiObject, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, namespace, unexpected, type World } from './harness.ts'
import { mostDown, nodeHistories } from './histories.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

/**
 * Behaviour of the DaemonSet controller of Kubernetes 1.36.2 on six nodes that is the same in every recording. It consists of histories
 * of nodes, with the number of nodes that had each, and of the most nodes down together.
 */
interface Scenario {
  readonly name: string
  readonly spec?: object
  readonly annotations?: object
  readonly act: (world: World) => Promise<void>
  readonly histories: Readonly<Record<string, number>>
  readonly mostDown: number
}

/** Pods stay ready until they are gone, as on the machines of the recordings. */
const stays = { 'sim.tranche.dev/term-notready': 'false' }

const up = (nth: number, revision: number): string =>
  `${nth}:rev${revision}:Created > ${nth}:rev${revision}:Bound > ${nth}:rev${revision}:Ready`
const gone = (nth: number, revision: number): string => `${nth}:rev${revision}:Terminating > ${nth}:rev${revision}:Gone`
const replaced = `1:rev1:Ready > ${gone(1, 1)} > ${up(2, 2)}`
/** With surge the new pod is ready before the old one goes. */
const joined = `1:rev1:Ready > ${up(2, 2)} > ${gone(1, 1)}`
const failed = (...reasons: readonly string[]): string =>
  `1:rev1:Ready > ${gone(1, 1)} > 2:rev2:Created > 2:rev2:Bound > ${reasons.map((reason) => `2:rev2:Failing(${reason})`).join(' > ')} > ${gone(2, 2)} > ${up(3, 3)}`

const scenarios: readonly Scenario[] = [
  { name: 'a change with limit 1', spec: limit(1), act: change('v2'), histories: { [replaced]: 6 }, mostDown: 1 },
  { name: 'a change with limit 3', spec: limit(3), act: change('v2'), histories: { [replaced]: 6 }, mostDown: 3 },
  { name: 'a change with limit 6', spec: limit(6), act: change('v2'), histories: { [replaced]: 6 }, mostDown: 6 },
  {
    name: 'a change with a readiness probe',
    spec: limit(2),
    annotations: { 'sim.tranche.dev/readiness-ms': '400', 'sim.tranche.dev/term-notready': 'true' },
    act: change('v2'),
    histories: { [`1:rev1:Ready > ${gone(1, 1)} > 2:rev2:Created > 2:rev2:Bound > 2:rev2:Unready > 2:rev2:Ready`]: 6 },
    mostDown: 2,
  },
  {
    name: 'a change with minReadySeconds 5',
    spec: { ...limit(3), minReadySeconds: 5 },
    act: change('v2'),
    histories: { [replaced]: 6 },
    mostDown: 3,
  },
  {
    name: 'OnDelete: two pods, then four',
    spec: { updateStrategy: { type: 'OnDelete' } },
    async act(world) {
      await world.setImage('agent:v2')
      await world.pass(2000)
      const pods = await world.pods()
      for (const group of [pods.slice(0, 2), pods.slice(2)]) {
        for (const { metadata } of group) await world.admin.delete(resources.pods, metadata.name, namespace)
        await world.pass(3000)
      }
    },
    histories: { [replaced]: 6 },
    mostDown: 4,
  },
  {
    name: 'there and back',
    spec: limit(3),
    async act(world) {
      await change('v2')(world)
      await change('v1')(world)
    },
    histories: { [`1:rev2:Ready > ${gone(1, 2)} > ${up(2, 1)} > ${gone(2, 1)} > ${up(3, 2)}`]: 6 },
    mostDown: 3,
  },
  {
    name: 'a version that crashes, then a good one',
    spec: limit(2),
    async act(world) {
      await world.setImage('agent:v2-bad-crash')
      await world.pass(6000)
      await change('v3')(world)
    },
    histories: { [failed('CrashLoopBackOff')]: 2, [`1:rev1:Ready > ${gone(1, 1)} > ${up(2, 3)}`]: 4 },
    mostDown: 2,
  },
  {
    name: 'a version that two nodes cannot pull, then a good one',
    spec: limit(3),
    annotations: { 'sim.tranche.dev/bad-nodes': 'node-00[12]' },
    async act(world) {
      await world.setImage('agent:v2-bad-pull')
      await world.pass(8000)
      await change('v3')(world)
    },
    histories: {
      [failed('ErrImagePull', 'ImagePullBackOff')]: 2,
      [`1:rev1:Ready > ${gone(1, 1)} > ${up(2, 2)} > ${gone(2, 2)} > ${up(3, 3)}`]: 4,
    },
    mostDown: 3,
  },
  {
    name: 'four changes with revisionHistoryLimit 2',
    spec: { ...limit(6), revisionHistoryLimit: 2 },
    async act(world) {
      for (const version of ['v2', 'v3', 'v4', 'v5']) await change(version)(world)
      await world.pass(1000)
      expect((await world.revisions()).map((one) => one['revision'])).toEqual([3, 4, 5])
    },
    histories: {
      [`1:rev1:Ready > ${gone(1, 1)} > ${up(2, 2)} > ${gone(2, 2)} > ${up(3, 3)} > ${gone(3, 3)} > ${up(4, 4)} > ${gone(4, 4)} > ${up(5, 5)}`]: 6,
    },
    mostDown: 6,
  },
  {
    name: 'a node that joins in mid-way',
    spec: limit(1),
    async act(world) {
      await world.setImage('agent:v2')
      await world.pass(1000)
      await world.sim.nodes.addNode('node-007')
      await world.settled()
    },
    histories: { [replaced]: 6, [up(1, 2)]: 1 },
    mostDown: 2,
  },
  {
    name: 'a node selector that four nodes do not match',
    spec: limit(2),
    async act(world) {
      for (const name of ['node-001', 'node-002'])
        await world.admin.patch(resources.nodes, name, undefined, { metadata: { labels: { pool: 'p2' } } })
      await world.pass(100)
      await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { template: { spec: { nodeSelector: { pool: 'p2' } } } } })
      await world.settled()
    },
    histories: { [replaced]: 2, [`1:rev1:Ready > ${gone(1, 1)}`]: 4 },
    mostDown: 6,
  },
  {
    name: 'a pod that fails three times',
    spec: limit(1),
    async act(world) {
      for (let round = 0; round < 3; round++) {
        const pod = await podOn(world, 'node-003')
        await world.admin.patch(resources.pods, pod.metadata.name, namespace, { status: { phase: 'Failed', conditions: [] } }, 'status')
        await world.pass(6500)
      }
    },
    histories: {
      '1:rev1:Ready': 5,
      [`1:rev1:Ready > ${[1, 2, 3].map((nth) => `${nth}:rev1:Failing(Failed) > ${gone(nth, 1)} > ${up(nth + 1, 1)}`).join(' > ')}`]: 1,
    },
    mostDown: 1,
  },
  {
    name: 'a surge of 1',
    spec: surge(1),
    act: change('v2'),
    histories: { [joined]: 6 },
    mostDown: 0,
  },
  {
    name: 'a surge of 3',
    spec: surge(3),
    act: change('v2'),
    histories: { [joined]: 6 },
    mostDown: 0,
  },
  {
    name: 'deletion as orphans, and the same DaemonSet again',
    spec: limit(1),
    async act(world) {
      const { spec } = await world.get(resources.daemonSets, 'agent', namespace)
      await world.admin.delete(resources.daemonSets, 'agent', namespace, { propagationPolicy: 'Orphan' })
      await world.pass(2000)
      await world.admin.create(resources.daemonSets, {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent', namespace },
        spec,
      })
      await world.settled()
      expect((await world.revisions()).map((one) => one['revision'])).toEqual([1])
    },
    histories: { '1:rev1:Ready': 6 },
    mostDown: 0,
  },
  {
    name: 'a node that is dead in mid-way, whose pod uses up the limit until it is back',
    spec: limit(1),
    async act(world) {
      await world.sim.nodes.kill('node-006')
      const pod = await podOn(world, 'node-006')
      const conditions = [{ type: 'Ready', status: 'False' }]
      await world.admin.patch(resources.pods, pod.metadata.name, namespace, { status: { conditions } }, 'status')
      await world.pass(1000)
      await world.setImage('agent:v2')
      await world.pass(8000)
      await world.sim.nodes.revive('node-006')
      await world.settled()
    },
    histories: { [replaced]: 5, [`1:rev1:Ready > 1:rev1:Unready > ${gone(1, 1)} > ${up(2, 2)}`]: 1 },
    mostDown: 1,
  },
  {
    name: 'deletion in the background',
    spec: limit(1),
    async act(world) {
      await world.admin.delete(resources.daemonSets, 'agent', namespace)
      await world.pass(3000)
    },
    histories: { [`1:rev1:Ready > ${gone(1, 1)}`]: 6 },
    mostDown: 6,
  },
]

describe('as recorded from a real controller', () => {
  it.each(scenarios)('$name', async ({ spec = {}, annotations = {}, act, histories, mostDown: most }) => {
    const world = await createRunningWorld(6, { spec, annotations: { ...stays, ...annotations } })
    await world.pass(1000)
    const from = world.recording().length
    await act(world)
    expect({ histories: nodeHistories(world.recording(), from), mostDown: mostDown(world.recording(), from) }).toEqual({
      histories,
      mostDown: most,
    })
  })

  it('a template rolled back halfway restarts only pods that were updated', async () => {
    const world = await createRunningWorld(6, { spec: limit(2) })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.pass(1400)
    await change('v1')(world)
    const histories = Object.keys(nodeHistories(world.recording(), from))
    const allowed = [
      '1:rev2:Ready',
      `1:rev2:Ready > ${gone(1, 2)} > ${up(2, 2)}`,
      `1:rev2:Ready > ${gone(1, 2)} > ${up(2, 1)} > ${gone(2, 1)} > ${up(3, 2)}`,
      `1:rev2:Ready > ${gone(1, 2)} > 2:rev1:Created > 2:rev1:Bound > ${gone(2, 1)} > ${up(3, 2)}`,
    ]
    expect(histories.filter((history) => !allowed.includes(history))).toEqual([])
    expect(mostDown(world.recording(), from)).toBe(2)
  })

  it('a third template in the middle replaces the pods of the second first, ready or not', async () => {
    const world = await createRunningWorld(6, { spec: limit(2), annotations: stays })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.pass(1200)
    await change('v3')(world)
    const histories = nodeHistories(world.recording(), from)
    const through = Object.entries(histories).filter(([history]) => history !== `1:rev1:Ready > ${gone(1, 1)} > ${up(2, 3)}`)
    const allowed = [
      `1:rev1:Ready > ${gone(1, 1)} > ${up(2, 2)} > ${gone(2, 2)} > ${up(3, 3)}`,
      `1:rev1:Ready > ${gone(1, 1)} > 2:rev2:Created > 2:rev2:Bound > ${gone(2, 2)} > ${up(3, 3)}`,
    ]
    expect(through.map(([history]) => history).filter((history) => !allowed.includes(history))).toEqual([])
    expect([3, 4]).toContain(through.reduce((sum, [, nodes]) => sum + nodes, 0))
    expect(mostDown(world.recording(), from)).toBe(2)
  })

  it.each([1, 2, 3, 4])(
    'a taint NoSchedule in the middle keeps the pod until it is updated, and prevents the new one until the taint is removed, seed %i',
    async (seed) => {
      const world = await createRunningWorld(6, { spec: limit(1), annotations: stays }, { seed })
      const from = world.recording().length
      await world.setImage('agent:v2')
      await world.pass(1100)
      await taint(world, 'node-006', [{ key: 'gpu', effect: 'NoSchedule' }])
      await world.pass(12_000)
      expect(await world.status()).toMatchObject({ desiredNumberScheduled: 5, updatedNumberScheduled: 5, numberAvailable: 5 })
      await taint(world, 'node-006', [])
      await world.pass(3000)
      expect(await world.status()).toMatchObject({ desiredNumberScheduled: 6, updatedNumberScheduled: 6, numberAvailable: 6 })
      expect(nodeHistories(world.recording(), from)).toEqual({ [replaced]: 6 })
      expect([1, 2]).toContain(mostDown(world.recording(), from))
    },
  )

  it.each([1, 2, 3, 4])('a taint NoExecute in the middle evicts the pod until the taint is removed, seed %i', async (seed) => {
    const world = await createRunningWorld(6, { spec: limit(1), annotations: stays }, { seed })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.pass(1100)
    await taint(world, 'node-006', [{ key: 'gpu', effect: 'NoExecute' }])
    await world.pass(12_000)
    await taint(world, 'node-006', [])
    await world.pass(3000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 6, updatedNumberScheduled: 6, numberAvailable: 6 })
    const { [replaced]: plain = 0, ...others } = nodeHistories(world.recording(), from)
    const again = [
      `1:rev1:Ready > ${gone(1, 1)} > ${up(2, 2)} > ${gone(2, 2)} > ${up(3, 2)}`,
      `1:rev1:Ready > ${gone(1, 1)} > 2:rev2:Created > 2:rev2:Bound > ${gone(2, 2)} > ${up(3, 2)}`,
    ]
    expect(Object.entries(others).every(([history, nodes]) => again.includes(history) && nodes === 1)).toBe(true)
    expect(plain).toBeGreaterThanOrEqual(5)
    expect(mostDown(world.recording(), from)).toBe(2)
  })

  it.each([1, 2, 3, 4])('a node that is deleted in the middle loses its pod, and the others are updated, seed %i', async (seed) => {
    const world = await createRunningWorld(7, { spec: limit(1), annotations: stays }, { seed })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.pass(1200)
    await world.sim.nodes.removeNode('node-007')
    await world.pass(90_000)
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 6, updatedNumberScheduled: 6, numberAvailable: 6 })
    const histories = nodeHistories(world.recording(), from)
    expect(histories[replaced]).toBeGreaterThanOrEqual(6)
    expect(Object.values(histories).reduce((sum, nodes) => sum + nodes, 0)).toBe(7)
    expect(mostDown(world.recording(), from)).toBeLessThanOrEqual(3)
  })

  it.each([
    [0, [4]],
    [20, [4, 5]],
  ])('keeps the limit, except for one pod now and then while caches lag: %i ms', async (watchDelayMs, allowed) => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const world = await createRunningWorld(30, { spec: limit(4) }, { seed, watchDelayMs })
      const from = world.recording().length
      await change('v2')(world)
      expect(allowed).toContain(mostDown(world.recording(), from))
    }
  })
})

function limit(maxUnavailable: number): object {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } } }
}

function surge(maxSurge: number): object {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge } } }
}

async function podOn(world: World, nodeName: string): Promise<ApiObject> {
  return (await world.pods()).find((one) => (one['spec'] as { readonly nodeName?: string }).nodeName === nodeName)!
}

async function taint(world: World, nodeName: string, taints: readonly object[]): Promise<void> {
  await world.admin.patch(resources.nodes, nodeName, undefined, { spec: { taints } })
}

function change(version: string): (world: World) => Promise<void> {
  return async (world) => {
    await world.setImage(`agent:${version}`)
    await world.settled()
  }
}
