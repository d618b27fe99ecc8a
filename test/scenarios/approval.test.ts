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

it('an approval while no step is paused is reset, with a Warning event (G10)', async () => {
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

const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })

const untilAnswered = (id: string): Promise<void> =>
  stage.until(`action ${id} is answered`, async () => (await stage.rollout()).status?.lastAction?.id === id, 10_000)

it('each action is answered once, and none is kept for later (G10)', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: 1, pause: {} }, { replicas: '30%', pause: {} }, { replicas: '100%' }] })
  await act({ id: 'early', type: 'approve', expectedStep: 1 })
  await untilAnswered('early')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'first', type: 'approve', expectedStep: 1, by: 'alice' })
  await untilAnswered('first')
  await untilPausedAt(stage, 2)
  await act({ id: 'second', type: 'approve', expectedStep: 1, by: 'bob' })
  await untilAnswered('second')
  await stage.pass(30_000)
  expect((await stage.rollout()).status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
  await act({ id: 'third', type: 'jump', expectedStep: 2, step: 3 })
  await untilReleased(stage, 'v2')
  expect(await actions()).toEqual(['early ActionRejected', 'first ActionAccepted', 'second ActionRejected', 'third ActionAccepted'])
  expectKept(stage)
})

it('an action is carried out once although the controller dies around the answer (G7)', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: 1, pause: {} }, { replicas: 2, pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await act({ id: 'once', type: 'approve', expectedStep: 1 })
  await untilAnswered('once')
  stage.program('controller-1').kill()
  await stage.startController('controller-2')
  await untilPausedAt(stage, 2)
  await stage.pass(60_000)
  expect((await stage.rollout()).status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
  expectKept(stage)
})

/** The ids of the actions that have events, with their answers. */
async function actions(): Promise<readonly string[]> {
  const { items } = await stage.client.list<{ readonly metadata: never; readonly reason: string; readonly message: string }>(
    resourcePaths.events,
    { namespace: 'demo' },
  )
  return items
    .filter(({ reason }) => reason.startsWith('Action'))
    .map(({ reason, message }) => `${/\(id (\w+)\)/.exec(message)?.[1]} ${reason}`)
    .toSorted()
}

it('an approval without a release is reset (G10)', async () => {
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
  'a step is approved, or a premature approval is reset, %i ms after the image (G10)',
  async (ms) => {
    stage = await setStage({ nodes: 10, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await stage.pass(ms)
    const { currentStepState: own } = (await stage.rollout()).status ?? {}
    await stage.approve()
    if (own !== 'StepPaused') {
      await stage.until('the Warning is reported', async () => (await warnings()).length > 0)
      await untilPausedAt(stage, 1)
      await stage.approve()
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  },
)
