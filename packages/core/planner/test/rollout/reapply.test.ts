import type { ReleasePolicySpec } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const revert: ReleasePolicySpec = { failure: { action: 'Rollback', onReapply: 'Revert' } }

describe('a template that failed and is applied again', () => {
  it('is reverted again where the policy says Revert, and Tranche deletes nothing for it (G12)', () => {
    const fake = rolledBack(revert)
    const before = fake.pods.map(({ uid }) => uid)
    fake.setImage('v2')
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.phase, fake.reverts.length]).toEqual(['v1', 'Healthy', 2])
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed', reverted: true, reverts: 1 }])
    expect(fake.pods.map(({ uid }) => uid)).toEqual(before)
  })

  it('is reverted with a back-off that doubles from 10 s to 10 min, even if a client applies it every second', () => {
    const fake = rolledBack(revert)
    applyAllTheTime(fake, 2_500_000)
    const times = fake.reverts.slice(1).map((mark) => Date.parse(mark))
    const gaps = times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1000)
    expect(gaps).toEqual([20, 40, 80, 160, 320, 600, 600, 600])
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ reverts: times.length }])
    expect(fake.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
  })

  it('is reverted at once when it comes a day later', () => {
    const fake = rolledBack(revert)
    applyAllTheTime(fake, 200_000)
    fake.setImage('v1')
    settle(fake)
    fake.nowMs += 86_400_000
    const count = fake.reverts.length
    fake.setImage('v2')
    for (let round = 0; round < 10; round++) act(fake)
    expect([fake.image(), fake.reverts.length]).toEqual(['v1', count + 1])
  })

  it('reports when it is reverted, on how many nodes it runs, and what lifts it', () => {
    const fake = rolledBack(revert)
    applyAgain(fake)
    for (let round = 0; round < 6; round++) act(fake)
    expect(fake.image()).toBe('v2')
    const held = fake.rollout?.status?.heldRevisions?.[0]
    expect(held).toMatchObject({ reverted: false, reverts: 1, revertAt: expect.any(String) })
    expect(condition(fake, 'Stalled')).toMatchObject({ status: 'True', reason: 'RevisionHeld' })
    expect(fake.rollout?.status?.message).toBe(
      `revision hash-v2 (v2) failed at ${held?.at}, and its template was applied again: nothing is deleted for it, and at ${held?.revertAt} the template ` +
        'of revision hash-v1 (v1) is put back (1 times so far), because failure.onReapply is Revert; to release it after all run tranche retry agent -n demo; 0 of 5 nodes run it',
    )
    const plan = planRollout(fake.rolloutView()!)
    expect(plan).toMatchObject({ kind: 'wait', recheckAfterMs: Date.parse(held?.revertAt ?? '') - fake.nowMs })
  })

  it('is reverted at once by an abort during the back-off (G9)', () => {
    const fake = rolledBack(revert)
    applyAgain(fake)
    for (let round = 0; round < 6; round++) act(fake)
    expect(fake.image()).toBe('v2')
    fake.act({ id: 'now', type: 'abort', by: 'alice' })
    for (let round = 0; round < 10; round++) act(fake)
    expect([fake.rollout?.status?.lastAction, fake.image()]).toEqual([expect.objectContaining({ id: 'now', result: 'Accepted' }), 'v1'])
  })

  it('is reported by a Warning event each time, with who did it and why', () => {
    const fake = rolledBack(revert)
    fake.setImage('v2')
    const events: unknown[] = []
    for (let round = 0; round < 40 && fake.image() === 'v2'; round++) {
      const plan = planRollout(fake.rolloutView()!)
      if (plan.kind === 'patchDaemonSet') events.push(plan.event)
      act(fake)
      fake.nowMs += 1_000
    }
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'TemplateReverted',
        message: expect.stringMatching(
          /^revision hash-v2 \(v2\) failed at \S+ and its template was applied again \(1 times\); by failure.onReapply Revert.*: the template of revision hash-v1 \(v1\) was put back$/,
        ),
      },
    ])
  })

  it('is not reverted after a retry by a leader that froze before its write, and had another policy (G8, G11)', () => {
    const fake = rolledBack(revert)
    fake.setImage('v2')
    let late = planRollout(fake.rolloutView()!)
    for (let round = 0; round < 40 && (late.kind !== 'patchDaemonSet' || late.why !== 'revert'); round++) {
      act(fake)
      late = planRollout(fake.rolloutView()!)
    }
    fake.policy = undefined
    settle(fake)
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect([fake.image(), late.kind === 'patchDaemonSet' && applyPatch(fake.daemonSet, late.patch)]).toEqual(['v2', null])
  })

  it('leaks if other clients delete pods meanwhile, and leaked nodes roll back with the stable template', () => {
    const fake = rolledBack(revert)
    applyAgain(fake)
    act(fake)
    fake.pods.pop()
    for (let round = 0; round < 6; round++) act(fake)
    expect(fake.rollout?.status?.message).toMatch(/1 of 5 nodes run it$/)
    expect(fake.rollout?.status?.leaked).toEqual({ count: 1, nodes: [expect.any(String)] })
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.phase]).toEqual(['v1', 0, 'Healthy'])
  })

  it.each([
    ['Hold', { failure: { action: 'Rollback', onReapply: 'Hold' } } satisfies ReleasePolicySpec],
    ['nothing', undefined],
  ])('is held where the policy says %s', (_what, policy) => {
    const fake = rolledBack(policy)
    fake.setImage('v2')
    settle(fake)
    expect([fake.image(), condition(fake, 'Stalled')?.reason, fake.reverts.length]).toEqual(['v2', 'RevisionHeld', 1])
  })

  it.each([
    [revert, undefined, 'v2'],
    [undefined, revert, 'v1'],
  ])('follows a policy that changes while it is held (%j, %j)', (before, after, image) => {
    const fake = rolledBack(before)
    if (before === undefined) fake.setImage('v2')
    else applyAgain(fake)
    act(fake)
    fake.policy = after
    settle(fake)
    expect(fake.image()).toBe(image)
  })

  it('is released by a retry, and not reverted', () => {
    const fake = rolledBack(revert)
    applyAgain(fake)
    act(fake)
    fake.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.currentStepState, fake.rollout?.status?.heldRevisions]).toEqual([
      'v2',
      'StepPaused',
      undefined,
    ])
  })

  it('stays where the stable template is gone from the history', () => {
    const fake = rolledBack(revert)
    applyAgain(fake)
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(fake)
    expect([fake.image(), condition(fake, 'Stalled')?.reason]).toEqual(['v2', 'RevisionHeld'])
  })

  it('is reverted once for each time by leaders that die between the write and the status (G7)', () => {
    const fake = rolledBack(revert)
    // The watch is late: the template returns before any controller has seen that it was gone.
    applyAgain(fake)
    expect(fake.daemonSet.metadata.annotations?.[daemonSetAnnotations.reverted]).toBe(fake.rollout?.status?.heldRevisions?.[0]?.revertAt)
    for (let round = 0; round < 10; round++) act(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions?.[0]?.reverts]).toEqual(['v2', 1])
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions?.[0]?.reverts]).toEqual(['v1', 2])
  })

  it('is reverted for a revision that a user rolled back, too', () => {
    const fake = paused({ failure: { onReapply: 'Revert' } })
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions]).toMatchObject(['v1', [{ reason: 'Aborted', reverts: 1 }]])
  })

  it('is not reverted by a Rollout that is being deleted', () => {
    const fake = rolledBack(revert)
    fake.setImage('v2')
    act(fake)
    fake.onDelete('Rollback')
    fake.deleteRollout()
    settle(fake)
    expect([fake.rollout, fake.image()]).toEqual([undefined, 'v2'])
  })
})

/** Applies v2 every few seconds for this long. */
function applyAllTheTime(fake: FakeCluster, forMs: number): void {
  for (const endMs = fake.nowMs + forMs; fake.nowMs < endMs; fake.nowMs += 4_000) {
    if (fake.image() !== 'v2') fake.setImage('v2')
    let writes = -1
    for (let round = 0; round < 40 && fake.writes > writes; round++) {
      writes = fake.writes
      act(fake)
    }
  }
}

/** Applies v2, and once more right when it is reverted. */
function applyAgain(fake: FakeCluster): void {
  fake.setImage('v2')
  for (let round = 0; round < 40 && fake.image() === 'v2'; round++) act(fake)
  fake.setImage('v2')
}

/** v2 failed and was rolled back by the policy; v1 runs everywhere. */
function rolledBack(policy: ReleasePolicySpec | undefined): FakeCluster {
  const fake = paused(policy)
  fake.latch({ action: 'Rollback' })
  settle(fake)
  expect([fake.image(), fake.rollout?.status?.phase]).toEqual(['v1', 'Healthy'])
  return fake
}

function paused(policy: ReleasePolicySpec | undefined): FakeCluster {
  const fake = new FakeCluster({ steps })
  fake.policy = policy
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

function condition(
  fake: FakeCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return fake.rollout?.status?.conditions?.find((one) => one.type === type)
}
