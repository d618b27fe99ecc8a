import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { deletePodsOn, killNodes, putIntoService, takeOutOfService } from './kill-nodes.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { policyKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const named = (...values: readonly string[]) => ({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values }] })
const abort = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } }

describe('a version that no node can run yet', () => {
  it.each([
    ['and the agent runs on dead nodes', [{ operator: 'Exists' }]],
    ['and the agent is not desired on dead nodes', []],
  ])(
    'waits while all nodes are dead %s, is never the stable one, and continues with the first node that is back (G3, G6)',
    async (_which, tolerations) => {
      stage = await setStage({
        nodes: 4,
        maxUnavailable: 4,
        steps: [{ replicas: '25%', pause: { duration: 5 } }, { replicas: '100%' }],
        tolerations,
      })
      const stable = (await stage.rollout()).status?.stableRevision
      const dead = await killNodes(stage, 4)
      await stage.pass(60_000)
      await stage.setImage('v2')
      await untilWaiting()
      await stage.pass(30 * 60_000)
      const { status } = await stage.rollout()
      expect(status).toMatchObject({ phase: 'Progressing', currentStepIndex: 1, stableRevision: stable })
      expect(status?.waitingFor?.nodes.toSorted()).toEqual(dead)
      expect(status?.message).toContain(`NotReady, out of service or in maintenance: ${dead[0]}`)
      expect(status?.conditions?.some(({ type }) => type === 'Succeeded')).toBe(false)
      await drive(stage.clock, stage.simulator.nodes.revive(dead[2]!))
      await untilNodesOn(stage, 'v2', 1)
      await stage.until('the release is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
      expect((await stage.rollout()).status?.stableRevision).not.toBe(stable)
      for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
      await untilReleased(stage, 'v2')
      expectKept(stage)
    },
  )

  it('waits while the nodes of its first step are dead, and opens no further step (G3)', async () => {
    const steps = [{ nodes: named('node-001'), pause: { duration: 5 } }, { replicas: '100%' }]
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps })
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilWaiting()
    await stage.pass(30 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('is rolled back by an abort to the version that did run', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 4, steps: [{ replicas: '100%' }] })
    const stable = (await stage.rollout()).status?.stableRevision
    const dead = await killNodes(stage, 4)
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilWaiting()
    await stage.patchRollout(abort)
    await stage.until('the template is back', async () => JSON.stringify((await stage.daemonSet()).spec.template).includes(':v1'))
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v1')
    expect((await stage.rollout()).status?.stableRevision).toBe(stable)
    await stage.setImage('v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('waits while the policy excludes all nodes, and continues once the policy changes', async () => {
    const policy = { nodes: { exclude: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Exists' as const }] }] } }
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy })
    await stage.setImage('v2')
    await untilWaiting('NodesExcluded')
    expect((await stage.rollout()).status?.message).toContain('the policy excludes every node of the batch (node-001, ')
    await stage.pass(10 * 60_000)
    expect((await stage.rollout()).status?.phase).toBe('Progressing')
    await stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { nodes: null } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('passes a later step whose nodes are all dead, because other nodes run it', async () => {
    const steps = [{ nodes: named('node-002'), pause: {} }, { nodes: named('node-001'), pause: {} }, { replicas: '100%' }]
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps })
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-002'])
    await stage.approve()
    await untilNodesOn(stage, 'v2', 3)
    await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe.each([
  ['a person has force-deleted', async (nodes: readonly string[]) => deletePodsOn(stage, nodes, { gracePeriodSeconds: 0 })],
  ['Kubernetes has deleted, as the nodes are out of service,', async (nodes: readonly string[]) => takeOutOfService(stage, nodes)],
])('an agent that is not desired on dead nodes, whose pods %s', (_how, removePods) => {
  it('waits while all nodes are dead, is never the stable version, and continues with the first node that is back (G3, G6)', async () => {
    const steps = [{ replicas: '25%', pause: { duration: 5 } }, { replicas: '100%' }]
    stage = await setStage({ nodes: 4, maxUnavailable: 4, steps, tolerations: [] })
    const stable = (await stage.rollout()).status?.stableRevision
    const dead = await killNodes(stage, 4)
    await stage.pass(60_000)
    await removePods(dead)
    expect(await stage.pods()).toEqual([])
    await stage.setImage('v2')
    await untilWaiting()
    await stage.pass(30 * 60_000)
    const { status } = await stage.rollout()
    expect(status).toMatchObject({ phase: 'Progressing', currentStepIndex: 1, stableRevision: stable })
    expect(status?.waitingFor?.nodes.toSorted()).toEqual(dead)
    await putIntoService(stage, dead[2]!)
    await untilReleased(stage, 'v2')
    expect((await stage.rollout()).status?.stableRevision).not.toBe(stable)
    for (const node of dead) await putIntoService(stage, node)
    await untilNodesOn(stage, 'v2', 4)
    await stage.setImage('v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('waits while the nodes of its first step are dead, and no other node gets the version (G3)', async () => {
    const steps = [{ nodes: named('node-001'), pause: { duration: 5 } }, { replicas: '100%' }]
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps, tolerations: [] })
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(60_000)
    await removePods(['node-001'])
    await stage.setImage('v2')
    await untilWaiting()
    await stage.pass(30 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expect((await stage.rollout()).status?.waitingFor?.nodes).toEqual(['node-001'])
    await putIntoService(stage, 'node-001')
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('is rolled back by an abort, although no node is in reach', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 4, steps: [{ replicas: '100%' }], tolerations: [] })
    const stable = (await stage.rollout()).status?.stableRevision
    const dead = await killNodes(stage, 4)
    await stage.pass(60_000)
    await removePods(dead)
    await stage.setImage('v2')
    await untilWaiting()
    await stage.patchRollout(abort)
    await stage.until('the rollback is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
    expect((await stage.rollout()).status).toMatchObject({ stableRevision: stable, rollbackFrom: expect.any(String) })
    for (const node of dead) await putIntoService(stage, node)
    await untilNodesOn(stage, 'v1', 4)
    await stage.setImage('v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })
})

describe('an agent that is not desired on dead nodes', () => {
  const steps = [{ nodes: named('node-001'), pause: { duration: 60 } }, { replicas: '100%' }]

  it('gives no other node a version after whose update the only node of the first step died, where that is tolerated (G3)', async () => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps, tolerations: [], policy: { failure: { maxFailedNodes: 1 } } })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(30 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual(['node-001'])
    expect((await stage.rollout()).status?.message).toContain('no node of the batch is in reach')
    await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it.each([
    ['was deleted', async () => drive(stage.clock, stage.simulator.nodes.removeNode('node-001'))],
    [
      'has a taint of a user, too',
      async () => {
        const body = [{ op: 'add' as const, path: '/spec/taints/-', value: { key: 'repair', effect: 'NoSchedule' } }]
        await stage.client.patch(resourcePaths.nodes, { namespace: '', name: 'node-001' }, { type: 'json', body })
      },
    ],
  ])('is released to the other nodes where the dead node of the first step %s', async (_how, exclude) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 2, steps, tolerations: [] })
    await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
    await stage.pass(60_000)
    await deletePodsOn(stage, ['node-001'], { gracePeriodSeconds: 0 })
    await stage.setImage('v2')
    await untilWaiting()
    await exclude()
    await untilReleased(stage, 'v2')
    expect(await nodesOn(stage, 'v2')).toHaveLength(3)
    expectKept(stage)
  })
})

async function untilWaiting(reason = 'NoNodeInReach'): Promise<void> {
  await stage.until('it waits', async () => (await stage.rollout()).status?.waitingFor?.reason === reason, 120_000)
}
