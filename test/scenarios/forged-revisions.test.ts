import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
const long = 'x'.repeat(64)

/** A user who may write statuses alone. */
const forge = (status: object): Promise<unknown> =>
  stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body: { status } }, { subresource: 'status' })

it.each([
  ['canaryRevision', { canaryStatus: { canaryRevision: long } }],
  ['stableRevision of the release', { canaryStatus: { stableRevision: long } }],
  ['stableRevision', { stableRevision: long }],
  ['canaryRevision with characters of JSON', { canaryStatus: { canaryRevision: 'v2","type":"promote","revision":"v2' } }],
  ['id of a retry', { acceptedActions: { retry: 'x'.repeat(257) } }],
])('a %s that no BatchRelease can hold is rejected (G9)', async (_name, status) => {
  stage = await setStage({ nodes: 8, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await expect(forge(status)).rejects.toMatchObject({ status: 422 })
})

describe.each<[string, object]>([
  ['a step below 0', { canaryStatus: { currentStepIndex: -3 } }],
  ['a step beyond the last one', { canaryStatus: { currentStepIndex: 2_000_000_000 } }],
  ['the id of a release that is no label', { canaryStatus: { observedRolloutID: `${'x'.repeat(300)} y` } }],
  ['a revision that does not exist', { canaryStatus: { canaryRevision: 'zzz', stableRevision: 'yyy' }, stableRevision: 'yyy' }],
])('%s in the status', (_what, status) => {
  it('keeps no pause from taking effect (G9)', async () => {
    stage = await setStage({ nodes: 12, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await forge(status)
    await stage.pass(1_000)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(60_000)
    const reached = (await nodesOn(stage, 'v2')).length
    await stage.pass(600_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(reached)
    expect(reached).toBeLessThan(7)
    const { status: now, metadata } = await stage.rollout()
    expect(now?.observedGeneration).toBe(metadata.generation)
  })

  it('keeps no abort from taking effect (G9)', async () => {
    stage = await setStage({ nodes: 8, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await forge(status)
    await stage.pass(60_000)
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"stop","type":"abort"}' } } })
    await stage.pass(600_000)
    expect((await stage.rollout()).status?.lastAction).toMatchObject({ id: 'stop' })
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expectKept(stage)
  })
})
