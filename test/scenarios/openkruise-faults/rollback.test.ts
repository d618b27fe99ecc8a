import { afterEach, describe, expect, it } from 'vitest'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { expectKept } from '../expect-kept.ts'
import { nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { setStage, type Stage } from '../stage.ts'
import { crews, deleted, measuredPods, mostDown } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]

describe.each(crews)('with $crew', ({ executors }) => {
  it('rolls a healthy version back from 15 of 30 nodes without an approval and touches no other node (X14, W15, G1, G4)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps, annotations: measuredPods, executors })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilPausedAt(stage, 2)
    const updated = await nodesOn(stage, 'v2')
    expect(updated).toHaveLength(15)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 30, 60_000)
    // Three rounds of five nodes, of up to 3.5 s each, and the reaction time.
    expect(stage.clock.nowMs() - sinceMs).toBeLessThan(13_000)
    await untilReleased(stage, 'v1')
    const gone = deleted(stage, sinceMs).map(({ node }) => node)
    expect(gone.toSorted()).toEqual(updated)
    expect(mostDown(stage, sinceMs)).toBe(5)
    expectKept(stage)
  })

  it('repairs the nodes broken by a crashing version at once, without an approval (X14, W15, G1, G2)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps, annotations: measuredPods, executors })
    await stage.setImage('v2-bad-crash')
    await stage.until('three nodes crash', async () => (await stage.rollout()).status?.message?.includes('CrashLoopBackOff') === true)
    const broken = await nodesOn(stage, 'v2-bad-crash')
    expect(broken).toHaveLength(3)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 30, 10_000)
    await untilReleased(stage, 'v1')
    const gone = deleted(stage, sinceMs).map(({ node }) => node)
    expect(gone.toSorted()).toEqual(broken)
    expectKept(stage)
  })
})

it('pods of the bad version that do not run are replaced before those that do (X14, W15, G5)', async () => {
  const annotations = { ...measuredPods, 'sim.tranche.dev/bad-nodes': '^node-0(0[2468]|1[0-9])$' }
  const policy = { failure: { action: 'Continue' } } as const
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '100%' }], annotations, minReadySeconds: 0, policy })
  await stage.setImage('v2-bad-crash')
  await stage.until('three nodes crash', async () => (await stage.daemonSet()).status?.numberReady === 17)
  await stage.pass(60_000)
  const wellMs = stage.clock.nowMs()
  const taken = await nodesOn(stage, 'v2-bad-crash')
  const crashing = (await stage.pods()).filter((pod) => runs(pod, 'v2-bad-crash') && !isReady(pod)).map(({ spec }) => spec?.nodeName ?? '?')
  expect(crashing).toHaveLength(3)
  expect(taken.length).toBeGreaterThan(crashing.length)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  const gone = deleted(stage, wellMs).map(({ node }) => node)
  expect(gone.slice(0, 3).toSorted()).toEqual(crashing.toSorted())
  expect(gone.toSorted()).toEqual(taken)
  expectKept(stage)
})

it('v1 stays the stable revision when v3 supersedes a half released v2 (X14, W15, W26)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, annotations: measuredPods })
  const v1 = await revision()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.setImage('v3')
  await stage.until('v3 is released', async () => (await nodesOn(stage, 'v3')).length > 0)
  await untilPausedAt(stage, 1)
  expect((await stage.daemonSet()).metadata.annotations?.[keys.stableRevision]).toBe(v1)
  expect((await stage.rollout()).status?.canaryStatus?.stableRevision).toBe(v1)
  expect(await nodesOn(stage, 'v2')).toEqual([])
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expectKept(stage)
})

it('a rollback in batches goes through the steps that shrink the new version, with their pauses (W15)', async () => {
  const four = [steps[0]!, steps[1]!, { replicas: '80%', pause: {} }, steps[2]!]
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: four, annotations: measuredPods })
  await stage.patchRollout({ metadata: { annotations: { 'rollouts.kruise.io/rollback-in-batch': 'true' } } })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilPausedAt(stage, 2)
  const sinceMs = stage.clock.nowMs()
  await stage.setImage('v1')
  await untilPausedAt(stage, 3)
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v1')).toHaveLength(16)
  await stage.approve()
  await untilReleased(stage, 'v1')
  expect(deleted(stage, sinceMs)).toHaveLength(10)
  expectKept(stage)
})

it('the old version is released like any other when it comes back after the end of the release (W15)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  await stage.setImage('v1')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v1')).toHaveLength(2)
  await stage.approve()
  await untilReleased(stage, 'v1')
  expectKept(stage)
})

async function revision(): Promise<string | undefined> {
  return (await stage.pods())[0]?.metadata.labels?.['controller-revision-hash']
}

function isReady({
  status,
}: {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}): boolean {
  return status?.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True') === true
}
