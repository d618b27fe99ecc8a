import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { expectKept } from './expect-kept.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const label = (node: string, pool: string | null): Promise<unknown> =>
  stage.client.patch(resourcePaths.nodes, { name: node } as never, { type: 'merge', body: { metadata: { labels: { pool } } } })
const isHealthy = async (): Promise<boolean> => (await stage.rollout()).status?.phase === 'Healthy'

it('follows a template that takes nodes away and lets them go with their permits (F6, product §3.8)', async () => {
  stage = await setStage({ nodes: 12, maxUnavailable: 2, steps })
  const keep = ['node-001', 'node-002', 'node-003', 'node-004', 'node-005', 'node-006']
  for (const node of keep) await label(node, 'agents')
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const template = { spec: { nodeSelector: { pool: 'agents' } } }
  await stage.client.patch(
    resourcePaths.daemonSets,
    { namespace: 'demo', name: 'node-agent' },
    { type: 'strategic', body: { spec: { template } } },
  )
  await stage.until('the other nodes are left', async () => (await stage.pods()).length <= 6)
  await untilPausedAt(stage, 1)
  // A node that enters comes up on the new template at once, one that leaves takes its place in the size with it.
  await label('node-009', 'agents')
  await label('node-006', null)
  await stage.until('it has entered', async () => (await nodesOn(stage, 'v2')).includes('node-009'))
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toEqual([...keep.slice(0, 5), 'node-009'])
  expectKept(stage)
})

it('ends when a node that died with its old pod is removed for good (G6, NodesLeft)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, admission: 'inProcess' })
  await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await stage.until('it is Healthy', isHealthy)
  expect(await condition(stage, 'StrategyRestored')).toMatchObject({ status: 'False', reason: 'NodesLeft' })
  await drive(stage.clock, stage.simulator.nodes.removeNode('node-003'))
  await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
  expect((await stage.rollout()).status?.skippedNodes ?? []).toEqual([])
  expectKept(stage)
})

it('goes on over nodes that are cordoned or tainted in mid-release (G3, G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' }
  for (const [node, spec] of [
    ['node-007', { unschedulable: true }],
    ['node-008', { taints: [taint] }],
  ] as const) {
    await stage.client.patch(resourcePaths.nodes, { name: node } as never, { type: 'merge', body: { spec } })
  }
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  expectKept(stage)
})

it('tells pods that dead kubelets cannot end, when they use maxUnavailable up (F12 PodsStuck)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], annotations: { 'sim.tranche.dev/stop-ms': '5000' } })
  await stage.setImage('v2')
  await stage.until('a pod is on its way out', async () => (await terminating()) !== undefined)
  const node = (await terminating()) ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.until('it is told', async () => (await condition(stage, 'Stalled'))?.reason === 'PodsStuck', 300_000)
  expect((await condition(stage, 'Stalled'))?.message).toContain(`${node} which is NotReady`)
  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function terminating(): Promise<string | undefined> {
  return (await stage.pods()).find(({ metadata }) => metadata.deletionTimestamp !== undefined)?.spec?.nodeName
}
