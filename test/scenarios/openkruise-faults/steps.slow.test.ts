import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from '../expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { drive, setStage, type Stage } from '../stage.ts'
import { crews, deleted, expectReported, isPaused, measuredPods, mostDown } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const all = [{ replicas: '100%' }]

describe.each(crews)('with $crew', ({ executors }) => {
  it.each([
    { nodes: 30, limit: 5, stopMs: '500', sizes: [3, 10, 15], seed: 1 },
    { nodes: 30, limit: 5, stopMs: '3000', sizes: [3, 15], seed: 2 },
    { nodes: 30, limit: 10, stopMs: '3000', sizes: [1, 3, 17], seed: 3 },
    { nodes: 100, limit: 10, stopMs: '500', sizes: [10, 50], seed: 4 },
  ])('updates $sizes of $nodes nodes in these steps and not one more, limit $limit, stop $stopMs ms (W27, G3)', async (run) => {
    const annotations = { ...measuredPods, 'sim.tranche.dev/stop-ms': run.stopMs }
    const steps = [...run.sizes.map((replicas) => ({ replicas, pause: {} })), ...all]
    const { nodes, seed } = run
    stage = await setStage({ nodes, maxUnavailable: run.limit, steps, annotations, executors, seed, watchDelayMs: 300 })
    await stage.setImage('v2')
    for (const [at, size] of run.sizes.entries()) {
      await untilPausedAt(stage, at + 1)
      await stage.pass(10_000)
      expect(await nodesOn(stage, 'v2')).toHaveLength(size)
      expect(deleted(stage).filter(({ actor }) => actor.startsWith('executor'))).toHaveLength(size)
      await stage.approve()
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('deletes nothing more once a pause in mid-batch is acknowledged, even when v3 is pushed meanwhile (X9, W10, G9)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: all, annotations: measuredPods, executors })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 6)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('the pause is acknowledged', () => isPaused(stage), 5_000)
    const before = deleted(stage).length
    await stage.pass(60_000)
    expect(deleted(stage)).toHaveLength(before)
    expect((await nodesOn(stage, 'v2')).length).toBeLessThanOrEqual(6 + 5)
    await expectReported(stage, 'paused')

    await stage.setImage('v3')
    await stage.pass(60_000)
    expect(deleted(stage)).toHaveLength(before)
    expect(await nodesOn(stage, 'v3')).toEqual([])

    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v3')
    expect(mostDown(stage, sinceMs)).toBe(5)
    expectKept(stage)
  })
})

it('a release whose last step is 50 % updates the rest within the same budget, and is Healthy only then (X20, W21, G1)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '50%', pause: {} }], annotations: measuredPods })
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  await stage.approve()
  await stage.until('the rest is in progress', async () => (await nodesOn(stage, 'v2')).length > 10)
  expect((await stage.rollout()).status).toMatchObject({ phase: 'Progressing', canaryStatus: { currentStepIndex: 1, nextStepIndex: -1 } })
  await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
  expect(await nodesOn(stage, 'v2')).toHaveLength(20)
  expect(mostDown(stage, sinceMs)).toBe(3)
  expect(deleted(stage, sinceMs).every(({ actor }) => actor.startsWith('executor'))).toBe(true)
  expectKept(stage)
})

it('ten nodes that join in a pause cause no deletion: they start with the new version and count in the next step (X16, W17, G3)', async () => {
  const steps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: {} }, ...all]
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, annotations: measuredPods })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  for (let number = 1; number <= 10; number++) await drive(stage.clock, stage.simulator.nodes.addNode(`joined-${number}`))
  await untilNodesOn(stage, 'v2', 12)
  await stage.pass(60_000)
  expect(deleted(stage)).toHaveLength(2)
  const joined = Array.from({ length: 10 }, (_, at) => `joined-${at + 1}`)
  expect((await stage.rollout()).status?.leaked).toEqual({ count: 10, nodes: joined.toSorted() })
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  await stage.approve()
  await untilPausedAt(stage, 2)
  expect(await nodesOn(stage, 'v2')).toHaveLength(15)
  expect(deleted(stage)).toHaveLength(5)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a batch continues while nodes come and go, and updates none twice (X16, W17, G3, G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, ...all], annotations: measuredPods })
  await stage.setImage('v2')
  for (let round = 0; round < 5; round++) {
    await drive(stage.clock, stage.simulator.nodes.addNode('flapping'))
    await stage.pass(2_000)
    await drive(stage.clock, stage.simulator.nodes.removeNode('flapping'))
    await stage.pass(1_000)
  }
  await untilPausedAt(stage, 1, 60_000)
  const nodes = deleted(stage)
    .filter(({ actor }) => actor.startsWith('executor'))
    .map(({ node }) => node)
  expect(new Set(nodes).size).toBe(nodes.length)
  expect((await nodesOn(stage, 'v2')).filter((name) => name !== 'flapping')).toHaveLength(10)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})
