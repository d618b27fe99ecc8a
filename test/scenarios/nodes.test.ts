import { afterEach, expect, it } from 'vitest'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const isHealthy = async (): Promise<boolean> => (await stage.rollout()).status?.phase === 'Healthy'

it('the sizes of a release follow nodes that join and leave (G3)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  for (const name of ['new-1', 'new-2', 'new-3']) await drive(stage.clock, stage.simulator.nodes.addNode(name))
  await stage.pass(1_000)
  const removed = ['node-004', 'node-019']
  for (const name of removed) await drive(stage.clock, stage.simulator.nodes.removeNode(name))
  await untilPausedAt(stage, 1)
  // The pod of a removed node remains for a while, but no longer counts.
  expect((await nodesOn(stage, 'v2')).filter((name) => !removed.includes(name))).toHaveLength(11)
  await stage.approve()
  await untilNodesOn(stage, 'v2', 14)
  await drive(stage.clock, stage.simulator.nodes.removeNode('node-010'))
  await drive(stage.clock, stage.simulator.nodes.addNode('new-4'))
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toHaveLength(21)
  expectKept(stage)
})

it('a node with a long name is left behind like any other, and updated when it is back (G6)', async () => {
  // As long as a name may be, and no label value may: machines of some clouds have their domain in it.
  const name = `node-1.${'a-long-domain.'.repeat(16)}example`
  stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await drive(stage.clock, stage.simulator.nodes.addNode(name))
  await untilNodesOn(stage, 'v1', 5)
  await drive(stage.clock, stage.simulator.nodes.kill(name))
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  await stage.until('it is left', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  await stage.until('it is named', async () => (await stage.release())?.spec.tranche?.left?.nodes?.includes(name) === true)
  await drive(stage.clock, stage.simulator.nodes.revive(name))
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toContain(name)
  expectKept(stage)
})

it('a NotReady node is skipped, the release ends with NodesLeft, and the node is updated when it is back (G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission: 'inProcess' })
  await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(5)
  await stage.approve()
  await stage.until('it is Healthy', isHealthy)

  expect(await nodesOn(stage, 'v2')).toHaveLength(9)
  expect(await condition(stage, 'StrategyRestored')).toMatchObject({ status: 'False', reason: 'NodesLeft' })
  expect((await condition(stage, 'StrategyRestored'))?.message).toContain('node-003')
  expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'True' })
  expect((await stage.rollout()).status?.skippedNodes).toEqual(['node-003'])
  const left = await stage.daemonSet()
  expect(left.spec.updateStrategy?.type).toBe('OnDelete')
  expect(left.metadata.annotations).toMatchObject({ [keys.partition]: '0', [keys.originalUpdateStrategy]: 'RollingUpdate' })
  expect(left.metadata.annotations).toHaveProperty([keys.controlInfo])
  await stage.until('in-progressing is gone', async () => !(keys.inProgressing in ((await stage.daemonSet()).metadata.annotations ?? {})))

  await drive(stage.clock, stage.simulator.nodes.revive('node-003'))
  await untilReleased(stage, 'v2')
  await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
  await stage.until('the condition is True', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([keys.controlInfo])
  await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
  expectKept(stage)
})

it('the next release starts although the last one left a node behind', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await stage.until('it is Healthy', isHealthy)
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  await drive(stage.clock, stage.simulator.nodes.revive('node-003'))
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('a node that dies with its new pod is a failure, and the release ends when the node is back and a user retries (G2, G6)', async () => {
  stage = await setStage({
    nodes: 10,
    maxUnavailable: 2,
    steps: [{ replicas: '100%' }],
    annotations: { 'sim.tranche.dev/start-ms': '8000' },
  })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 1)
  const node = (await nodesOn(stage, 'v2'))[0] ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.pass(300_000)
  expect(await isHealthy()).toBe(false)
  expect((await stage.rollout()).status?.message).toContain(node)
  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'again', type: 'retry' }) } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a permit whose node is removed while its pod is in flight does not block the release (F6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  for (let round = 0; round < 3; round++) {
    await stage.until('there is a permit', async () => ((await stage.release())?.status?.flight?.permits.length ?? 0) > 0)
    const node = (await stage.release())?.status?.flight?.permits[0]?.node ?? ''
    await drive(stage.clock, stage.simulator.nodes.removeNode(node))
    await stage.pass(2_000)
  }
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a release without desired nodes completes at once', async () => {
  stage = await setStage({ nodes: 0, steps })
  const before = (await stage.rollout()).status?.stableRevision
  await stage.setImage('v2')
  await stage.until('the new revision is the stable one', async () => {
    const { status } = await stage.rollout()
    return status?.phase === 'Healthy' && status.stableRevision !== before
  })
})
