import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { applyDaemonSet } from './hands.ts'
import { condition, nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]
const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })

async function untilAnswered(id: string): Promise<void> {
  await stage.until(`action ${id} is answered`, async () => (await stage.rollout()).status?.lastAction?.id === id, 10_000)
}

it('a promote action skips the remaining pauses and keeps the budget (G1, G10)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'go', type: 'promote', expectedStep: 1, by: 'alice' })
  await untilReleased(stage, 'v2')
  expect((await stage.rollout()).status?.lastAction).toMatchObject({ id: 'go', type: 'promote', result: 'Accepted', by: 'alice' })
  expectKept(stage)
})

describe.each([{ executors: ['executor-1'] }, { executors: ['executor-1', 'executor-2'] }])(
  'an abort action with $executors',
  ({ executors }) => {
    it('rolls the new version back at once, and the same version from Git waits for a retry (G1, G12)', async () => {
      stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, executors, admission: 'inProcess' })
      await stage.setImage('v2')
      await untilPausedAt(stage, 1)
      await stage.approve()
      await untilPausedAt(stage, 2)
      const before = deletions(stage)
      await act({ id: 'stop', type: 'abort', expectedStep: 2, reason: 'errors at the customer' })
      await untilAnswered('stop')
      await untilReleased(stage, 'v1')
      expect(deletions(stage) - before).toBe(10)
      expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'False' })
      expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reason: 'Aborted' }])

      const atRest = deletions(stage)
      for (let round = 0; round < 3; round++) {
        await applyDaemonSet(stage, daemonSetManifest({ maxUnavailable: 2 }, 'v2'))
        await stage.pass(60_000)
      }
      expect(deletions(stage)).toBe(atRest)
      expect(await nodesOn(stage, 'v1')).toHaveLength(20)
      expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'RevisionHeld' })
      expect((await stage.rollout()).status?.message).toContain('retry')

      await act({ id: 'again', type: 'retry' })
      await untilAnswered('again')
      await untilPausedAt(stage, 1)
      await act({ id: 'end', type: 'promote' })
      await untilReleased(stage, 'v2')
      expectKept(stage)
    })
  },
)

it('after an abort, another template is released like any other (G12)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2-bad-crash')
  await stage.until('one node crashes', async () => (await stage.rollout()).status?.message?.includes('CrashLoopBackOff') === true)
  await act({ id: 'stop', type: 'abort' })
  await untilReleased(stage, 'v1')
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v3')).toHaveLength(1)
  await act({ id: 'go', type: 'promote' })
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('an action id is carried out once, even if an older annotation is applied again, and a late action is rejected (G10)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'first', type: 'approve', expectedStep: 1 })
  await untilPausedAt(stage, 2)
  await act({ id: 'second', type: 'jump', expectedStep: 2, step: 1 })
  await untilAnswered('second')
  await untilPausedAt(stage, 1)
  await act({ id: 'first', type: 'approve', expectedStep: 1 })
  await stage.pass(60_000)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  await act({ id: 'end', type: 'promote' })
  await untilReleased(stage, 'v2')
  await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await act({ id: 'late', type: 'abort' })
  await untilAnswered('late')
  expect((await stage.rollout()).status?.lastAction).toMatchObject({ result: 'Refused' })
  const warned = await stage.client.list<{ readonly metadata: never; readonly reason: string }>(resourcePaths.events, {
    namespace: stageKey.namespace,
  })
  expect(warned.items.filter(({ reason }) => reason === 'ActionRejected')).toHaveLength(1)
  expectKept(stage)
})
