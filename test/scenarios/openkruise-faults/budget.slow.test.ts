import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { expectKept } from '../expect-kept.ts'
import { breakPod, deletePod, forbidPods, setFinalizers } from '../hands.ts'
import { condition, nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { setStage, type Stage } from '../stage.ts'
import { crews, deleted, expectReported, isHealthy, measuredPods, mostDown } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const all = [{ replicas: '100%' }]

describe.each(crews)('with $crew', ({ executors }) => {
  it('keeps one node down if pods cannot be created again because of a quota of 0 pods (X1, W1, G1)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps: all, annotations: measuredPods, executors })
    const allow = await forbidPods(stage)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await stage.pass(90_000)
    const gone = deleted(stage, sinceMs)
    expect(gone).toHaveLength(1)
    expect(mostDown(stage, sinceMs)).toBe(1)
    await expectReported(stage, 'FailedCreate', gone[0]!.node)
    expect((await stage.rollout()).status?.phase).toBe('Progressing')

    await allow()
    const retry = { 'tranche.dev/action': JSON.stringify({ id: '1', type: 'retry' }) }
    await stage.patchRollout({ metadata: { annotations: retry } })
    await untilReleased(stage, 'v2', 3_600_000)
    expect(mostDown(stage, sinceMs)).toBe(1)
    expectKept(stage)
  })

  it.each([
    { nodes: 30, limit: 1, seed: 1 },
    { nodes: 30, limit: 3, seed: 3 },
    { nodes: 30, limit: 5, seed: 5 },
    { nodes: 30, limit: 5, seed: 6 },
    { nodes: 100, limit: 10, seed: 7 },
  ])('never takes down more than $limit of $nodes nodes at once in a healthy release, seed $seed (X3, W3, G1, G2)', async (run) => {
    const { nodes, limit, seed } = run
    stage = await setStage({ nodes, maxUnavailable: limit, steps: all, annotations: measuredPods, executors, seed, watchDelayMs: 200 })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(mostDown(stage, sinceMs)).toBe(limit)
    expect(deleted(stage, sinceMs)).toHaveLength(nodes)
    expectKept(stage)
  })

  it('counts pods that stay Ready through a long grace period as down from their deletion (X3, W3, G1)', async () => {
    const annotations = { ...measuredPods, 'sim.tranche.dev/stop-ms': '10000', 'sim.tranche.dev/term-notready': 'false' }
    stage = await setStage({ nodes: 30, maxUnavailable: 3, steps: all, annotations, executors })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(mostDown(stage, sinceMs)).toBe(3)
    expectKept(stage)
  })

  it('repairs five broken nodes first, two at a time, and takes down no healthy one meanwhile (X4, W4, G1, G2)', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: all, annotations: measuredPods, executors })
    const broken = (await stage.pods()).slice(7, 12)
    for (const pod of broken) await breakPod(stage, pod)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(mostDown(stage, sinceMs)).toBe(5)
    const order = deleted(stage, sinceMs).map(({ uid }) => uid)
    expect(order.slice(0, 5).toSorted()).toEqual(broken.map(({ metadata }) => metadata.uid).toSorted())
    expectKept(stage)
  })

  it('counts a node as available only after minReadySeconds, and is Healthy only after the last one is (X8, W8, G1, F6)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, minReadySeconds: 30, steps: all, annotations: measuredPods, executors })
    await stage.pass(60_000)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expect(mostDown(stage, sinceMs, 30)).toBe(5)
    const available = (await stage.daemonSet()).status?.numberAvailable
    expect(available).toBe(30)
    expectKept(stage)
  })
})

it('10 % of 15 nodes is rounded up to two at a time, as in Kubernetes (X6, W6, G1)', async () => {
  stage = await setStage({ nodes: 15, maxUnavailable: '10%', steps: all, annotations: measuredPods })
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await stage.until('every node is available', async () => (await nodesOn(stage, 'v2')).length === 15 && (await isSettling()))
  expect(mostDown(stage, sinceMs)).toBe(2)
  // One at a time takes at least 45 s, two at a time about 24 s.
  expect(stage.clock.nowMs() - sinceMs).toBeLessThan(26_000)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a DaemonSet with maxUnavailable 0 and a surge loses no pod, and the status says how to continue (X7, W7, G1)', async () => {
  stage = await setStage({ nodes: 10, steps: all, annotations: measuredPods })
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } })
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'BudgetZero')
  await stage.pass(120_000)
  expect(mostDown(stage, sinceMs)).toBe(0)
  expect(deleted(stage, sinceMs)).toEqual([])
  await expectReported(stage, 'maxSurge', 'maxUnavailable')

  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } })
  await untilReleased(stage, 'v2')
  expect(mostDown(stage, sinceMs)).toBe(1)
  expectKept(stage)
})

it('pods on nodes where none belongs do not enlarge a step, and are never deleted (X15, W16, G3, G4)', async () => {
  const steps = [{ replicas: 1, pause: {} }, ...all]
  stage = await setStage({ nodes: 13, maxUnavailable: 2, steps, annotations: measuredPods, tolerations: [] })
  const tainted = ['node-002', 'node-007', 'node-013']
  for (const name of tainted) await taint(name)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  await stage.approve()
  await stage.until('it is Healthy', () => isHealthy(stage))
  expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  expect(await nodesOn(stage, 'v1')).toEqual(tainted)
  expectKept(stage)
})

it('nodes without a pod do not shrink a step: they come back on the new version and count (X15, W16, G3)', async () => {
  const steps = [{ replicas: 4, pause: {} }, ...all]
  stage = await setStage({ nodes: 10, maxUnavailable: 3, steps, annotations: measuredPods })
  const allow = await forbidPods(stage)
  for (const pod of (await stage.pods()).slice(0, 2)) await deletePod(stage, pod)
  await stage.until('two nodes have no pod', async () => (await stage.pods()).length === 8)
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await stage.pass(20_000)
  await allow()
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(4)
  expect(deleted(stage, sinceMs)).toHaveLength(2)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('each pod gets one DELETE, with uid and resourceVersion (W25, G4)', async () => {
  const sent: unknown[] = []
  stage = await setStage({
    nodes: 10,
    maxUnavailable: 2,
    steps: all,
    tap: (_identity, exchange) => (request, signal) => {
      if (request.method === 'DELETE' && request.path.includes('/pods/')) sent.push(JSON.parse(request.body ?? '{}'))
      return exchange(request, signal)
    },
  })
  const uids = (await stage.pods()).map(({ metadata }) => metadata.uid)
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  const preconditions = sent.map((body) => (body as { preconditions?: { uid?: string; resourceVersion?: string } }).preconditions)
  expect(preconditions.map((one) => one?.uid).toSorted()).toEqual(uids.toSorted())
  expect(preconditions.every((one) => /^\d+$/.test(one?.resourceVersion ?? ''))).toBe(true)
  expectKept(stage)
})

it('a terminating updated pod does not count as an updated node, nor a failed pod as a running one (W25, G3)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: 3, pause: {} }, ...all], annotations: measuredPods })
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 1)
  await stage.until('one is Ready', async () => (await stage.daemonSet()).status?.numberReady !== 8)
  const updated = (await stage.pods()).find((pod) => runs(pod, 'v2') && pod.metadata.deletionTimestamp === undefined)!
  await setFinalizers(stage, updated, ['example.com/stuck'])
  await deletePod(stage, updated)
  await stage.pass(120_000)
  expect((await stage.rollout()).status?.currentStepState).not.toBe('StepPaused')
  await expectReported(stage, updated.spec?.nodeName ?? '?')
  await setFinalizers(stage, updated, [])
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(3)
  expect(mostDown(stage, sinceMs)).toBe(2)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function taint(node: string): Promise<void> {
  const body = { spec: { taints: [{ key: 'example.com/reserved', effect: 'NoSchedule' }] } }
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name: node }, { type: 'merge', body })
}

async function isSettling(): Promise<boolean> {
  return (await stage.rollout()).status?.message?.startsWith('settling') === true
}
