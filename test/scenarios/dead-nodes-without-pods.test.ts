import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { deletePodsOn, killNodes } from './kill-nodes.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** As `kubectl delete --force` does: Kubernetes then creates a pod of the present template, which no kubelet starts. */
const forced = { gracePeriodSeconds: 0 } as const

it('a node that was dead before its update fails no release, though its pod was force-deleted (G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  const dead = await killNodes(stage, 1)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await deletePodsOn(stage, dead, forced)
  await stage.pass(20 * 60_000)
  expect((await stage.rollout()).status).toMatchObject({ phase: 'Progressing', currentStepState: 'StepPaused', skippedNodes: dead })
  await stage.approve()
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await stage.pass(20 * 60_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a node left whose pod was force-deleted does not stop the others, and fails nothing once it is back (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  const [first = '', second = ''] = await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await stage.until('the release is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  await deletePodsOn(stage, [first], forced)
  await stage.pass(20 * 60_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  await drive(stage.clock, stage.simulator.nodes.revive(first))
  await stage.pass(5_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  await drive(stage.clock, stage.simulator.nodes.revive(second))
  await untilReleased(stage, 'v2')
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expectKept(stage)
})

it('a release names the dead node whose new pod uses up maxUnavailable, and continues once it is back (G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 1, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
  const [dead = ''] = await killNodes(stage, 1)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await deletePodsOn(stage, [dead], forced)
  await stage.approve()
  await stage.pass(20 * 60_000)
  const { status } = await stage.rollout()
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  expect(status?.message).toContain(dead)
  expect(await nodesOn(stage, 'v2')).toHaveLength(2)
  await drive(stage.clock, stage.simulator.nodes.revive(dead))
  await untilNodesOn(stage, 'v2', 10)
  expectKept(stage)
})
