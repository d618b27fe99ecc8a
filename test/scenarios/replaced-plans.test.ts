import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { keepRelease, removeRelease } from './lose-release.ts'
import { nodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = (...sizes: readonly (number | string)[]) => [...sizes.map((replicas) => ({ replicas, pause: {} })), { replicas: '100%' }]

it.each([
  ['is being deleted', deleteKept],
  ['was deleted', ({ client }: Stage) => client.delete(resourcePaths.batchReleases, stageKey)],
  ['was removed with its finalizer', removeRelease],
] as const)('steps that change while the BatchRelease %s open nothing without an approval (G3)', async (_when, lose) => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: steps(1, 2) })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilPausedAt(stage, 2)
  const end = await lose(stage)
  await stage.patchRollout({ spec: { strategy: { canary: { steps: steps(2, '80%') } } } })
  await stage.pass(60_000)
  if (typeof end === 'function') await end()
  await stage.pass(5 * 60_000)
  const { status } = await stage.rollout()
  expect([(await nodesOn(stage, 'v2')).length, status?.currentStepIndex]).toEqual([2, 1])
  expectKept(stage)
})

describe('steps that select nodes of a pool', () => {
  const ofPool = (pool: string, replicas: number | string) => ({ nodes: { matchLabels: { pool } }, replicas, pause: {} })
  const all = { replicas: '100%' }

  async function setPools(...steps: readonly object[]): Promise<void> {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [...steps, all] })
    for (let at = 1; at <= 10; at++) {
      const labels = { pool: at <= 3 ? 'canary' : 'other' }
      const key = { namespace: '', name: `node-${String(at).padStart(3, '0')}` }
      await stage.client.patch(resourcePaths.nodes, key, { type: 'merge', body: { metadata: { labels } } })
    }
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
  }

  it.each([
    ['sizes and pools', 3, [ofPool('canary', 2), ofPool('canary', '100%')], [ofPool('canary', '100%'), ofPool('other', '50%')]],
    ['pools alone', 2, [ofPool('canary', 2), ofPool('canary', '50%')], [ofPool('canary', 2), ofPool('other', '50%')]],
  ])('open no other nodes without an approval if their %s change with the BatchRelease gone (G3)', async (_what, size, before, after) => {
    await setPools(...before)
    await stage.approve()
    await untilPausedAt(stage, 2)
    const updated = await nodesOn(stage, 'v2')
    await removeRelease(stage)
    await stage.patchRollout({ spec: { strategy: { canary: { steps: [...after, all] } } } })
    await stage.pass(5 * 60_000)
    expect([updated.length, await nodesOn(stage, 'v2')]).toEqual([size, updated])
  })

  it.each([
    ['of fewer nodes', 5, [ofPool('other', 2), ofPool('other', '100%')]],
    ['of as many', 2, [ofPool('other', 2), ofPool('other', '100%')]],
  ])('open none but those of the present step, if the steps selected none before: %s (G3)', async (_what, size, after) => {
    await setPools({ replicas: size, pause: {} }, { replicas: '90%', pause: {} })
    const updated = await nodesOn(stage, 'v2')
    await stage.patchRollout({ spec: { strategy: { canary: { steps: [...after, all] } } } })
    await stage.pass(5 * 60_000)
    const ofOther = new Set([...updated.filter((node) => node > 'node-003')]).size
    const { status } = await stage.rollout()
    const most = updated.length + Math.max(0, 2 - ofOther)
    expect([status?.currentStepIndex, (await nodesOn(stage, 'v2')).length]).toEqual([1, most])
  })

  it('go back to an earlier step that selects other nodes now, with its pause (G3)', async () => {
    await setPools(ofPool('canary', 1), ofPool('canary', '100%'))
    await stage.approve()
    await untilPausedAt(stage, 2)
    await stage.patchRollout({ spec: { strategy: { canary: { steps: [ofPool('other', 2), ofPool('other', '100%'), all] } } } })
    await untilPausedAt(stage, 1)
    await stage.pass(5 * 60_000)
    const updated = await nodesOn(stage, 'v2')
    expect([updated.length, updated.slice(0, 3)]).toEqual([5, ['node-001', 'node-002', 'node-003']])
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await nodesOn(stage, 'v2')).toHaveLength(10)
  })

  it('leave the pause of the present step as it is if they select none by now, and it has its nodes', async () => {
    await setPools({ ...ofPool('canary', '100%'), pause: { duration: 600 } })
    await stage.pass(500_000)
    await stage.patchRollout({ spec: { strategy: { canary: { steps: [{ replicas: 3, pause: { duration: 600 } }, all] } } } })
    await stage.pass(200_000)
    expect((await nodesOn(stage, 'v2')).length).toBeGreaterThan(3)
  })

  it('begin the present step again if it selects another pool: its soak and its pause were for other nodes (G3)', async () => {
    await setPools({ ...ofPool('canary', '100%'), pause: { duration: 600 } })
    await stage.pass(500_000)
    const { status: before } = await stage.rollout()
    await stage.patchRollout({
      spec: { strategy: { canary: { steps: [{ ...ofPool('other', '100%'), pause: { duration: 600 } }, all] } } },
    })
    await stage.until('the pool is updated', async () => (await nodesOn(stage, 'v2')).length === 10)
    await stage.pass(400_000)
    const { status } = await stage.rollout()
    expect([before?.currentStepState, status?.currentStepState, (await nodesOn(stage, 'v2')).length]).toEqual([
      'StepPaused',
      'StepPaused',
      10,
    ])
  })
})

/** Another program keeps the BatchRelease. @returns a function that releases it */
async function deleteKept(on: Stage): Promise<() => Promise<void>> {
  const end = await keepRelease(on)
  await on.client.delete(resourcePaths.batchReleases, stageKey)
  return end
}
