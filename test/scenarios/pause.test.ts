import { afterEach, expect, it } from 'vitest'
import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '100%' }]
const isPaused = async (): Promise<boolean> => (await condition(stage, 'Progressing'))?.reason === 'Paused'

it('a pause stops the batch in flight, is acknowledged when nothing more can be deleted, and ends when it is lifted (F8, F9, G9)', async () => {
  stage = await setStage({ nodes: 20, steps, maxUnavailable: 3 })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 6)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  const generation = (await stage.rollout()).metadata.generation
  await stage.until('the pause is acknowledged', isPaused)
  expect((await stage.rollout()).status?.observedGeneration).toBe(generation)
  expect((await stage.release())?.status?.flight).toMatchObject({ state: 'stopped', holds: [{ reason: 'Paused' }] })
  expect((await stage.daemonSet()).metadata.annotations).toMatchObject({ [daemonSetAnnotations.paused]: 'true' })

  const deleted = deletions(stage)
  await stage.pass(600_000)
  expect(deletions(stage)).toBe(deleted)
  expect((await nodesOn(stage, 'v2')).length).toBeLessThan(20)
  expect((await stage.rollout()).status?.message).toContain('paused by spec.strategy.paused since')

  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([daemonSetAnnotations.paused])
  expectKept(stage)
})

it('a pause is not acknowledged while a touch gets no clear answer (F8)', async () => {
  stage = await setStage({ nodes: 20, steps, maxUnavailable: 3 })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 6)
  const heal = stage.disturb({
    onRequest: ({ actor, verb, resource }) =>
      actor === 'controller-1' && verb === 'patch' && resource.resource === 'pods' ? { kind: 'cut', when: 'before' } : undefined,
  })
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.pass(60_000)
  expect(await isPaused()).toBe(false)
  expect((await stage.release())?.status?.flight?.state).toBe('voiding')
  heal()
  await stage.until('the pause is acknowledged', isPaused)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a pause is never acknowledged before it is set, however often it is set and lifted (G9)', async () => {
  stage = await setStage({ nodes: 20, steps, maxUnavailable: 3 })
  await stage.setImage('v2')
  for (let round = 0; round < 5; round++) {
    await stage.pass(700 + 300 * round)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    if (round % 2 === 0) await stage.until('the pause is acknowledged', isPaused)
    else await stage.pass(20)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
  }
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a pause that was set before the release starts is kept', async () => {
  stage = await setStage({ steps })
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.setImage('v2')
  await stage.until('the pause is acknowledged', isPaused)
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(0)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a release continues from a paused step when both pauses are lifted', async () => {
  stage = await setStage({})
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it("a pause between a leader's decision to open a batch and its second look prevents the opening (F9)", async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program('controller-1')
  process.freezeBefore(({ method, path }) => method === 'GET' && path.includes('/rollouts/'))
  await stage.approve()
  await stage.until('the leader is about to open batch 2', () => process.isFrozen())
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  const written = stage.recording().length
  process.thaw()
  await stage.until('the pause is acknowledged', isPaused)
  expect(new Set(recordWrites(stage, written).map(({ partition }) => partition))).toEqual(new Set([5]))
  expectKept(stage)
})

it('a batch of a deleted Rollout is not opened, even if another Rollout has its name at the second look (F9, F15)', async () => {
  const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program('controller-1')
  process.freezeBefore(({ method, path }) => method === 'GET' && path.includes('/rollouts/'))
  await stage.approve()
  await stage.until('the leader is about to open batch 2', () => process.isFrozen())
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.patchRollout({ metadata: { finalizers: null } })
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
  process.thaw()
  await stage.pass(120_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(5)
  expect(new Set(recordWrites(stage, 0).map(({ partition }) => partition))).toEqual(new Set([5]))
  expectKept(stage)
})

/** Permit records in the recording after this number of writes. */
function recordWrites({ recording }: Stage, after: number): readonly FlightRecord[] {
  return recording()
    .slice(after)
    .flatMap(({ kind, o }) => (kind === 'BatchRelease' ? ((o as unknown as BatchRelease | undefined)?.status?.flight ?? []) : []))
}
