import { afterEach, describe, expect, it } from 'vitest'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { expectKept } from '../expect-kept.ts'
import { applyDaemonSet } from '../hands.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { setStage, type Stage } from '../stage.ts'
import { daemonSetManifest, type ReleaseOptions } from '../stage-objects.ts'
import { crews, deleted, isHealthy, measuredPods, mostDown } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '100%' }]
const release: ReleaseOptions = { maxUnavailable: 5, steps, annotations: measuredPods }

describe.each(crews)('with $crew', ({ executors }) => {
  it.each(['inProcess', 'policy'] as const)(
    'deletes nothing beyond the batch when the manifest with RollingUpdate is applied again (admission %s; X10, W11, G3, G11)',
    async (admission) => {
      stage = await setStage({ ...release, nodes: 30, admission, executors })
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      for (let round = 0; round < 3; round++) {
        await apply('v2', 'RollingUpdate')
        await stage.pass(20_000)
      }
      expect(await nodesOn(stage, 'v2')).toHaveLength(3)
      expect(deleted(stage)).toHaveLength(3)
      expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
      expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
      await stage.approve()
      await untilReleased(stage, 'v2')
      await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
      expectKept(stage)
    },
  )

  it('sets RollingUpdate back to OnDelete within a second without admission: at most one round of pods leaks (X10, W11, G11)', async () => {
    stage = await setStage({ ...release, nodes: 30, executors })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const sinceMs = stage.clock.nowMs()
    await apply('v2', 'RollingUpdate')
    await stage.until('it is OnDelete again', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'OnDelete', 1_000)
    await stage.pass(60_000)
    const gone = deleted(stage, sinceMs)
    expect(gone.length).toBeGreaterThan(0)
    expect(gone.length).toBeLessThanOrEqual(5)
    expect(gone.every(({ actor }) => actor === 'daemonset-controller')).toBe(true)
    expect(mostDown(stage, sinceMs)).toBeLessThanOrEqual(5)
    const leaked = gone.map(({ node }) => node).toSorted()
    expect((await stage.rollout()).status?.leaked ?? { count: 0, nodes: [] }).toMatchObject({ count: leaked.length, nodes: leaked })
    expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('leaves OnDelete in place if the manifest declares it, however often it is applied (X10, X11, W11, G11)', async () => {
    stage = await setStage({ ...release, nodes: 30, strategyType: 'OnDelete', executors })
    await apply('v2', 'OnDelete')
    await untilPausedAt(stage, 1)
    for (let round = 0; round < 3; round++) {
      await apply('v2', 'OnDelete')
      await stage.pass(20_000)
    }
    expect(await nodesOn(stage, 'v2')).toHaveLength(3)
    expect(deleted(stage)).toHaveLength(3)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
    expectKept(stage)
  })
})

describe.each(['RollingUpdate', 'OnDelete'] as const)('a strategy that was %s', (strategyType) => {
  it('is restored after v2, and after v3 that superseded it in mid-release (X11, W12, G11)', async () => {
    stage = await setStage({ ...release, nodes: 12, strategyType, admission: 'policy' })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await apply('v3', strategyType)
    await stage.until('v3 is released', async () => (await nodesOn(stage, 'v3')).length > 0)
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v3')
    await stage.until('the release is deleted', async () => (await stage.release()) === undefined)
    const { spec, metadata } = await stage.daemonSet()
    expect(spec.updateStrategy).toMatchObject({ type: strategyType, rollingUpdate: { maxUnavailable: 5 } })
    expect(metadata.annotations).not.toHaveProperty([keys.originalUpdateStrategy])
    expectKept(stage)
  })
})

it.each([0, 9_900, 10_000, 10_100])(
  'a template that is pushed while a release is finalizing, or just after, is released like any other: %i ms after the last pod (X12, W13, F8)',
  async (ms) => {
    stage = await setStage({ ...release, nodes: 10, maxUnavailable: 3, admission: 'inProcess' })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilNodesOn(stage, 'v2', 10)
    await stage.until('every node is available', async () => (await stage.daemonSet()).status?.numberAvailable === 10)
    await stage.pass(ms)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v3')
    await stage.until('v3 is released', async () => (await nodesOn(stage, 'v3')).length > 0, 60_000)
    await untilPausedAt(stage, 1)
    await stage.pass(30_000)
    expect(await nodesOn(stage, 'v3')).toHaveLength(1)
    expect(deleted(stage, sinceMs).map(({ actor }) => actor)).toEqual(['executor-1'])
    await stage.approve()
    await untilReleased(stage, 'v3')
    await stage.until('the strategy is restored', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'RollingUpdate')
    expectKept(stage)
  },
)

it.each([0, 60, 120])(
  'a template that is pushed as a release ends, without admission, is neither lost nor rolled out natively: %i ms later (X12)',
  async (ms) => {
    stage = await setStage({ nodes: 4, maxUnavailable: 1 })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await stage.until('it settles', async () => (await stage.release())?.status?.settlingUntil !== undefined)
    await stage.pass(9_800 + ms)
    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    expectKept(stage)
  },
)

it('a change of only a field that is newer than Kubernetes 1.28 is released in steps (W22, G3)', async () => {
  stage = await setStage({ ...release, nodes: 20, maxUnavailable: 3, admission: 'inProcess' })
  const before = (await stage.pods())[0]?.metadata.labels?.['controller-revision-hash']
  const newer = { spec: { template: { spec: { resources: { limits: { cpu: '1' } } } } } }
  await stage.patchDaemonSet(newer)
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  const updated = (await stage.pods()).filter(({ metadata }) => metadata.labels?.['controller-revision-hash'] !== before)
  expect(updated).toHaveLength(2)
  expect(deleted(stage).map(({ actor }) => actor)).toEqual(['executor-1', 'executor-1'])
  await stage.approve()
  await stage.until('it is Healthy', () => isHealthy(stage))
  expectKept(stage)
})

/** Applies the whole manifest, as it is in Git. */
async function apply(tag: string, strategyType: 'RollingUpdate' | 'OnDelete'): Promise<void> {
  await applyDaemonSet(stage, daemonSetManifest({ ...release, strategyType }, tag))
}
