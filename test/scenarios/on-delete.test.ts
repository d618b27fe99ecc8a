import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations as keys, rolloutAnnotations } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]

async function isGone(): Promise<boolean> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length === 0
}

async function isDisabled(): Promise<boolean> {
  return (await stage.rollout()).status?.phase === 'Disabled'
}

const ends = [
  ['deleted', () => stage.client.delete(resourcePaths.rollouts, stageKey), isGone],
  ['disabled', () => stage.patchRollout({ spec: { disabled: true } }), isDisabled],
] as const

const setPolicy = (policy: string): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.onDelete]: policy } } })

async function ourKeys(): Promise<readonly string[]> {
  const { metadata } = await stage.daemonSet()
  return Object.keys(metadata.annotations ?? {}).filter((key) => key.includes('rollouts.kruise') || key.includes('tranche'))
}

describe.each(ends)('a Rollout that is %s in a pause', (_how, end, isOver) => {
  it.each([
    ['Complete', 'v2', 'inProcess'],
    ['Complete', 'v2', 'none'],
    ['Rollback', 'v1', 'inProcess'],
    ['Rollback', 'v1', 'none'],
  ] as const)('ends its release by %s, on %s, under the same budget (admission %s; G1, G6)', async (policy, tag, admission) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission })
    await setPolicy(policy)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const before = deletions(stage)
    await end()
    await stage.until('it is over', isOver)
    expect(await nodesOn(stage, tag)).toHaveLength(10)
    expect(deletions(stage) - before).toBe(policy === 'Complete' ? 7 : 3)
    const { spec } = await stage.daemonSet()
    expect([spec.updateStrategy?.type, await ourKeys(), await stage.release()]).toEqual(['RollingUpdate', [], undefined])
    expectKept(stage)
  })
})

it('a release with policy Complete continues although the Rollout is paused, and stops when the policy becomes Freeze (G9)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, admission: 'inProcess' })
  await setPolicy('Complete')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(5_000)
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.until('it continues', async () => (await nodesOn(stage, 'v2')).length > 8)
  expect((await stage.rollout()).status).toMatchObject({
    phase: 'Terminating',
    message: expect.stringContaining('before detaching: '),
  })
  await setPolicy('Freeze')
  await stage.until('it is gone', isGone)
  const stopped = deletions(stage)
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(stopped)
  expect((await nodesOn(stage, 'v2')).length).toBeLessThan(20)
  expect((await ourKeys()).toSorted()).toEqual([keys.originalUpdateStrategy, keys.frozen].toSorted())
  expectKept(stage)
})

it('a rollback after the deletion completes although the controller dies during it (G7)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers: ['controller-1', 'controller-2'], admission: 'inProcess' })
  await setPolicy('Rollback')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.pass(100)
  stage.program('controller-1').kill()
  await stage.until('it is gone', isGone)
  expect([await nodesOn(stage, 'v1'), await ourKeys()]).toEqual([expect.objectContaining({ length: 10 }), []])
  expectKept(stage)
})
