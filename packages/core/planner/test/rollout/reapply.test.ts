import type { ReleasePolicySpec } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const revert: ReleasePolicySpec = { failure: { action: 'Rollback', onReapply: 'Revert' } }

describe('a template that failed and is applied again', () => {
  it('is put back again where the policy says Revert, and nothing of ours is deleted for it (G12)', () => {
    const toy = rolledBack(revert)
    const before = toy.pods.map(({ uid }) => uid)
    toy.setImage('v2')
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.phase, toy.reverts.length]).toEqual(['v1', 'Healthy', 2])
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed', reverted: true, reverts: 1 }])
    expect(toy.pods.map(({ uid }) => uid)).toEqual(before)
  })

  it('is put back with a back-off that doubles from 10 s to 10 min, whoever applies it every second', () => {
    const toy = rolledBack(revert)
    applyAllTheTime(toy, 2_500_000)
    const times = toy.reverts.slice(1).map((mark) => Date.parse(mark))
    const gaps = times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1000)
    expect(gaps).toEqual([20, 40, 80, 160, 320, 600, 600, 600])
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ reverts: times.length }])
    expect(toy.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
  })

  it('is put back at once when it comes a day later', () => {
    const toy = rolledBack(revert)
    applyAllTheTime(toy, 200_000)
    toy.setImage('v1')
    settle(toy)
    toy.nowMs += 86_400_000
    const count = toy.reverts.length
    toy.setImage('v2')
    for (let round = 0; round < 10; round++) act(toy)
    expect([toy.image(), toy.reverts.length]).toEqual(['v1', count + 1])
  })

  it('says when it is put back, on how many nodes it runs, and what lifts it', () => {
    const toy = rolledBack(revert)
    applyAgain(toy)
    for (let round = 0; round < 6; round++) act(toy)
    expect(toy.image()).toBe('v2')
    const held = toy.rollout?.status?.heldRevisions?.[0]
    expect(held).toMatchObject({ reverted: false, reverts: 1, revertAt: expect.any(String) })
    expect(condition(toy, 'Stalled')).toMatchObject({ status: 'True', reason: 'RevisionHeld' })
    expect(toy.rollout?.status?.message).toBe(
      `revision hash-v2 failed at ${held?.at}, and its template was applied again: nothing is deleted for it, and at ${held?.revertAt} the template ` +
        'of revision hash-v1 (v1) is put back (1 times so far), for failure.onReapply is Revert; to release it after all run tranche retry agent -n demo; 0 of 5 nodes run it',
    )
    const plan = planRollout(toy.rolloutView()!)
    expect(plan).toMatchObject({ kind: 'wait', recheckAfterMs: Date.parse(held?.revertAt ?? '') - toy.nowMs })
  })

  it('is put back at once by an abort during the back-off (G9)', () => {
    const toy = rolledBack(revert)
    applyAgain(toy)
    for (let round = 0; round < 6; round++) act(toy)
    expect(toy.image()).toBe('v2')
    toy.act({ id: 'now', type: 'abort', by: 'alice' })
    for (let round = 0; round < 10; round++) act(toy)
    expect([toy.rollout?.status?.lastAction, toy.image()]).toEqual([expect.objectContaining({ id: 'now', result: 'Accepted' }), 'v1'])
  })

  it('is told of by a Warning event each time, which says who did it and why', () => {
    const toy = rolledBack(revert)
    toy.setImage('v2')
    const events: unknown[] = []
    for (let round = 0; round < 40 && toy.image() === 'v2'; round++) {
      const plan = planRollout(toy.rolloutView()!)
      if (plan.kind === 'patchDaemonSet') events.push(plan.event)
      act(toy)
      toy.nowMs += 1_000
    }
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'TemplateReverted',
        message: expect.stringMatching(
          /^revision hash-v2 failed at \S+ and its template was applied again \(1 times\); by failure.onReapply Revert.*: the template of revision hash-v1 \(v1\) was put back$/,
        ),
      },
    ])
  })

  it('leaks, where others delete pods meanwhile, and what leaked goes back with the stable template', () => {
    const toy = rolledBack(revert)
    applyAgain(toy)
    act(toy)
    toy.pods.pop()
    for (let round = 0; round < 6; round++) act(toy)
    expect(toy.rollout?.status?.message).toMatch(/1 of 5 nodes run it$/)
    expect(toy.rollout?.status?.leaked).toEqual({ count: 1, nodes: [expect.any(String)] })
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.phase]).toEqual(['v1', 0, 'Healthy'])
  })

  it.each([
    ['Hold', { failure: { action: 'Rollback', onReapply: 'Hold' } } satisfies ReleasePolicySpec],
    ['nothing', undefined],
  ])('is held where the policy says %s', (_what, policy) => {
    const toy = rolledBack(policy)
    toy.setImage('v2')
    settle(toy)
    expect([toy.image(), condition(toy, 'Stalled')?.reason, toy.reverts.length]).toEqual(['v2', 'RevisionHeld', 1])
  })

  it.each([
    [revert, undefined, 'v2'],
    [undefined, revert, 'v1'],
  ])('follows a policy that changes while it is held (%j, %j)', (before, after, image) => {
    const toy = rolledBack(before)
    if (before === undefined) toy.setImage('v2')
    else applyAgain(toy)
    act(toy)
    toy.policy = after
    settle(toy)
    expect(toy.image()).toBe(image)
  })

  it('is released by a retry, and not put back', () => {
    const toy = rolledBack(revert)
    applyAgain(toy)
    act(toy)
    toy.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.currentStepState, toy.rollout?.status?.heldRevisions]).toEqual([
      'v2',
      'StepPaused',
      undefined,
    ])
  })

  it('stays where the stable template is gone from the history', () => {
    const toy = rolledBack(revert)
    applyAgain(toy)
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(toy)
    expect([toy.image(), condition(toy, 'Stalled')?.reason]).toEqual(['v2', 'RevisionHeld'])
  })

  it('is put back once for each time by leaders that die between the write and the status (G7)', () => {
    const toy = rolledBack(revert)
    // The watch is late: the template comes again before anybody has seen that it was gone.
    applyAgain(toy)
    expect(toy.daemonSet.metadata.annotations?.[daemonSetAnnotations.reverted]).toBe(toy.rollout?.status?.heldRevisions?.[0]?.revertAt)
    for (let round = 0; round < 10; round++) act(toy)
    expect([toy.image(), toy.rollout?.status?.heldRevisions?.[0]?.reverts]).toEqual(['v2', 1])
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.heldRevisions?.[0]?.reverts]).toEqual(['v1', 2])
  })

  it('is put back for a revision that a person took back, too', () => {
    const toy = paused({ failure: { onReapply: 'Revert' } })
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.heldRevisions]).toMatchObject(['v1', [{ reason: 'Aborted', reverts: 1 }]])
  })

  it('is not fought over by a Rollout that goes', () => {
    const toy = rolledBack(revert)
    toy.setImage('v2')
    act(toy)
    toy.onDelete('Rollback')
    toy.deleteRollout()
    settle(toy)
    expect([toy.rollout, toy.image()]).toEqual([undefined, 'v2'])
  })
})

/** Applies v2 every few seconds for so long. */
function applyAllTheTime(toy: ToyCluster, forMs: number): void {
  for (const endMs = toy.nowMs + forMs; toy.nowMs < endMs; toy.nowMs += 4_000) {
    if (toy.image() !== 'v2') toy.setImage('v2')
    let writes = -1
    for (let round = 0; round < 40 && toy.writes > writes; round++) {
      writes = toy.writes
      act(toy)
    }
  }
}

/** Applies v2, and once more in the moment in which it was put back. */
function applyAgain(toy: ToyCluster): void {
  toy.setImage('v2')
  for (let round = 0; round < 40 && toy.image() === 'v2'; round++) act(toy)
  toy.setImage('v2')
}

/** v2 failed and was taken back by the policy; v1 runs everywhere. */
function rolledBack(policy: ReleasePolicySpec | undefined): ToyCluster {
  const toy = paused(policy)
  toy.latch({ action: 'Rollback' })
  settle(toy)
  expect([toy.image(), toy.rollout?.status?.phase]).toEqual(['v1', 'Healthy'])
  return toy
}

function paused(policy: ReleasePolicySpec | undefined): ToyCluster {
  const toy = new ToyCluster({ steps })
  toy.policy = policy
  settle(toy)
  toy.setImage('v2')
  settle(toy)
  return toy
}

function condition(
  toy: ToyCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return toy.rollout?.status?.conditions?.find((one) => one.type === type)
}
