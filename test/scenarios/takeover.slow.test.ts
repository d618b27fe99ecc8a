import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { deletions, expectKept } from './expect-kept.ts'
import { leaveAsKruise, type KruiseLeftovers, startKruise } from './kruise-leftovers.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const kruiseKeys = ['rollouts.kruise.io/daemonset-revision', 'rollouts.kruise.io/daemonset-advanced-control']

const frozenKey = 'tranche.dev/frozen'

async function deleteRollout(): Promise<void> {
  await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, { namespace: 'demo', name: 'node-agent' }))
}

/** Sets a cluster on which OpenKruise's manager stopped in mid-release, and no Tranche program runs yet. */
async function stageAsLeft(leavings: KruiseLeftovers): Promise<void> {
  stage = await setStage({
    nodes: 10,
    maxUnavailable: 2,
    strategyType: 'OnDelete',
    withRollout: false,
    controllers: [],
    executors: [],
  })
  await leaveAsKruise(stage, leavings)
}

async function startPrograms(): Promise<void> {
  await stage.startController('controller-1')
  await stage.startExecutor('executor-1')
}

describe("a release that OpenKruise's manager left in the middle", () => {
  it.each<[string, KruiseLeftovers]>([
    ['in a pause', { step: 1, state: 'StepPaused', updated: 2, size: 2 }],
    ['between a step and its pause', { step: 1, state: 'StepMetricsAnalysis', updated: 2, size: 2 }],
    ['in a pause, with an incomplete batch', { step: 1, state: 'StepPaused', updated: 1, size: 2 }],
    ['in the middle of a batch', { step: 2, state: 'StepUpgrade', updated: 3, size: 5 }],
  ])('continues from the same state: %s', async (_where, leavings) => {
    await stageAsLeft(leavings)
    const untouched = new Set((await stage.pods()).map(({ metadata }) => metadata.uid))
    await startPrograms()
    await untilPausedAt(stage, leavings.step)
    await stage.until('its batch is complete', async () => (await nodesOn(stage, 'v2')).length === leavings.size)
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(leavings.size)
    expect(deletions(stage)).toBe(leavings.size - leavings.updated)
    expect((await stage.pods()).filter(({ metadata }) => untouched.has(metadata.uid))).toHaveLength(10 - leavings.size + leavings.updated)
    expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: leavings.step, currentStepState: 'StepPaused' })

    const { annotations = {} } = (await stage.daemonSet()).metadata
    expect(Object.keys(annotations).filter((key) => kruiseKeys.includes(key))).toEqual([])

    for (let step = leavings.step; step < 3; step++) {
      await untilPausedAt(stage, step)
      await stage.approve()
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('follows an approval that was still unanswered', async () => {
    await stageAsLeft({ step: 1, state: 'StepPaused', updated: 2, size: 2 })
    await stage.approve()
    await startPrograms()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(5)
    expectKept(stage)
  })

  it('completes if it was finalizing, and keeps the remembered strategy', async () => {
    const finalising = { reason: 'Finalising', finalisingStep: 'RestoreStableService' } as const
    await stageAsLeft({ step: 3, state: 'Completed', updated: 10, size: 10, ...finalising })
    await startPrograms()
    await untilReleased(stage, 'v2')
    await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
    expect(deletions(stage)).toBe(0)
    const { annotations } = (await stage.daemonSet()).metadata
    expect(annotations?.['rollouts.kruise.io/daemonset-original-update-strategy']).toBe('RollingUpdate')
    expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'True' })
  })

  it.each<[string, () => Promise<void>]>([
    ['disabled', () => stage.patchRollout({ spec: { disabled: true } })],
    ['deleted', () => deleteRollout()],
  ])('is frozen as it is if the Rollout was %s meanwhile', async (_how, end) => {
    await stageAsLeft({ step: 1, state: 'StepPaused', updated: 2, size: 2 })
    await end()
    await startPrograms()
    await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
    await stage.until('the DaemonSet is detached', async () => frozenKey in ((await stage.daemonSet()).metadata.annotations ?? {}))
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    const { metadata, spec } = await stage.daemonSet()
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => kruiseKeys.includes(key))).toEqual([])
    expect(spec.updateStrategy?.type).toBe('OnDelete')
  })

  it('is rolled back to the previous revision by an undo', async () => {
    await stageAsLeft({ step: 2, state: 'StepPaused', updated: 5, size: 5 })
    await startPrograms()
    await untilPausedAt(stage, 2)
    await stage.pass(10_000)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    expect(deletions(stage)).toBe(5)
    expectKept(stage)
  })
})

describe("while OpenKruise's manager is active", () => {
  it('its release keeps every key, and is taken over once the manager has stopped', async () => {
    await stageAsLeft({ step: 1, state: 'StepPaused', updated: 2, size: 2 })
    const kruise = await startKruise(stage)
    const before = [await stage.daemonSet(), await stage.release()].map((object) => object?.metadata.resourceVersion)
    const { conditions: _conditions, ...said } = (await stage.rollout()).status ?? {}
    await startPrograms()
    await stage.until('it is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'OpenKruiseActive')
    await stage.pass(120_000)
    expect([await stage.daemonSet(), await stage.release()].map((object) => object?.metadata.resourceVersion)).toEqual(before)
    const { conditions, ...kept } = (await stage.rollout()).status ?? {}
    expect(kept).toEqual(said)
    expect(conditions?.map(({ type, status }) => [type, status])).toEqual([
      ['Progressing', 'True'],
      ['Ready', 'False'],
      ['Reconciling', 'False'],
      ['Stalled', 'True'],
    ])
    kruise.stop()
    await stage.until('it is over', async () => (await condition(stage, 'Stalled'))?.status === 'False', 30_000)
    await stage.approve()
    await untilPausedAt(stage, 2)
    expectKept(stage)
  })

  it('no Tranche release starts until the manager has stopped', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    const first = await startKruise(stage)
    await stage.until('it is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'OpenKruiseActive')
    expect((await stage.rollout()).status?.message).toContain('manager-0 renews the Lease kruise-rollout/71ddec2c.kruise.io')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    first.stop()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('a running release is held, and continues once the manager has stopped', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    const kruise = await startKruise(stage)
    await stage.until('the record is stopped', async () => (await stage.release())?.status?.flight?.state === 'stopped')
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'OpenKruiseActive' })
    kruise.stop()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('a release with on-delete Complete is held, not frozen, and completed once the manager has stopped (G6)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Complete' } } })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await deleteRollout()
    await untilNodesOn(stage, 'v2', 4)
    const kruise = await startKruise(stage)
    await stage.until('the record is stopped', async () => (await stage.release())?.status?.flight?.state === 'stopped')
    const deleted = deletions(stage)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(deleted)
    expect((await stage.rollout()).status).toMatchObject({ phase: 'Terminating', message: expect.stringContaining('manager-0 renews') })
    kruise.stop()
    await stage.until('the BatchRelease is gone', async () => (await stage.release()) === undefined)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
    expectKept(stage)
  })
})
