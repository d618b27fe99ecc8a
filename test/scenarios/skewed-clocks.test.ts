import { isNotFound, resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const SECOND = 1_000
const HOUR = 3_600 * SECOND
/**
 * Sum of three errors: a timestamp has whole milliseconds, a clock learnt from one answer is wrong by up to half a second, and a hand-over
 * takes one more look.
 */
const TOLERANCE_MS = 3 * SECOND

const skews = [
  { name: 'two hours ahead, then right', first: 2 * HOUR, next: 0 },
  { name: 'right, then two hours ahead', first: 0, next: 2 * HOUR },
  { name: 'an hour behind, then a day ahead', first: -HOUR, next: 24 * HOUR },
  { name: 'a day ahead, then a day behind', first: 24 * HOUR, next: -24 * HOUR },
  { name: 'a second ahead, then a second behind', first: SECOND, next: -SECOND },
]

it.each([{ stepMs: -240 * SECOND }, { stepMs: 240 * SECOND }, { stepMs: -24 * HOUR }])(
  'the API server’s clock, set by $stepMs ms in mid-release, makes no version fail and ends no deadline (F14, G6)',
  async ({ stepMs }) => {
    const policy = { failure: { progressDeadlineSeconds: 60 } }
    const annotations = { 'sim.tranche.dev/start-ms': '8000' }
    stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }], policy, annotations })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.pass(600 * SECOND)
    await stage.approve()
    await untilNodesOn(stage, 'v2', 2)
    stage.simulator.stepClock(stepMs)
    await stage.until('the release ends', async () => {
      expect((await stage.release())?.status?.failure).toBeUndefined()
      return (await stage.rollout()).status?.phase === 'Healthy'
    })
    await stage.setImage('bad-pull')
    const sinceMs = stage.clock.monotonicMs()
    await stage.until('it has failed', async () => (await stage.release())?.status?.failure?.stops === true)
    expect(stage.clock.monotonicMs() - sinceMs).toBeLessThan(60 * SECOND + 60 * SECOND)
    expectKept(stage)
  },
)

it.each([{ stepMs: -240 * SECOND }, { stepMs: 240 * SECOND }])(
  'the API server’s clock, set by $stepMs ms in a pause, ends no later deadline early or late (F14)',
  async ({ stepMs }) => {
    const policy = { failure: { progressDeadlineSeconds: 60 } }
    // A leader renews its Lease in a pause too, so it learns that the clock was set.
    const controllers = ['controller-1', 'controller-2']
    stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy, controllers })
    await stage.setImage('bad-ready')
    await stage.until('a node is in flight', async () => ((await stage.release())?.status?.flight?.permits.length ?? 0) > 0)
    await stage.pass(20 * SECOND)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(100 * SECOND)
    stage.simulator.stepClock(stepMs)
    await stage.pass(100 * SECOND)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    const hasFailed = async (): Promise<boolean> => (await stage.release())?.status?.failure?.stops === true
    await stage.pass(30 * SECOND)
    expect(await hasFailed()).toBe(false)
    await stage.until('it has failed', hasFailed, 30 * SECOND)
    expectKept(stage)
  },
)

it('a BatchRelease that a client deletes while the API server’s clock is minutes ahead detaches within a minute (F14, G9)', async () => {
  stage = await setStage({ nodes: 5, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
  stage.simulator.stepClock(300 * SECOND)
  await stage.setImage('bad-crash')
  await stage.until('a node is in flight', async () => ((await stage.release())?.status?.flight?.permits.length ?? 0) > 0)
  await stage.client.delete(resourcePaths.batchReleases, stageKey)
  stage.simulator.stepClock(-300 * SECOND)
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await untilGone(stage)
})

it('a machine that falls silent after its update, and after clocks were set back, stops the release all the same (F14, G9)', async () => {
  const annotations = { 'sim.tranche.dev/start-ms': '20000' }
  stage = await setStage({ nodes: 12, maxUnavailable: 2, steps: [{ replicas: '100%' }], annotations })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  stage.simulator.stepClock(-240 * SECOND)
  const first = await nodesOn(stage, 'v2')
  await drive(stage.clock, stage.simulator.nodes.kill(first[0]!))
  await stage.until('a node is not Ready', async () => (await lostOf(first)).length > 0)
  const updated = await nodesOn(stage, 'v2')
  await stage.until('it has failed', async () => (await stage.release())?.status?.failure?.stops === true, 75 * SECOND)
  expect((await stage.release())?.status?.failure?.failedNodes?.map(({ reason }) => reason)).toContain('NodeNotReady')
  expect(await nodesOn(stage, 'v2')).toEqual(updated)
  expect(updated.length).toBeLessThan(12)
  expectKept(stage)
})

it('a release that has updated every node does not end while one may have been lost after its update (F14, G9)', async () => {
  const tolerations = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' }]
  stage = await setStage({ nodes: 4, maxUnavailable: 4, steps: [{ replicas: '100%' }], tolerations })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  stage.simulator.stepClock(-240 * SECOND)
  const [lost = ''] = await nodesOn(stage, 'v2')
  await drive(stage.clock, stage.simulator.nodes.kill(lost))
  await stage.until('it has failed', async () => (await stage.release())?.status?.failure?.stops === true)
  expectKept(stage)
})

describe('leaders whose clocks are wrong (F14)', () => {
  it.each(skews)('end a pause of an hour when it is over (F14): $name', async ({ first, next }) => {
    const steps = [{ replicas: 1, pause: { duration: 3_600 } }, { replicas: '100%' }]
    stage = await setStage({ nodes: 5, steps, clockAheadMs: (identity) => (identity === 'controller-2' ? next : first) })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const pausedMs = stage.clock.monotonicMs()
    await stage.pass(600 * SECOND)
    stage.program('controller-1').kill()
    await stage.startController('controller-2')
    await stage.pass(pausedMs + HOUR - TOLERANCE_MS - stage.clock.monotonicMs())
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    await stage.until('the next batch starts', async () => (await nodesOn(stage, 'v2')).length > 1, 20 * SECOND)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it.each([{ ahead: -HOUR }, { ahead: HOUR }, { ahead: -24 * HOUR }])(
    'detach from a DaemonSet within a minute when its Rollout is deleted (F14): $ahead ms ahead',
    async ({ ahead }) => {
      stage = await setStage({ nodes: 5, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }], clockAheadMs: () => ahead })
      await stage.setImage('bad-crash')
      await stage.until('a node is in flight', async () => ((await stage.release())?.status?.flight?.permits.length ?? 0) > 0)
      await stage.client.delete(resourcePaths.rollouts, stageKey)
      const deletedMs = stage.clock.monotonicMs()
      await untilGone(stage)
      // Nodes in flight have half a minute to become available.
      expect(stage.clock.monotonicMs() - deletedMs).toBeGreaterThan(25 * SECOND)
    },
  )
})

async function lostOf(names: readonly string[]): Promise<readonly string[]> {
  const { items } = await stage.client.list<Node>(resourcePaths.nodes, {})
  const isReady = ({ status }: Node): boolean => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
  return items.filter((node) => names.includes(node.metadata.name) && !isReady(node)).map(({ metadata }) => metadata.name)
}

/** Waits for a minute at most. */
function untilGone({ client, until }: Stage): Promise<void> {
  return until('the Rollout is gone', () => client.get(resourcePaths.rollouts, stageKey).then(() => false, isNotFound), 60 * SECOND)
}
