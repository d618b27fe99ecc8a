import type { RolloutAction } from '@tranche/api-schema'
import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { breakPod, events } from './hands.ts'
import { condition, nodesOn, runs, untilPausedAt, untilReleased } from './looks.ts'
import { applyPolicy } from './policies.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const SOAK_MS = 60_000
const FINAL_MS = 90_000
const pausing = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const inOneGo = [{ replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }]

it('a batch soaks before its pause and reports until when, and the last batch soaks before the release ends', async () => {
  stage = await setStage({ nodes: 4, steps: pausing, policy: { soak: { step: '1m', final: '90s' } } })
  await stage.setImage('v2')
  await untilSoaking(1)
  const { batchReadyTime = '' } = (await stage.release())?.status?.canaryStatus ?? {}
  const until = new Date(Date.parse(batchReadyTime) + SOAK_MS).toISOString()
  expect((await stage.rollout()).status?.message).toContain(`must stay so until ${until}`)
  await untilPausedAt(stage, 1)
  expect(stage.clock.nowMs()).toBeGreaterThanOrEqual(Date.parse(until))
  expect(stage.clock.nowMs()).toBeLessThan(Date.parse(until) + 1_000)
  await stage.approve()
  await untilSoaking(2)
  const soakedMs = stage.clock.nowMs()
  await untilReleased(stage, 'v2')
  expect(stage.clock.nowMs() - soakedMs).toBeGreaterThanOrEqual(FINAL_MS - 1_000)
  expect((await events(stage)).filter(({ reason }) => reason === 'StepSoaking')).toHaveLength(2)
  expectKept(stage)
})

it('a soak starts again when the batch is no longer ready', async () => {
  stage = await setStage({ nodes: 4, steps: pausing, policy: { soak: { step: '1m' } } })
  await stage.setImage('v2')
  await untilSoaking(1)
  await stage.pass(50_000)
  const pod = (await stage.pods()).find((one) => runs(one, 'v2'))!
  await breakPod(stage, pod)
  await stage.until('it is reported', async () => (await stage.rollout()).status?.message?.includes('is not ready any more') === true)
  const brokenMs = stage.clock.nowMs()
  await stage.client.delete(
    { group: '', version: 'v1', plural: 'pods', namespaced: true },
    pod.metadata as { namespace: string; name: string },
  )
  await untilPausedAt(stage, 1)
  expect(stage.clock.nowMs() - brokenMs).toBeGreaterThanOrEqual(SOAK_MS)
})

it('a version that crashes in its soak fails: nothing more is deleted, and no step follows', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps: inOneGo, policy: { soak: { step: '10m' } } })
  await stage.setImage('bad-late')
  await untilSoaking(1)
  const deleted = deletions(stage)
  await stage.until('it has failed', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await stage.pass(1_200_000)
  expect(deletions(stage)).toBe(deleted)
  expect(await nodesOn(stage, 'bad-late')).toHaveLength(3)
  expect((await stage.rollout()).status?.canaryStatus?.currentStepIndex).toBe(1)
})

it('a promotion skips the pauses, but not the soaks; a full promotion skips both', async () => {
  stage = await setStage({ nodes: 4, steps: pausing, policy: { soak: { step: '1h', final: '1h' } } })
  await stage.setImage('v2')
  await untilSoaking(1)
  await act({ id: 'a', type: 'promote' })
  await stage.pass(1_800_000)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepMetricsAnalysis' })
  await untilSoaking(2, 3_600_000)
  await act({ id: 'b', type: 'promote', full: true })
  const sinceMs = stage.clock.nowMs()
  await untilReleased(stage, 'v2')
  expect(stage.clock.nowMs() - sinceMs).toBeLessThan(30_000)
})

it('a soak that is shortened in the policy takes effect at once', async () => {
  stage = await setStage({ nodes: 4, steps: pausing, policy: { soak: { step: '24h' } } })
  await stage.setImage('v2')
  await untilSoaking(1)
  await applyPolicy(stage, { soak: { step: '30s' } })
  await untilPausedAt(stage, 1, 40_000)
  expect((await events(stage)).filter(({ reason }) => reason === 'PolicyChanged')).toHaveLength(1)
})

async function untilSoaking(step: number, withinMs?: number): Promise<void> {
  const isSoaking = async (): Promise<boolean> => {
    const { currentStepIndex, currentStepState } = (await stage.rollout()).status?.canaryStatus ?? {}
    return currentStepIndex === step && currentStepState === 'StepMetricsAnalysis'
  }
  await stage.until(`step ${step} soaks`, isSoaking, withinMs)
}

async function act(action: RolloutAction): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
  await stage.until(`${action.id} is answered`, async () => (await stage.rollout()).status?.lastAction?.id === action.id)
}
