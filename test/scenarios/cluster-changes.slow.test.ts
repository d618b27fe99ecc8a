import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { mostDown } from './openkruise-faults/measured.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const isHealthy = async (): Promise<boolean> => (await stage.rollout()).status?.phase === 'Healthy'

describe('nodes that change in mid-release', () => {
  it('are updated although they are cordoned, because a DaemonSet runs on them (G6)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    for (const name of ['node-003', 'node-008']) await patchNode(name, { spec: { unschedulable: true } })
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(5)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    expectKept(stage)
  })

  it('do not count while a taint keeps the DaemonSet away, and count again when the taint is removed (G3, G6)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, tolerations: [] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    const tainted = ['node-002', 'node-005', 'node-006', 'node-009']
    for (const name of tainted) await patchNode(name, { spec: { taints: [{ key: 'example.com/reserved', effect: 'NoExecute' }] } })
    await stage.until('their pods are gone', async () => (await stage.pods()).every(({ spec }) => !tainted.includes(spec?.nodeName ?? '')))
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(3)
    for (const name of tainted) await patchNode(name, { spec: { taints: null } })
    await stage.until('every node has a pod', async () => (await stage.daemonSet()).status?.numberReady === 10)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    expectKept(stage)
  })

  it('leave and join by their labels, and the sizes follow (G3)', async () => {
    const template = { spec: { nodeSelector: { pool: 'agents' } } }
    stage = await setStage({ nodes: 12, maxUnavailable: 2, steps, withRollout: false })
    for (let number = 1; number <= 10; number++) await label(number, 'agents')
    await stage.patchDaemonSet({ spec: { template } })
    await stage.until('the selector holds', async () => {
      const { status, metadata } = await stage.daemonSet()
      return (
        status?.observedGeneration === metadata.generation && status?.desiredNumberScheduled === 10 && status.updatedNumberScheduled === 10
      )
    })
    await stage.until('it is Ready', async () => (await stage.daemonSet()).status?.numberReady === 10)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
    await stage.until('it is Healthy', isHealthy)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    for (const number of [1, 2, 3, 4]) await label(number, 'others')
    for (const number of [11, 12]) await label(number, 'agents')
    await untilPausedAt(stage, 1)
    expect((await stage.daemonSet()).status?.desiredNumberScheduled).toBe(8)
    expect(await nodesOn(stage, 'v2')).toHaveLength(4)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('end the release when the dead node that was skipped is removed for good, and the strategy is restored (G6)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission: 'inProcess' })
    await drive(stage.clock, stage.simulator.nodes.kill('node-004'))
    await stage.pass(60_000)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await stage.until('it is Healthy', isHealthy)
    expect(await condition(stage, 'StrategyRestored')).toMatchObject({ status: 'False', reason: 'NodesLeft' })
    await stage.pass(3_600_000)
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
    await drive(stage.clock, stage.simulator.nodes.removeNode('node-004'))
    await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
    await stage.until('the release is deleted', async () => (await stage.release()) === undefined)
    await stage.until('it is reported', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
    expect((await stage.rollout()).status?.skippedNodes ?? []).toEqual([])
    expectKept(stage)
  })
})

it('a template that changes placement is released like any other: nodes that leave lose their pod at once, the rest are updated in steps (G3)', async () => {
  stage = await setStage({ nodes: 12, maxUnavailable: 2, steps })
  for (let number = 1; number <= 8; number++) await label(number, 'agents')
  const containers = [{ name: 'agent', image: 'registry.example/node-agent:v2' }]
  const body = { spec: { template: { spec: { nodeSelector: { pool: 'agents' }, containers } } } }
  await stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(4)
  expect((await stage.pods()).length).toBe(8)
  expect(deletions(stage)).toBe(4)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toHaveLength(8)
  expectKept(stage)
})

it('the controller takes over the strategy in mid-surge only when no node has two pods, so no node goes down (G11)', async () => {
  const annotations = { 'sim.tranche.dev/start-ms': '5000', 'sim.tranche.dev/stop-ms': '5000' }
  stage = await setStage({ nodes: 8, withRollout: false, annotations })
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 3 } } } })
  await stage.setImage('v2')
  await stage.until('nodes have two pods', async () => (await stage.pods()).length > 8)
  const sinceMs = stage.clock.nowMs()
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
  const standing: number[] = []
  await stage.until('it is OnDelete', async () => {
    standing.push((await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined).length)
    return (await stage.daemonSet()).spec.updateStrategy?.type === 'OnDelete'
  })
  expect(standing[0]).toBeGreaterThan(8)
  expect(standing.at(-1)).toBe(8)
  await stage.pass(60_000)
  expect(mostDown(stage, sinceMs)).toBe(0)
  expect(deletions(stage)).toBe(0)
})

describe('a Rollout that is created after the change', () => {
  it('takes over a native update in progress, and continues in steps from the updated nodes (G3)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps, withRollout: false, annotations: { 'sim.tranche.dev/start-ms': '4000' } })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 4)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    expect((await stage.daemonSet()).metadata.annotations).toHaveProperty([keys.partition], '10')
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('has nothing to do after the native update has ended', async () => {
    stage = await setStage({ nodes: 6, steps, withRollout: false })
    await stage.setImage('v2')
    await stage.until('it is rolled out', async () => (await nodesOn(stage, 'v2')).length === 6)
    await stage.until('it is available', async () => (await stage.daemonSet()).status?.numberAvailable === 6)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
    await stage.until('it is Healthy', isHealthy)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    expect(await isHealthy()).toBe(true)
  })
})

describe('steps that change in mid-release', () => {
  it('become more: the release continues at the step that fits, and pauses at the new ones (F9)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await setSteps([{ replicas: '10%', pause: {} }, { replicas: '30%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }])
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    await stage.approve()
    await untilPausedAt(stage, 3)
    expect(await nodesOn(stage, 'v2')).toHaveLength(12)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('become fewer: the release continues at the first step that is as large as the updated nodes (F9, G3)', async () => {
    const many = [10, 20, 30, 40].map((percent) => ({ replicas: `${percent}%`, pause: {} }))
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [...many, { replicas: '100%' }] })
    await stage.setImage('v2')
    for (const step of [1, 2, 3]) {
      await untilPausedAt(stage, step)
      if (step < 3) await stage.approve()
    }
    await setSteps([{ replicas: '30%', pause: {} }, { replicas: '100%' }])
    await untilPausedAt(stage, 1)
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe('steps that are replaced in mid-release', () => {
  it('after the last step do not keep the release from ending (G6)', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await stage.setImage('v2')
    await stage.until('the release finishes', async () => {
      const { phase, canaryStatus } = (await stage.rollout()).status ?? {}
      return phase === 'Progressing' && canaryStatus?.finalisingStep === 'ResumeWorkload'
    })
    await stage.patchRollout({ spec: { strategy: { canary: { steps: [{ replicas: '40%', pause: {} }, { replicas: '100%' }] } } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  const pausing = (sizes: readonly (number | string)[]): readonly object[] => sizes.map((replicas) => ({ replicas, pause: {} }))

  it.each([
    ['one is as large as what was opened', [2, 5, 10, 15, 20], 3, 10],
    ['none is, and the largest below it counts', [2, 6, 12, 20], 2, 10],
    ['the current one is larger', [4, 14, 16, 20], 2, 14],
    ['several are, and the first of them counts', [2, 5, 10, 10, 20], 3, 10],
    ['an earlier one is larger', [10, 14, 20], 1, 10],
    ['an earlier one is larger and opens first', [12, 14, 20], 1, 12],
    ['the current one is, and one after it', [2, 10, 10, 20], 2, 10],
  ] as const)('by more of them: the release continues without opening more nodes, %s (F9, G3)', async (_how, sizes, step, updated) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 4, steps: pausing(['10%', '50%', '100%']) as never })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    await setSteps(pausing(sizes))
    await stage.pass(30_000)
    expect((await stage.rollout()).status).toMatchObject({ currentStepIndex: step, currentStepState: 'StepPaused' })
    expect((await stage.daemonSet()).metadata.annotations?.[keys.partition]).toBe(String(20 - sizes[step - 1]!))
    expect(await nodesOn(stage, 'v2')).toHaveLength(updated)
    await stage.approve()
    await untilPausedAt(stage, step + 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(sizes[step]!)
    for (let next = step + 1; next < sizes.length; next++) await approveAt(next)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('by a larger step: its pause starts when its nodes are available (G3)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 4, steps: pausing(['10%', '100%']) as never })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.pass(300_000)
    await setSteps([{ replicas: '50%', pause: { duration: 120 } }, { replicas: '100%' }])
    await untilNodesOn(stage, 'v2', 10)
    await untilPausedAt(stage, 1)
    await stage.pass(100_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('in the middle of a batch: the nodes that were opened are updated, and no more (F9, G3)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: pausing(['10%', '50%', '100%']) as never })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilNodesOn(stage, 'v2', 5)
    await setSteps(pausing([1, 2, 4, 10, 20]))
    await untilPausedAt(stage, 4)
    await stage.pass(30_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    await approveAt(4)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

describe('a jump', () => {
  const many = [10, 30, 50, 70].map((percent) => ({ replicas: `${percent}%`, pause: {} }))

  it('forwards goes to the step at once; a jump backwards deletes nothing and waits there for approval (G3, G10)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 4, steps: [...many, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await jump(3)
    await untilPausedAt(stage, 3)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    const deleted = deletions(stage)
    await jump(2)
    await untilPausedAt(stage, 2)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    await stage.approve()
    await untilPausedAt(stage, 3)
    expect(deletions(stage)).toBe(deleted)
    await jump(5)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('to a step that does not exist is reset (G10)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 4, steps: [...many, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await jump(9)
    await stage.until('it is put back', async () => (await stage.rollout()).status?.canaryStatus?.nextStepIndex === 2)
    await stage.pass(60_000)
    expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    expectKept(stage)
  })
})

it('a release is rolled back to the stable version although only running revisions are left in the history', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 0 } })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.setImage('v3')
  await stage.until('v3 is released', async () => (await nodesOn(stage, 'v3')).length > 0)
  await untilPausedAt(stage, 1)
  await stage.until('no node runs v2', async () => (await nodesOn(stage, 'v2')).length === 0)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expect(await nodesOn(stage, 'v1')).toHaveLength(10)
  expectKept(stage)
})

async function approveAt(step: number): Promise<void> {
  await untilPausedAt(stage, step)
  await stage.approve()
}

async function jump(nextStepIndex: number): Promise<void> {
  const body = { status: { canaryStatus: { nextStepIndex } } }
  await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
}

async function setSteps(list: readonly object[]): Promise<void> {
  await stage.patchRollout({ spec: { strategy: { canary: { steps: list } } } })
}

async function label(number: number, pool: string): Promise<void> {
  await patchNode(`node-${String(number).padStart(3, '0')}`, { metadata: { labels: { pool } } })
}

async function patchNode(name: string, body: object): Promise<void> {
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body })
}
