import { planRollout, type RejectedChange } from '@tranche/planner'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act, settle } from '../../../../../test/fakes/settle.ts'

type Change = RejectedChange['change']

const steps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]

/** A cluster of which the next plan for the Rollout is this change. */
const begun: Partial<Record<Change, () => FakeCluster>> = {
  bind: () => {
    const fake = paused()
    const { [daemonSetAnnotations.rollout]: _bound, ...annotations } = fake.daemonSet.metadata.annotations ?? {}
    fake.editDaemonSet({ metadata: { ...fake.daemonSet.metadata, annotations } })
    return fake
  },
  unbind: () => {
    const fake = settled()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    return fake
  },
  createRelease: () => {
    const fake = settled()
    fake.setImage('v2')
    return fake
  },
  updateRelease: () => {
    const fake = paused()
    fake.act({ id: 'a', type: 'approve', expectedStep: 1 })
    return fake
  },
  deleteRelease: () => {
    const fake = paused()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    return fake
  },
}

describe('a change that the API server rejects', () => {
  it.each([
    ['bind', 'the patch of the DaemonSet that binds it to the Rollout', 'change the rule that rejects it'],
    ['unbind', 'the patch of the DaemonSet that removes the keys of Tranche', 'change the rule that rejects it'],
    ['createRelease', 'a new BatchRelease', 'change the rule that rejects it, or raise the quota'],
    [
      'updateRelease',
      'the update of the BatchRelease',
      'change the rule that rejects it; until then no pause, abort or step reaches the executors, which continue as before',
    ],
    ['deleteRelease', 'the deletion of the BatchRelease', 'change the rule that rejects it'],
  ] as const)('(%s) is said before it is tried again', (change, what, fix) => {
    const fake = begun[change]!()
    fake.readsAs = (view) => ({ ...view, rejected: { change, message: 'no\n way' } })
    for (let round = 0; round < 40 && !isNext(fake, change); round++) if (!fake.passRollout()) act(fake)
    const stalled = fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
    const message = `the API server rejects ${what}: no way; ${fix}`
    expect([stalled?.reason, stalled?.message, fake.rollout?.status?.message]).toEqual(['ChangeRejected', message, message])
    fake.readsAs = (view) => view
    settle(fake)
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('False')
  })

  it('is not said where another change comes next', () => {
    const fake = begun.createRelease!()
    fake.readsAs = (view) => ({ ...view, rejected: { change: 'bind', message: 'no' } })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', currentStepState: 'StepPaused' })
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('False')
  })

  it('(revert) is said of a version that is blocked, in the place of the block', () => {
    const fake = paused()
    fake.policy = { failure: { onReapply: 'Revert' } }
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.readsAs = (view) => ({ ...view, rejected: { change: 'revert', message: 'no' } })
    fake.setImage('v2')
    for (let round = 0; round < 40 && !isNext(fake, 'revert'); round++) if (!fake.passRollout()) act(fake)
    expect(fake.rollout?.status?.heldRevisions).toHaveLength(1)
    const stalled = fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
    expect([stalled?.reason, stalled?.message]).toEqual(['ChangeRejected', expect.stringContaining('or apply another template')])
  })

  it('keeps no pause from the BatchRelease, where it is the binding (G9)', () => {
    const fake = begun.bind!()
    fake.readsAs = (view) => ({ ...view, rejected: { change: 'bind', message: 'no' } })
    fake.pause(true)
    expect(planRollout(fake.rolloutView()!)).toMatchObject({ kind: 'updateRelease', spec: { tranche: { paused: true } } })
  })
})

/** Whether this change comes next. */
function isNext(fake: FakeCluster, change: Change): boolean {
  const view = fake.rolloutView()
  const plan = view === null ? null : planRollout(view)
  return plan !== null && (plan.kind === change || (plan.kind === 'patchDaemonSet' && plan.why === change))
}

function settled(): FakeCluster {
  const fake = new FakeCluster({ steps, maxUnavailable: 5 })
  settle(fake)
  return fake
}

function paused(): FakeCluster {
  const fake = settled()
  fake.setImage('v2')
  settle(fake)
  return fake
}
