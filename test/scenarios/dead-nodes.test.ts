import { resourcePaths } from '@tranche/kube-client'
import type { RecordedWrite } from '@tranche/recording'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { deletePodsOn, killNodes } from './kill-nodes.ts'
import { condition, nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

describe('a node that dies while its pod is being replaced', () => {
  it('does not block its batch, is named, and is updated when it is back (G6)', async () => {
    stage = await setStage({
      nodes: 6,
      maxUnavailable: 2,
      steps: [{ replicas: 3, pause: {} }, { replicas: '100%' }],
      annotations: { 'sim.tranche.dev/stop-ms': '5000' },
    })
    await stage.setImage('registry.example/node-agent:v2')
    await stage.until('a pod is terminating', async () => (await terminating()) !== undefined)
    const dead = await terminating()
    await stage.simulator.nodes.kill(dead ?? '')
    await stage.until('the step is ready without it', async () => (await stage.rollout()).status?.currentStepState === 'StepPaused')
    expect((await stage.rollout()).status?.skippedNodes).toEqual([dead])
    await stage.approve()
    await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
    expect((await stage.rollout()).status?.message).toContain(dead)
    await stage.simulator.nodes.revive(dead ?? '')
    await stage.until('nothing is left', async () => (await stage.release()) === undefined)
    expect((await stage.pods()).every((pod) => JSON.stringify(pod.spec).includes(':v2'))).toBe(true)
    expectKept(stage)
  })
})

it('a release reports pods that dead kubelets cannot end if they use up maxUnavailable (F12 PodsStuck)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], annotations: { 'sim.tranche.dev/stop-ms': '5000' } })
  await stage.setImage('v2')
  await stage.until('a pod is terminating', async () => (await terminating()) !== undefined)
  const node = (await terminating()) ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.until('it is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'PodsStuck', 300_000)
  expect((await condition(stage, 'Stalled'))?.message).toContain(`${node} which is NotReady`)
  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

describe('nodes that were dead before the release, without a policy', () => {
  it('cost no budget up to a tenth of the nodes, are named, and are updated when they are back (G1, G6)', async () => {
    stage = await setStage({ nodes: 288, maxUnavailable: 14, steps: [{ replicas: '100%' }] })
    const dead = await killNodes(stage, 20)
    await stage.pass(60_000)
    const beganMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await stage.until('the release is over', isOver)
    expect(await nodesOn(stage, 'v2')).toHaveLength(268)
    expect(mostDown(stage.recording(), beganMs, dead)).toBe(14)
    const idealMs = sum(gapsOf(stage.recording())) / 14
    expect(stage.clock.nowMs() - beganMs - FINAL_SOAK_MS).toBeLessThanOrEqual(1.05 * idealMs)
    expect((await condition(stage, 'StrategyRestored'))?.message).toContain(`20 nodes are left behind`)
    expect((await stage.rollout()).status?.skippedNodes).toEqual(dead)
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('hold the release if more than a tenth are dead and use up the limit, and it says so', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    const dead = await killNodes(stage, 3)
    await stage.pass(60_000)
    await stage.setImage('v2')
    await stage.until('it is reported', async () => (await stage.release())?.status?.waiting?.reason === 'BudgetUsedUp')
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expect((await stage.release())?.status?.waiting?.message).toContain(
      '3 nodes are dead, and all of them count, because nodes.notReady.exempt leaves out at most 2',
    )
    await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
    await untilNodesOn(stage, 'v2', 18)
    for (const node of dead.slice(1)) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('count if more than a tenth are dead, and the release says so and uses the rest of the budget (G1)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 4, steps: [{ replicas: '100%' }] })
    const dead = await killNodes(stage, 3)
    await stage.pass(60_000)
    const beganMs = stage.clock.nowMs()
    await stage.setImage('v2')
    const text = '3 nodes are dead, and all of them count, because nodes.notReady.exempt leaves out at most 2'
    await stage.until('the wait says so', async () => (await stage.release())?.status?.waiting?.message?.includes(text) === true)
    expect((await stage.release())?.status?.message).toContain(text)
    await untilNodesOn(stage, 'v2', 17)
    expect(mostDown(stage.recording(), beganMs, dead)).toBe(1)
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('cost no budget in the releases that follow, until they are back (G1, G6)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    const dead = await killNodes(stage, 2)
    await stage.pass(60_000)
    for (const version of ['v2', 'v3', 'v4']) {
      await stage.setImage(version)
      await untilNodesOn(stage, version, 18)
      await stage.until('the release is over', isOver)
      expect((await stage.rollout()).status?.skippedNodes).toEqual(dead)
    }
    expect((await stage.rollout()).status?.formerRevisions).toHaveLength(1)
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v4')
    await stage.setImage('v5')
    await untilReleased(stage, 'v5')
    expect((await stage.rollout()).status?.formerRevisions).toBeUndefined()
    expectKept(stage)
  })

  it('are more than a tenth with one that the last release took down, so that all of them count (G1)', async () => {
    const policy = { failure: { maxFailedNodes: 3, action: 'Pause' }, soak: { final: '2m' } } as const
    const annotations = { 'sim.tranche.dev/stop-ms': '5000' }
    stage = await setStage({ nodes: 12, maxUnavailable: 3, steps: [{ replicas: '100%' }], policy, annotations })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 9)
    await stage.until('a pod is terminating', async () => (await terminating()) !== undefined)
    const inFlight = (await terminating()) ?? ''
    await drive(stage.clock, stage.simulator.nodes.kill(inFlight))
    await untilNodesOn(stage, 'v2', 11)
    await stage.pass(5000)
    const updated = await nodesByAge('v2')
    const dead = [...updated.slice(0, 2), ...updated.slice(-1)]
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.kill(node))
    await stage.until('the release is over', isOver)
    await stage.setImage('v3')
    const text = '3 nodes are dead, and all of them count, because nodes.notReady.exempt leaves out at most 2'
    await stage.until('the wait says so', async () => (await stage.release())?.status?.waiting?.message?.includes(text) === true)
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v3')).toEqual([])
    for (const node of [...dead, inFlight]) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('cost no budget if another client deleted their pods, which dead kubelets cannot end (G1, G6)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    const dead = await killNodes(stage, 2)
    await stage.pass(60_000)
    await deletePodsOn(stage, dead)
    await stage.pass(5 * 60_000)
    for (const version of ['v2', 'v3']) {
      await stage.setImage(version)
      await untilNodesOn(stage, version, 18)
      await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
    }
    expect((await stage.rollout()).status?.message).toContain('18 of 20 nodes are available')
    for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
    await untilNodesOn(stage, 'v3', 20)
    expectKept(stage)
  })

  it('count where a rolled-back release brought their version, which may have taken them down, and the release says so (G1)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    const [taken = ''] = await nodesOn(stage, 'v2')
    await drive(stage.clock, stage.simulator.nodes.kill(taken))
    await stage.pass(60_000)
    await stage.setImage('v1')
    await stage.until('the rollback is over', isOver)
    await stage.setImage('v3')
    await stage.until('it is reported', async () => (await stage.release())?.status?.waiting?.reason === 'BudgetUsedUp')
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v3')).toEqual([])
    expect((await stage.release())?.status?.waiting?.message).toContain(
      `${taken} is out of reach and runs a revision that was rolled back or replaced, which may be why, so it counts: bring it back, or delete its Node object`,
    )
    await drive(stage.clock, stage.simulator.nodes.revive(taken))
    await untilNodesOn(stage, 'v3', 1)
    expectKept(stage)
  })

  it('include a node once its kubelet has reported it NotReady for five minutes', async () => {
    await releaseBeside('node-003')
    await stage.pass(4 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await stage.pass(60_000)
    await untilOver('node-003')
  })

  it('count again once more are dead than a tenth by the clock alone, and the release says so', async () => {
    const annotations = { 'sim.tranche.dev/start-ms': '30000' }
    stage = await setStage({ nodes: 10, maxUnavailable: 3, steps: [{ replicas: '100%' }], annotations })
    await breakNode('node-003')
    await stage.pass(60_000)
    await breakNode('node-005')
    await breakNode('node-007')
    await stage.setImage('v2')
    await stage.pass(3.5 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await stage.until('the first of them costs nothing', async () => (await nodesOn(stage, 'v2')).length > 0, 60_000)
    const isTold = async (): Promise<boolean> => (await stage.release())?.status?.waiting?.message?.includes('3 nodes are dead') === true
    await stage.until('all of them count', isTold, 180_000)
    const updated = await nodesOn(stage, 'v2')
    await stage.pass(5 * 60_000)
    expect(await nodesOn(stage, 'v2')).toEqual(updated)
    for (const name of ['node-003', 'node-005', 'node-007']) await mendNode(name)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('include a node in maintenance at once', async () => {
    await releaseBeside('node-007')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await setCondition('node-007', 'MaintenanceInProgress', 'True')
    await untilOver('node-007')
  })
})

/** Default duration for which updated nodes are watched after the last batch. */
const FINAL_SOAK_MS = 10_000

/** For each deletion by Tranche, the milliseconds until the node had a Ready pod again. */
function gapsOf(writes: readonly RecordedWrite[]): readonly number[] {
  const gaps: number[] = []
  const sinceMs = new Map<string, number>()
  for (const { kind, verb, actor = '', node = '', o, t } of writes) {
    if (kind !== 'Pod') continue
    if (verb === 'delete' && actor.startsWith('executor')) sinceMs.set(node, t)
    else if (o['ready'] === true && o['deleting'] === false && sinceMs.has(node)) {
      gaps.push(t - sinceMs.get(node)!)
      sinceMs.delete(node)
    }
  }
  return gaps
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** @returns the nodes that run this version, the one with the oldest pod first */
async function nodesByAge(version: string): Promise<readonly string[]> {
  const nodes = await nodesOn(stage, version)
  const made = (await stage.pods()).map(({ metadata, spec }) => [metadata.creationTimestamp ?? '', spec?.nodeName ?? ''] as const)
  return made.toSorted().flatMap(([, node]) => (nodes.includes(node) ? [node] : []))
}

/** Whether the release has ended, but for nodes that are left behind. */
async function isOver(): Promise<boolean> {
  return (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft'
}

/** Starts a release, one node at a time, while this one is not Ready. */
async function releaseBeside(name: string): Promise<void> {
  stage = await setStage({ nodes: 10, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await breakNode(name)
  await stage.setImage('v2')
}

/** Waits until all other nodes are updated, and then this one too. */
async function untilOver(name: string): Promise<void> {
  await stage.until('the release is over', isOver, 60_000)
  expect((await stage.rollout()).status?.skippedNodes).toEqual([name])
  await mendNode(name)
  await untilReleased(stage, 'v2')
  expectKept(stage)
}

/** The kubelet reports that the node and its pod are not Ready. */
async function breakNode(name: string): Promise<void> {
  await setCondition(name, 'Ready', 'False')
  await setPodReady(name, 'False')
}

async function mendNode(name: string): Promise<void> {
  await setCondition(name, 'Ready', 'True')
  await setCondition(name, 'MaintenanceInProgress', 'False')
  await setPodReady(name, 'True')
}

async function setPodReady(node: string, status: 'True' | 'False'): Promise<void> {
  const { metadata } = (await stage.pods()).find(({ spec }) => spec?.nodeName === node)!
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  const body = { status: { conditions: [{ type: 'Ready', status, lastTransitionTime: nowText() }] } }
  await stage.client.patch(resourcePaths.pods, key, { type: 'strategic', body }, { subresource: 'status' })
}

function nowText(): string {
  return new Date(stage.clock.nowMs()).toISOString().replace(/\.\d+/, '')
}

/** Sets a condition of the node, as its kubelet or a controller of its maintenance does. */
async function setCondition(name: string, type: string, status: 'True' | 'False'): Promise<void> {
  const body = { status: { conditions: [{ type, status, reason: 'Set', message: '', lastTransitionTime: nowText() }] } }
  await stage.client.patch(resourcePaths.nodes, { name, namespace: '' }, { type: 'strategic', body }, { subresource: 'status' })
}

/** @returns the largest number of living nodes that had no Ready pod at a time after this moment */
function mostDown(writes: readonly RecordedWrite[], sinceMs: number, dead: readonly string[]): number {
  const down = new Set<string>()
  let most = 0
  for (const { kind, node = '', o, t } of writes) {
    if (kind !== 'Pod' || t < sinceMs || dead.includes(node)) continue
    if (o['ready'] === true && o['deleting'] === false) down.delete(node)
    else down.add(node)
    most = Math.max(most, down.size)
  }
  return most
}

async function terminating(): Promise<string | undefined> {
  return (await stage.pods()).find((pod) => pod.metadata.deletionTimestamp !== undefined)?.spec?.nodeName
}
