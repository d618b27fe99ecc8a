import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { deletePod, events } from './hands.ts'
import { condition, nodesOn, runs, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const BAD = 'v2-bad-crash'
const revert = { failure: { action: 'Rollback', onReapply: 'Revert' } } as const

describe('a version that crashes, under a policy that says Rollback', () => {
  it('reaches at most as many nodes as the budget and is rolled back; events name the policy and the cause (G1, G9, G11, G12)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, policy: { failure: { action: 'Rollback' } } })
    await stage.setImage(BAD)
    await untilRolledBack()
    const { status } = await stage.rollout()
    expect(status).toMatchObject({
      heldRevisions: [{ reason: 'Failed', reverted: true }],
      failure: { reason: 'ReleaseFailed', action: 'Rollback', message: expect.stringContaining('CrashLoopBackOff') },
    })
    expect(status?.lastAction).toBeUndefined()
    // Two pods updated, and two rolled back.
    expect(deletions(stage)).toBeLessThanOrEqual(4)
    const reported = (await events(stage)).filter(({ involvedObject }) => involvedObject.kind === 'Rollout')
    const warned = reported.filter(({ type }) => type === 'Warning').map(({ reason, message }) => [reason, message])
    expect(warned).toEqual([
      ['ReleaseFailed', expect.stringContaining('CrashLoopBackOff')],
      [
        'TemplateReverted',
        expect.stringMatching(
          /by failure\.action Rollback of ReleasePolicy careful: the template of revision \S+ \(node-agent:v1\) was put back$/,
        ),
      ],
    ])
    expect(reported.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['RollbackStarted', 'RollbackCompleted']))
    expectKept(stage)
  })

  it.each(['inProcess', 'none'] as const)(
    'stays off the fleet while a Git tool applies it every second: a pod that another client deletes gets it, is counted, and is rolled back (admission %s; G11, G12)',
    async (admission) => {
      const annotations = { 'sim.tranche.dev/stop-ms': '100', 'sim.tranche.dev/jitter-ms': '0' }
      stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission, annotations, policy: revert })
      await applyEverySecond(BAD, 120)
      const { heldRevisions = [] } = (await stage.rollout()).status ?? {}
      // After 10 s, 30 s, and 70 s.
      expect(heldRevisions).toMatchObject([{ reason: 'Failed', reverts: 3 }])
      expect(await nodesOn(stage, BAD)).toEqual([])

      const before = deletions(stage)
      const [victim] = await stage.pods()
      await deletePod(stage, victim!)
      await applyEverySecond(BAD, 20)
      const { status } = await stage.rollout()
      expect(status?.message).toContain('1 of 10 nodes run it')
      expect(status?.leaked).toMatchObject({ count: 1, nodes: [victim?.spec?.nodeName] })
      expect([await nodesOn(stage, BAD), deletions(stage) - before]).toEqual([[victim?.spec?.nodeName], 0])
      await applyEverySecond(BAD, 60)
      expect([await nodesOn(stage, BAD), deletions(stage) - before]).toEqual([[], 1])
      expect((await condition(stage, 'Stalled'))?.reason).toBe('RevisionHeld')

      await stage.setImage('v3')
      await stage.until('it is held no longer', async () => (await condition(stage, 'Stalled'))?.status === 'False')
      await untilPausedAt(stage, 1)
      await stage.approve()
      await untilReleased(stage, 'v3')
      expectKept(stage)
    },
  )

  it('stays on the nodes that it reached, and on no others, if the tool applies it again before a pod is gone (G2, G12)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, annotations: { 'sim.tranche.dev/stop-ms': '5000' }, policy: revert })
    await applyEverySecond(BAD, 90)
    const hit = await nodesOn(stage, BAD)
    expect(hit.length).toBeLessThanOrEqual(2)
    expect((await stage.rollout()).status?.message).toContain(`${hit.length} of 10 nodes run it`)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    expectKept(stage)
  })

  it('is reverted once for each apply, although the leader dies every time (G7, G12)', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps, policy: revert })
    await stage.setImage(BAD)
    await untilRolledBack()
    for (const [at, leader] of ['controller-1', 'controller-2', 'controller-3'].entries()) {
      await stage.setImage(BAD)
      await stage.until('the stable template is back', async () => (await image()).endsWith(':v1'))
      stage.program(leader).kill()
      await stage.startController(`controller-${at + 2}`)
      await untilReleased(stage, 'v1')
      expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reverts: at + 1 }])
    }
    expectKept(stage)
  })

  it('is released again by a retry, and failures that the retry accepted do not roll it back', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 2, steps, policy: { failure: { action: 'Rollback' } } })
    await stage.setImage('v2-bad-heals')
    await untilRolledBack()
    await stage.setImage('v2-bad-heals')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await stage.patchRollout({
      metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'again', type: 'retry' }) } },
    })
    await stage.until('it is released again', async () => (await nodesOn(stage, 'v2-bad-heals')).length > 0)
    expectKept(stage)
  })
})

describe('a version that crashes, under a policy that says Pause', () => {
  it.each([
    ['in a pause', 1],
    ['in the final settling', 2],
  ])('stops the release if it fails late, %s, and the next version is released', async (_when, step) => {
    const late = step === 1 ? steps : [{ replicas: '100%' }]
    stage = await setStage({ nodes: 4, maxUnavailable: 4, steps: late, policy: { soak: { final: '5m' } } })
    await stage.setImage('v2-bad-late')
    await stage.until('it has failed', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
    const { status } = await stage.rollout()
    expect(status?.phase).toBe('Progressing')
    expect((await condition(stage, 'Stalled'))?.message).toMatch(
      /^revision \S+ failed: .*; no more pods are deleted for it; run tranche retry/,
    )
    const deleted = deletions(stage)
    await stage.pass(300_000)
    expect([deletions(stage), (await condition(stage, 'Stalled'))?.reason]).toEqual([deleted, 'ReleaseFailed'])
    await stage.setImage('v3')
    await stage.until('the failure is over', async () => (await stage.rollout()).status?.failure === undefined)
    if (step === 1) {
      await untilPausedAt(stage, 1)
      await stage.approve()
    }
    await untilReleased(stage, 'v3', 1_200_000)
    expect((await stage.pods()).every((pod) => runs(pod, 'v3'))).toBe(true)
    expectKept(stage)
  })
})

async function untilRolledBack(): Promise<void> {
  await stage.until('it is rolled back', async () => (await stage.rollout()).status?.rollbackFrom !== undefined)
  await untilReleased(stage, 'v1')
}

/** A Git tool: its manifest has this version, and it applies the manifest every second. */
async function applyEverySecond(tag: string, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await stage.setImage(tag)
    await stage.pass(1_000)
  }
}

async function image(): Promise<string> {
  const { spec } = await stage.daemonSet()
  return spec.template.spec?.containers?.[0]?.image ?? ''
}
