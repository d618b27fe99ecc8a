import { afterEach, describe, expect, it } from 'vitest'
import { addRule, forbidV1, removeRule, updates } from './cluster-rules.ts'
import { events } from './hands.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
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
  await removeRule(stage)
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
  })

  it('after an abort', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forbidV1(stage)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort","expectedStep":1}' } } })
    await expectSaid()
    await expectGoesOn()
  })

  it('and meanwhile acknowledges a pause, and answers actions', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forbidV1(stage)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort","expectedStep":1}' } } })
    await stage.pass(600_000)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"on","type":"promote"}' } } })
    await stage.pass(3_000)
    const { status, metadata } = await stage.rollout()
    expect(status?.observedGeneration).toBe(metadata.generation)
    expect(status?.lastAction).toMatchObject({ id: 'on', result: 'Refused' })
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'ChangeRejected' })
  })
})

const never = { expression: 'false', message: 'this is forbidden here' }
const noCanary = {
  expression: "!('rollouts.kruise.io/daemonset-canary-revision' in object.metadata.annotations)",
  message: 'this is forbidden here',
}
const noBinding = {
  expression: "'tranche.dev/rollout' in oldObject.metadata.annotations || !('tranche.dev/rollout' in object.metadata.annotations)",
  message: 'this is forbidden here',
}

describe('a release says which of its writes the API server rejects, and continues once the rule is gone:', () => {
  it.each([
    [
      'a new BatchRelease',
      { apiGroup: 'rollouts.kruise.io', resource: 'batchreleases', operation: 'CREATE', ...never },
      /rejects a new BatchRelease: .*forbidden here/,
    ],
    [
      'the patch that opens a batch',
      { ...updates('apps', 'daemonsets'), ...noCanary },
      /rejects the patch of the DaemonSet that opens the batch: .*forbidden here/,
    ],
  ] as const)(
    '%s',
    async (_what, rule, text) => {
      stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }] })
      await addRule(stage, rule)
      await stage.setImage('v2')
      await stage.pass(600_000)
      expect(await condition(stage, 'Stalled')).toMatchObject({
        status: 'True',
        reason: 'ChangeRejected',
        message: expect.stringMatching(text),
      })
      expect((await stage.rollout()).status).toMatchObject({ message: expect.stringMatching(text) })
      expect((await events(stage)).filter(({ reason }) => reason === 'ChangeRejected')).toHaveLength(1)
      await removeRule(stage)
      await stage.pass(1_200_000)
      expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
      expect((await stage.rollout()).status?.phase).toBe('Healthy')
      expect((await events(stage)).filter(({ reason }) => reason === 'ChangeRejected')).toHaveLength(1)
    },
    60_000,
  )

  it('a new BatchRelease, which keeps no abort from putting the template back', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await addRule(stage, { apiGroup: 'rollouts.kruise.io', resource: 'batchreleases', operation: 'CREATE', ...never })
    await stage.setImage('v2')
    await stage.pass(60_000)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort"}' } } })
    await stage.pass(120_000)
    expect((await stage.rollout()).status?.lastAction).toMatchObject({ id: 'stop', result: 'Accepted' })
    expect(JSON.stringify((await stage.daemonSet()).spec.template)).toContain(':v1"')
  })

  it('deletions of pods, of which only the executors know the answer', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await addRule(stage, { apiGroup: '', resource: 'pods', operation: 'DELETE', ...never })
    await stage.setImage('v2')
    await stage.pass(100_000)
    expect((await stage.rollout()).status?.waitingFor?.reason).toBe('Upgrading')
    await stage.pass(60_000)
    expect((await stage.rollout()).status).toMatchObject({
      waitingFor: { reason: 'NotDeleted', nodes: expect.arrayContaining([expect.any(String)]) },
      message: expect.stringMatching(/executors have not deleted pods that they may delete, on .*tranche doctor/),
    })
    await removeRule(stage)
    await stage.pass(600_000)
    expect((await stage.rollout()).status).toMatchObject({ phase: 'Healthy' })
  })
})

describe('a stop that does not reach the BatchRelease', () => {
  it('says so, and that executors continue', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '25%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await addRule(stage, { ...updates('rollouts.kruise.io', 'batchreleases'), ...never })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort","expectedStep":1}' } } })
    await stage.pass(600_000)
    expect(await condition(stage, 'Stalled')).toMatchObject({
      reason: 'ChangeRejected',
      message: expect.stringMatching(/rejects the update of the BatchRelease: .*forbidden here.*executors, which continue as before/),
    })
    await removeRule(stage)
    await stage.pass(1_200_000)
    await untilNodesOn(stage, 'v1', 8)
  })

  it('does not wait for a binding that the API server rejects (G9)', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    await addRule(stage, { ...updates('apps', 'daemonsets'), ...noBinding })
    await stage.patchDaemonSet({ metadata: { annotations: { 'tranche.dev/rollout': null } } })
    await stage.pass(100)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(60_000)
    const before = await nodesOn(stage, 'v2')
    await stage.pass(600_000)
    expect(await nodesOn(stage, 'v2')).toEqual(before)
    expect(before.length).toBeLessThan(8)
    expect(await condition(stage, 'Stalled')).toMatchObject({
      reason: 'ChangeRejected',
      message: expect.stringMatching(/rejects the patch of the DaemonSet that binds it to the Rollout: .*forbidden here/),
    })
  })
})
