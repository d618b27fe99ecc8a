import { afterEach, describe, expect, it } from 'vitest'
import { allowV1, forbidV1 } from './forbid-v1.ts'
import { events } from './hands.ts'
import { condition, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '25%', pause: {} }, { replicas: '100%' }]
async function expectSaid(): Promise<void> {
  await stage.pass(3_600_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'ChangeRejected' })
  expect((await stage.rollout()).status?.message).toMatch(
    /puts the template of revision .* back: .*tag v1 are forbidden.*; change the rule/,
  )
  expect((await events(stage)).filter(({ reason }) => reason === 'ChangeRejected')).toHaveLength(1)
}

/** It keeps trying, and the stall ends with the first patch that succeeds. */
async function expectGoesOn(): Promise<void> {
  await allowV1(stage)
  await stage.pass(1_200_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False', reason: 'NotStalled' })
  expect((await stage.rollout()).status).toMatchObject({ phase: 'Healthy' })
  await untilNodesOn(stage, 'v1', 8)
}

describe('a rollback whose template the API server rejects says so, and continues once the rule is gone:', () => {
  it('after a failure', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, policy: { failure: { action: 'Rollback' } } })
    await stage.setImage('v2-bad-crash')
    await forbidV1(stage)
    await untilNodesOn(stage, 'v2-bad-crash', 2)
    await expectSaid()
    await expectGoesOn()
  }, 60_000)

  it('after an abort', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forbidV1(stage)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort","expectedStep":1}' } } })
    await expectSaid()
    await expectGoesOn()
  }, 60_000)
})
