import { type ApiStatusError, ConnectionCutError, resources } from '@tranche/sim-api'
import { ENDED_KEPT, findingText, parseFaults } from '@tranche/sim'
import { describe, expect, it } from 'vitest'
import { startCluster } from './cluster.ts'

const agent = { name: 'observer', userAgent: 'tranche-executor/0.1.0' }
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })

describe('nodes', () => {
  it('go down at their time, and come back when the fault ends', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{name: away, kind: NodeDown, nodes: [node-002], at: 10s, for: 2m}]')
    await cluster.pass(9_999)
    expect([cluster.states(), await cluster.ready('node-002')]).toEqual([{ away: 'waiting' }, 'True'])
    await cluster.pass(41_000)
    expect([cluster.states(), await cluster.ready('node-002'), await cluster.ready('node-001')]).toEqual([
      { away: 'active' },
      'Unknown',
      'True',
    ])
    await cluster.pass(80_000)
    expect([cluster.states(), await cluster.ready('node-002')]).toEqual([{ away: 'over' }, 'True'])
    expect(cluster.said).toEqual(['fault away begins: NodeDown: nodes node-002, for 2m', 'fault away is over'])
  })

  it('stay down as long as one of two faults applies', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: NodeDown, nodes: [node-001], for: 1m}, {kind: NodeDown, nodes: [node-001, node-002], for: 3m}]')
    await cluster.pass(100_000)
    expect([await cluster.ready('node-001'), await cluster.ready('node-002')]).toEqual(['Unknown', 'Unknown'])
    await cluster.pass(100_000)
    expect([await cluster.ready('node-001'), await cluster.ready('node-002')]).toEqual(['True', 'True'])
  })

  it('that are brought up stay up despite earlier faults', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: NodeDown, nodes: [node-001]}, {kind: NodeUp, nodes: [node-001], after: 1m}]')
    await cluster.pass(50_000)
    expect([await cluster.ready('node-001'), cluster.states()]).toEqual(['Unknown', { 'fault-1': 'active', 'fault-2': 'waiting' }])
    await cluster.pass(20_000)
    expect([await cluster.ready('node-001'), cluster.states()]).toEqual(['True', { 'fault-1': 'over', 'fault-2': 'over' }])
  })

  it('are added with labels and taints, and removed', async () => {
    const cluster = await startCluster()
    await cluster.add(`
faults:
  - {kind: NodeAdd, nodes: [edge-1], labels: {tier: edge}, taints: [{key: edge, effect: NoSchedule}]}
  - {kind: NodeRemove, nodes: [node-003], after: 5s}`)
    expect((await cluster.node('edge-1')).metadata.labels).toMatchObject({ tier: 'edge' })
    expect((await cluster.node('edge-1'))['spec']).toMatchObject({ taints: [{ key: 'edge', effect: 'NoSchedule' }] })
    await cluster.pass(6_000)
    expect([await cluster.ready('edge-1'), await cluster.ready('node-003')]).toEqual(['True', null])
  })

  it('stay up if their fault fails because one of them is gone', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: NodeDown, nodes: [node-001, node-003, node-002], at: 10s}]')
    await cluster.simulator.nodes.removeNode('node-003')
    await cluster.pass(80_000)
    expect([cluster.states(), await cluster.ready('node-001'), await cluster.ready('node-002')]).toEqual([
      { 'fault-1': 'failed' },
      'True',
      'True',
    ])
  })

  it('that are gone make the fault fail, and nothing else', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: NodeDown, nodes: [node-003], at: 10s}, {kind: NodeDown, nodes: [node-002], at: 20s}]')
    await cluster.simulator.nodes.removeNode('node-003')
    await cluster.pass(30_000)
    expect(cluster.states()).toEqual({ 'fault-1': 'failed', 'fault-2': 'active' })
    expect(cluster.schedule.list()[0]?.message).toContain('node-003')
    expect(cluster.said).toContain('fault fault-1 failed: nodes "node-003" not found')
  })
})

it('of two documents at the same time with the same name, the second is refused', async () => {
  const { schedule, ready } = await startCluster()
  const parsed = parseFaults('faults: [{name: away, kind: NodeDown, nodes: [node-001]}]')
  if (parsed.kind === 'invalid') throw new Error('the document is wrong')
  const answers = await Promise.all([schedule.add(parsed.faults), schedule.add(parsed.faults)])
  expect(answers.map(({ kind }) => kind)).toEqual(['added', 'invalid'])
  await schedule.liftAll()
  expect(await ready('node-001')).toBe('True')
})

describe('requests', () => {
  it.each([
    [409, 'Conflict', ''],
    [429, 'TooManyRequests', ', retryAfter: 1500ms'],
    [500, 'InternalError', ''],
  ])('are answered with %i, as often as the count says', async (status, reason, more) => {
    const cluster = await startCluster()
    await cluster.add(`faults: [{kind: Error, status: ${status}${more}, actors: [tranche-executor], verbs: [create], count: 2}]`)
    const client = cluster.simulator.clientFor(agent)
    const refusals: ApiStatusError[] = []
    for (let attempt = 0; attempt < 3; attempt++)
      await client.create(resources.configMaps, configMap('a')).catch((error: unknown) => refusals.push(error as ApiStatusError))
    expect(refusals.map(({ code, status: { reason: why } }) => [code, why])).toEqual([
      [status, reason],
      [status, reason],
    ])
    expect(refusals[0]?.status.details?.retryAfterSeconds).toBe(status === 429 ? 2 : undefined)
    expect(cluster.states()).toEqual({ 'fault-1': 'over' })
    expect(cluster.said.at(-1)).toBe('fault fault-1 is over: it met 2 requests')
  })

  it.each([
    ['before', 0],
    ['after', 1],
  ])('are cut off %s the write', async (when, written) => {
    const cluster = await startCluster()
    await cluster.add(`faults: [{kind: Cut, when: ${when}, resources: [configmaps], verbs: [create]}]`)
    const client = cluster.simulator.clientFor(agent)
    await expect(client.create(resources.configMaps, configMap('a'))).rejects.toThrow(ConnectionCutError)
    expect((await client.list(resources.configMaps, {})).items).toHaveLength(written)
  })

  it('are delayed', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: Delay, by: 5s, verbs: [get]}]')
    let answered = false
    void cluster.simulator
      .clientFor(agent)
      .get(resources.nodes, 'node-001', undefined)
      .then(() => (answered = true))
    await cluster.pass(4_900)
    expect(answered).toBe(false)
    await cluster.pass(200)
    expect(answered).toBe(true)
  })

  it.each([
    ['actors: [tranche-*]', true],
    ['actors: [obs*]', true],
    ['actors: [tranche-controller]', false],
    ['actors: [executor]', false],
    ['namespaces: [default]', true],
    ['namespaces: [kube-system]', false],
    ['names: [a*]', true],
    ['names: [b]', false],
    ['resources: [configmaps]', true],
    ['resources: [pods, "c*"]', true],
    ['resources: ["pods/*"]', false],
    ['verbs: [create, delete]', false],
  ])('are chosen by %s: %s', async (selection, met) => {
    const cluster = await startCluster()
    const client = cluster.simulator.clientFor(agent)
    await client.create(resources.configMaps, configMap('a1'))
    await cluster.add(`faults: [{kind: Error, status: 500, ${selection}}]`)
    const answer = await client.get(resources.configMaps, 'a1', 'default').then(
      () => 'answered',
      () => 'refused',
    )
    expect(answer).toBe(met ? 'refused' : 'answered')
  })

  it('are hit at random, and the seed decides which', async () => {
    const met = async (seed: number): Promise<string> => {
      const cluster = await startCluster(1, seed)
      await cluster.add('faults: [{kind: Error, status: 500, probability: 0.3, actors: [tester]}]')
      const client = cluster.simulator.clientFor({ name: 'tester' })
      let text = ''
      for (let attempt = 0; attempt < 100; attempt++)
        await client.list(resources.nodes, {}).then(
          () => (text += '.'),
          () => (text += 'x'),
        )
      return text
    }
    const [first, again, other] = [await met(1), await met(1), await met(2)]
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect(first.replaceAll('.', '').length).toBeGreaterThan(15)
    expect(first.replaceAll('.', '').length).toBeLessThan(45)
  })

  it('of the schedule itself have no faults', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{kind: Error, status: 500}]')
    await cluster.add('faults: [{kind: NodeDown, nodes: [node-001]}]')
    expect(cluster.states()).toEqual({ 'fault-1': 'active', 'fault-2': 'active' })
  })
})

describe('watches', () => {
  it('lag for one actor alone, and catch up when the fault ends', async () => {
    const cluster = await startCluster()
    const seen = { slow: [] as string[], quick: [] as string[] }
    for (const name of ['slow', 'quick'] as const)
      cluster.simulator.clientFor({ name }).watch(resources.configMaps, {}, (event) => {
        if (event.type !== 'SYNCED') seen[name].push(event.object.metadata.name)
      })
    await cluster.pass(100)
    await cluster.add('faults: [{kind: WatchDelay, by: 30s, actors: [slow], resources: [configmaps], for: 1m}]')
    await cluster.simulator.clientFor(agent).create(resources.configMaps, configMap('a'))
    await cluster.pass(29_000)
    expect(seen).toEqual({ slow: [], quick: ['a'] })
    await cluster.pass(2_000)
    expect(seen).toEqual({ slow: ['a'], quick: ['a'] })
    await cluster.pass(60_000)
    await cluster.simulator.clientFor(agent).create(resources.configMaps, configMap('b'))
    await cluster.pass(100)
    expect(seen).toEqual({ slow: ['a', 'b'], quick: ['a', 'b'] })
  })

  it.each(['WatchCut', 'WatchExpire', 'WatchStall, by: 10s'])('break by %s, and their owner catches up', async (kind) => {
    const cluster = await startCluster()
    const seen: string[] = []
    cluster.simulator.clientFor(agent).watch(resources.configMaps, {}, (event) => {
      if (event.type !== 'SYNCED') seen.push(event.object.metadata.name)
    })
    await cluster.pass(100)
    await cluster.add(`faults: [{kind: ${kind}, actors: [observer], count: 1}]`)
    await cluster.simulator.clientFor(agent).create(resources.configMaps, configMap('a'))
    await cluster.pass(60_000)
    expect(seen).toContain('a')
    expect(cluster.states()).toEqual({ 'fault-1': 'over' })
  })
})

it.each(['1h', '-1h'])('steps the wall clock of the cluster by %s, and does not change its timers', async (by) => {
  const cluster = await startCluster()
  const client = cluster.simulator.clientFor(agent)
  await cluster.add(`faults: [{kind: ClockStep, by: ${by}, at: 10s}]`)
  await cluster.pass(10_100)
  const { metadata } = await client.create(resources.configMaps, configMap('a'))
  const aheadMs = Date.parse(metadata.creationTimestamp) - cluster.simulator.clock.nowMs()
  expect(Math.abs(aheadMs - (by === '1h' ? 3_600_000 : -3_600_000))).toBeLessThan(1_000)
  expect(cluster.states()).toEqual({ 'fault-1': 'over' })
})

describe('a refused document', () => {
  it.each([
    [
      'a node that there is not',
      'faults: [{kind: NodeDown, nodes: [node-001, node-999]}]',
      'faults[0].nodes[1] does not take "node-999": give a node that exists by then: node-001, node-002, node-003',
    ],
    [
      'a node that is gone by then',
      'faults: [{kind: NodeDown, nodes: [node-001], at: 10s}, {kind: NodeRemove, nodes: [node-001], at: 5s}]',
      'faults[0].nodes[0] does not take "node-001"',
    ],
    [
      'a node that is there already',
      'faults: [{kind: NodeAdd, nodes: [node-001]}]',
      'faults[0].nodes[0] does not take "node-001": give a name that no node has by then',
    ],
    [
      'a node name that cannot be',
      'faults: [{kind: NodeAdd, nodes: [Node_1]}]',
      'faults[0].nodes[0] does not take "Node_1": give a name of small letters',
    ],
    [
      'a resource in the singular',
      'faults: [{kind: WatchCut}, {kind: Cut, when: after, resources: [pod]}]',
      'faults[1].resources[0] does not take "pod": give a resource that is served',
    ],
  ])('has %s, and no part of it is applied', async (_what, yaml, says) => {
    const cluster = await startCluster()
    const parsed = parseFaults(yaml)
    const added = parsed.kind === 'faults' ? await cluster.schedule.add(parsed.faults) : parsed
    expect(added.kind === 'invalid' ? added.findings.map(findingText).join('\n') : '').toContain(says)
    expect([cluster.states(), cluster.said]).toEqual([{}, []])
  })

  it('repeats a name in use; an ended name may be reused', async () => {
    const cluster = await startCluster()
    await cluster.add('faults: [{name: a, kind: WatchDelay, by: 1s}]')
    await expect(cluster.add('faults: [{name: a, kind: WatchDelay, by: 1s}]')).rejects.toThrow('lift the fault of this name first')
    await cluster.schedule.lift('a')
    await cluster.add('faults: [{name: a, kind: WatchDelay, by: 2s}]')
    expect(cluster.states()).toEqual({ a: 'active' })
  })

  it('exceeds the limit', async () => {
    const cluster = await startCluster()
    const many = `faults: [${'{kind: WatchDelay, by: 1s, at: 1h},'.repeat(600)}]`
    await cluster.add(many)
    await expect(cluster.add(many)).rejects.toThrow('lift some: 600 are waiting or active, and 1000 may be')
  })
})

it('measures after from the start of the previous fault, and at from the time of acceptance', async () => {
  const cluster = await startCluster()
  await cluster.add(
    'faults: [{kind: WatchDelay, by: 1s, at: 10s}, {kind: WatchDelay, by: 1s, after: 10s}, {kind: WatchDelay, by: 1s, at: 5s}, {kind: WatchDelay, by: 1s}]',
  )
  const atMs = cluster.simulator.clock.monotonicMs()
  const begun: number[] = []
  for (let second = 0; second <= 21; second++) {
    begun.push(cluster.said.filter((text) => text.includes('begins')).length)
    await cluster.pass(1_000)
  }
  expect(cluster.simulator.clock.monotonicMs() - atMs).toBe(22_000)
  expect([0, 4, 6, 9, 11, 19, 21].map((second) => begun[second])).toEqual([1, 1, 2, 2, 3, 3, 4])
})

it('lifts one fault, or all: pending ones never begin, and nodes come back', async () => {
  const cluster = await startCluster()
  await cluster.add(
    'faults: [{name: down, kind: NodeDown, nodes: [node-001]}, {name: later, kind: NodeDown, nodes: [node-002], at: 1m}, {name: slow, kind: WatchDelay, by: 1h}]',
  )
  await cluster.pass(50_000)
  expect(await cluster.schedule.lift('later')).toMatchObject({ id: 'later', state: 'lifted' })
  expect(await cluster.schedule.lift('later')).toBeUndefined()
  expect((await cluster.schedule.liftAll()).map(({ id }) => id)).toEqual(['down', 'slow'])
  await cluster.pass(3_600_000)
  expect([await cluster.ready('node-001'), await cluster.ready('node-002')]).toEqual(['True', 'True'])
  expect(cluster.said.slice(-3)).toEqual([
    'fault later is lifted and will not begin',
    'fault down is lifted and is over',
    expect.stringMatching(/^fault slow is lifted and is over: it met \d+ events$/),
  ])
})

it(`remembers the last ${ENDED_KEPT} ended faults`, async () => {
  const cluster = await startCluster()
  await cluster.add(`faults: [${'{kind: ClockStep, by: 1s},'.repeat(ENDED_KEPT + 20)}]`)
  expect(cluster.schedule.list()).toHaveLength(ENDED_KEPT)
  expect(cluster.schedule.list()[0]?.id).toBe('fault-21')
})
