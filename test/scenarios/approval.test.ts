import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { deletions, expectKept } from './expect-kept.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const warnings = async (): Promise<readonly string[]> => {
  const { items } = await stage.client.list<{ readonly metadata: never; readonly type: string; readonly message: string }>(
    resourcePaths.events,
    {
      namespace: 'demo',
    },
  )
  return items.filter(({ type }) => type === 'Warning').map(({ message }) => message)
}

it('loses none of two hundred approvals that race with status writes of ours (G10)', async () => {
  const steps = Array.from({ length: 50 }, () => ({ replicas: '100%', pause: {} }))
  stage = await setStage({ nodes: 1, steps })
  // Between a read and the write that rests on it there is time for somebody else.
  stage.disturb({
    onRequest: ({ actor, subresource, count }) =>
      actor === 'controller-1' && subresource === 'status' ? { kind: 'delay', ms: (count * 7) % 23, when: 'before' } : undefined,
  })
  for (let round = 0; round < 4; round++) {
    await stage.setImage(`v${round + 2}`)
    for (let step = 1; step < 50; step++) await approveInTheRace(step, round)
    await untilReleased(stage, `v${round + 2}`)
  }
  expectKept(stage)
})

/** A new generation makes the controller write a status; the approval comes a moment before, during or after it. */
async function approveInTheRace(step: number, round: number): Promise<void> {
  await untilPausedAt(stage, step)
  await stage.patchRollout({ spec: { strategy: { canary: { failureThreshold: step % 2 } } } })
  await stage.pass((step * 5 + round) % 41)
  await stage.approve()
  await stage.until(
    `the approval of step ${step} is heeded`,
    async () => (await stage.rollout()).status?.canaryStatus?.currentStepIndex === step + 1,
    10_000,
  )
}

it('puts an approval back that comes while no step is paused, and says so with a Warning (G10)', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await stage.until('the first step runs', () => deletions(stage) > 1)
  await stage.approve()
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  expect((await warnings()).filter((message) => message.includes('StepReady'))).toHaveLength(1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('puts an approval back that comes when all is released (G10)', async () => {
  stage = await setStage({})
  await stage.approve()
  await stage.until('it is put back', async () => (await stage.rollout()).status?.canaryStatus?.currentStepState === 'Completed')
  expect(await warnings()).toHaveLength(1)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  expect((await stage.rollout()).status?.currentStepState).toBe('StepPaused')
})

it.each([0, 10, 30, 100, 300, 1000, 2000, 4000, 8000])(
  'is approved, or puts back what was said too early, %i ms after the image (G10)',
  async (ms) => {
    stage = await setStage({ nodes: 10, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await stage.pass(ms)
    const { currentStepState: own } = (await stage.rollout()).status ?? {}
    await stage.approve()
    if (own !== 'StepPaused') {
      await stage.until('somebody is told', async () => (await warnings()).length > 0)
      await untilPausedAt(stage, 1)
      await stage.approve()
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  },
)
