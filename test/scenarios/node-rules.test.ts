import { afterEach, describe, expect, it } from 'vitest'
import type { NodeSelector } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { applyPolicy } from './policies.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const ZONE = 'topology.kubernetes.io/zone'
const named = (...values: readonly string[]): NodeSelector => ({
  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }],
})
const inZone = (zone: string): NodeSelector => ({ matchLabels: { [ZONE]: zone } })
const isHealthy = async (): Promise<boolean> => (await stage.rollout()).status?.phase === 'Healthy'

describe('steps that select nodes', () => {
  it('start with the canary nodes, wait, and continue with sizes (G3)', async () => {
    const steps = [{ nodes: named('node-003', 'node-007'), pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]
    stage = await setStage({ nodes: 10, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-003', 'node-007'])
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(5)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('update all of one zone, then all of the next, then the rest, and count leaked nodes (G3)', async () => {
    const steps = [{ nodes: inZone('zone-b'), pause: {} }, { nodes: inZone('zone-a'), pause: {} }, { replicas: '100%' }]
    stage = await setStage({ nodes: 9, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    // node-001 is in zone-a, so its pod starts with the new version before its step.
    const pod = (await stage.pods()).find(({ spec }) => spec?.nodeName === 'node-001')
    await drive(stage.clock, stage.client.delete(resourcePaths.pods, { namespace: 'demo', name: pod?.metadata.name ?? '' }))
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-001', 'node-002', 'node-005', 'node-008'])
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-001', 'node-002', 'node-004', 'node-005', 'node-007', 'node-008'])
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe('a policy that spreads a release over zones', () => {
  it('never has more nodes of one zone down than its limit, and keeps every zone busy (G1, G2)', async () => {
    const policy = { nodes: { spread: [{ topologyKey: ZONE, maxUnavailable: 1 }], order: [{ selector: inZone('zone-c') }] } }
    stage = await setStage({ nodes: 12, maxUnavailable: 6, steps: [{ replicas: '100%' }], policy, executors: ['executor-1', 'executor-2'] })
    await stage.setImage('v2')
    let most = 0
    await stage.until('every node runs v2', async () => {
      const { down, byZone } = await downNodes()
      expect(Math.max(0, ...byZone)).toBeLessThanOrEqual(1)
      most = Math.max(most, down)
      return (await nodesOn(stage, 'v2')).length === 12
    })
    expect(most).toBe(3)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('continues in other zones while a node of one zone is down, and reports which zone waits', async () => {
    const policy = { nodes: { spread: [{ topologyKey: ZONE, maxUnavailable: 1 }], notReady: { exempt: 0 } } }
    stage = await setStage({ nodes: 9, maxUnavailable: 3, steps: [{ replicas: '100%' }], policy })
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 6)
    await stage.until('it is reported', async () => (await stage.release())?.status?.waiting?.reason === 'SpreadUsedUp')
    expect((await stage.release())?.status?.waiting?.message).toContain(`${ZONE}=zone-a may have 1 down, and node-001 is`)
    expect(await nodesOn(stage, 'v1')).toEqual(expect.arrayContaining(['node-001', 'node-004', 'node-007']))
    await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe('a policy that excludes nodes', () => {
  it('updates them no more once it is acknowledged, leaves them at the end, and updates them when the exclusion is removed (F8, NodesLeft)', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: {} })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    const kept = (await nodesOn(stage, 'v1')).slice(-2)
    await applyPolicy(stage, { nodes: { exclude: [named(...kept)] } })
    await stage.until('it is Healthy', isHealthy)
    expect(await nodesOn(stage, 'v1')).toEqual(kept)
    expect(await condition(stage, 'StrategyRestored')).toMatchObject({ status: 'False', reason: 'NodesLeft' })
    expect((await condition(stage, 'StrategyRestored'))?.message).toContain(
      `2 excluded by nodes.exclude of the policy (${kept.join(', ')}), updated once the policy or their labels no longer exclude them`,
    )
    expect((await stage.rollout()).status?.skippedNodes).toEqual(kept)
    await applyPolicy(stage, {})
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('keeps bad pods on them, which use up the budget of the next version until a person acts', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy: {} })
    await stage.setImage('v2-bad-crash')
    await untilNodesOn(stage, 'v2-bad-crash', 2)
    const bad = await nodesOn(stage, 'v2-bad-crash')
    await stage.until('it has failed', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed', 20 * 60_000)
    await applyPolicy(stage, { nodes: { exclude: [named(...bad)] } })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } })
    await stage.until('it is Healthy', isHealthy)
    expect(await nodesOn(stage, 'v2-bad-crash')).toEqual(bad)
    await stage.setImage('v3')
    const waitsFor = async (): Promise<string | undefined> => (await stage.rollout()).status?.waitingFor?.reason
    await stage.until('it waits for the budget', async () => (await waitsFor()) === 'BudgetUsedUp')
    await stage.until('it needs a person', async () => (await waitsFor()) === 'NodesExcluded', 20 * 60_000)
    expect((await stage.rollout()).status?.message).toContain(
      `maxUnavailable (2) is used up: 2 excluded by the policy (${bad.join(', ')}); nothing updates ${bad.join(', ')} while the policy excludes them`,
    )
    await applyPolicy(stage, {})
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })
})

describe('a node that is NotReady when it is due', () => {
  it('is waited for and named if the policy says so', async () => {
    const policy = { nodes: { notReady: { action: 'Wait' as const }, order: [{ selector: named('node-002') }] } }
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }], policy })
    await drive(stage.clock, stage.simulator.nodes.kill('node-002'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await stage.until('it is reported', async () => (await stage.release())?.status?.waiting?.reason === 'NodesNotReady')
    expect((await stage.release())?.status?.waiting?.message).toContain('node-002')
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await drive(stage.clock, stage.simulator.nodes.revive('node-002'))
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-002'])
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('counts as a failure of the new version if the policy says so, until a retry accepts it', async () => {
    const policy = { nodes: { notReady: { action: 'Fail' as const }, order: [{ selector: named('node-002') }] } }
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy })
    await drive(stage.clock, stage.simulator.nodes.kill('node-002'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await stage.until('it is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
    expect((await condition(stage, 'Stalled'))?.message).toContain(
      'node-002: NodeNotReady: the node was NotReady or in maintenance when its update was due',
    )
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'go-on', type: 'retry' }) } } })
    await untilNodesOn(stage, 'v2', 5)
    await drive(stage.clock, stage.simulator.nodes.revive('node-002'))
    await untilReleased(stage, 'v2')
  })

  it('uses up no budget if the policy exempts enough nodes (G1)', async () => {
    const policy = { nodes: { notReady: { exempt: 2 } } }
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy })
    for (const node of ['node-002', 'node-005']) await drive(stage.clock, stage.simulator.nodes.kill(node))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 6)
    await stage.until('it is Healthy', isHealthy)
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    expect((await condition(stage, 'StrategyRestored'))?.message).toMatch(
      /2 dead \(node-002 since \S+, node-005 since \S+\), updated on return/,
    )
    for (const node of ['node-002', 'node-005']) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

/** Nodes without a Ready pod: their number in total and by zone. */
async function downNodes(): Promise<{ readonly down: number; readonly byZone: readonly number[] }> {
  const ready = new Set(
    (await stage.pods())
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .map(({ spec }) => spec?.nodeName),
  )
  const { items } = await stage.client.list<Node>(resourcePaths.nodes, {})
  const down = items.filter(({ metadata }) => !ready.has(metadata.name))
  return {
    down: down.length,
    byZone: [...Map.groupBy(down, ({ metadata }) => metadata.labels?.[ZONE] ?? '').values()].map(({ length }) => length),
  }
}
