import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const failure = async () => (await stage.release())?.status?.failure
const isFailed = async (): Promise<boolean> => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed'

it('is stopped by the executor alone while no controller is there (G7, product §5)', async () => {
  stage = await setStage({
    nodes: 30,
    maxUnavailable: 1,
    steps: [{ replicas: '100%' }],
    annotations: { 'sim.tranche.dev/late-ms': '5000' },
  })
  await stage.setImage('v2-bad-restart')
  await untilNodesOn(stage, 'v2-bad-restart', 2)
  stage.program('controller-1').kill()
  await stage.pass(120_000)
  const hit = await nodesOn(stage, 'v2-bad-restart')
  await stage.pass(600_000)
  expect(await nodesOn(stage, 'v2-bad-restart')).toEqual(hit)
  expect(hit.length).toBeLessThan(15)
  expect(await failure()).toBeUndefined()

  await stage.startController('controller-2')
  await stage.until('the failure is told', isFailed)
  expect((await failure())?.failedNodes?.[0]).toMatchObject({ reason: 'TooManyRestarts', container: 'agent' })
  expectKept(stage)
})

it('counts no time in which the release was paused towards the deadline (product §5)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2-bad-ready')
  await untilNodesOn(stage, 'v2-bad-ready', 2)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(3_600_000)
  expect(await failure()).toBeUndefined()
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await stage.pass(570_000)
  expect(await failure()).toBeUndefined()
  await stage.until('the failure is told', isFailed, 60_000)
  expect((await failure())?.failedNodes?.[0]).toMatchObject({ reason: 'ProgressDeadlineExceeded' })
  expectKept(stage)
})

it('goes on beside a node whose failure somebody has accepted', async () => {
  const annotations = { 'sim.tranche.dev/bad-nodes': '^node-003$' }
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }], annotations })
  await stage.setImage('v2-bad-crash')
  await stage.until('the failure is told', async () => (await isFailed()) || (await condition(stage, 'Progressing'))?.reason === 'Paused')
  if (!(await isFailed())) await stage.approve()
  await stage.until('the failure is told', isFailed)
  expect((await failure())?.nodes).toEqual(['node-003'])
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'r1', type: 'retry' }) } } })
  await stage.until('every other node is updated', async () => {
    if ((await stage.rollout()).status?.canaryStatus?.currentStepState === 'StepPaused') await stage.approve()
    return (await nodesOn(stage, 'v2-bad-crash')).length === 10
  })
  expect(await failure()).toMatchObject({ stops: false, accepted: ['node-003'] })
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  const left = (await stage.rollout()).status?.conditions?.find(({ type }) => type === 'StrategyRestored')
  expect(left).toMatchObject({ reason: 'NodesLeft', message: expect.stringContaining('no pod is available on node-003') })
  expectKept(stage)
})
