import type { CanaryStatus, Rollout, RolloutStatus } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type KruiseActivity, planBatchRelease, planRollout, type RolloutView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { takenOver } from '../../src/rollout/view/taken-over.ts'
import { aView } from '../../../../../test/fakes/build-view.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const kruise: KruiseActivity = { lease: 'kruise-rollout/71ddec2c.kruise.io', holder: 'manager-0', activeForMs: 12_000 }
const canary: CanaryStatus = {
  observedWorkloadGeneration: 7,
  stableRevision: 'old',
  podTemplateHash: 'new',
  canaryRevision: 'new',
  currentStepIndex: 2,
  nextStepIndex: 3,
  finalisingStep: '',
  currentStepState: 'StepPaused',
  canaryReplicas: 2,
  canaryReadyReplicas: 2,
}

describe('a status that another controller has left', () => {
  it('names the stable revision and the start of the release only in canaryStatus', () => {
    expect(takenOver(statusOf('Progressing'), canary)).toEqual({ canary, stableRevision: 'old', releaseGeneration: 7 })
  })

  it.each(['RestoreStableService', 'RouteTrafficToStable', 'ReleaseWorkloadControl', 'END'] as const)(
    'is finished, whatever part of it is in progress: %s',
    (finalisingStep) => {
      const finishing = { ...canary, currentStepState: 'Completed', finalisingStep } as CanaryStatus
      expect(takenOver(statusOf('Progressing'), finishing).canary).toEqual({
        ...finishing,
        finalisingStep: 'ResumeWorkload',
        nextStepIndex: -1,
      })
    },
  )

  it.each<[string, RolloutStatus, Partial<ReturnType<typeof takenOver>>]>([
    ['no release runs', statusOf('Healthy'), { canary, stableRevision: undefined, releaseGeneration: undefined }],
    [
      'the release is ours',
      { ...statusOf('Progressing'), stableRevision: 'ours', releaseGeneration: 3 },
      { canary, stableRevision: 'ours', releaseGeneration: 3 },
    ],
  ])('is taken over unchanged where %s', (_where, status, expected) => {
    expect(takenOver(status, canary)).toEqual(expected)
  })
})

describe('a Rollout while OpenKruise’s controller is active', () => {
  it('gets three conditions and nothing else where that controller manages it, once', () => {
    const view = startedByKruise()
    const plan = planRollout(view)
    if (plan.kind !== 'writeStatus') throw new Error(plan.kind)
    const { conditions, ...rest } = plan.status
    const { conditions: before, ...same } = view.rollout.status ?? {}
    expect(rest).toEqual(same)
    expect(conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ...(before ?? []).map(({ type, status, reason }) => [type, status, reason]),
      ['Ready', 'False', 'OpenKruiseActive'],
      ['Reconciling', 'False', 'OpenKruiseActive'],
      ['Stalled', 'True', 'OpenKruiseActive'],
    ])
    const later = { ...view, nowMs: view.nowMs + 60_000, rollout: { ...view.rollout, status: plan.status } }
    expect(planRollout(later)).toMatchObject({ kind: 'wait', recheckAfterMs: 12_000 })
  })

  it.each<[string, (view: RolloutView) => RolloutView]>([
    ['that is being deleted', (view) => edited(view, { deletionTimestamp: '2024-01-01T00:00:00Z' })],
    ['that is disabled', (view) => ({ ...view, rollout: { ...view.rollout, spec: { ...view.rollout.spec, disabled: true } } })],
    ['without our finalizer', (view) => edited(view, { finalizers: [] })],
  ])('is left alone as well where it is one %s', (_which, change) => {
    expect(planRollout(change(startedByKruise())).kind).toBe('writeStatus')
  })

  it('is held where Tranche manages it already', () => {
    const fake = new FakeCluster()
    settle(fake)
    const plan = planRollout({ ...fake.rolloutView()!, kruise })
    expect(plan).toMatchObject({
      kind: 'writeStatus',
      status: { phase: 'Healthy', message: expect.stringContaining('manager-0 renews the Lease') },
    })
    expect(fake.daemonSet.metadata.annotations).toHaveProperty([daemonSetAnnotations.rollout])
  })

  it('reports that in its first status, and is not bound', () => {
    const fake = new FakeCluster()
    fake.passRollout()
    const plan = planRollout({ ...fake.rolloutView()!, kruise })
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { phase: 'Initial', canaryStatus: { currentStepState: 'Completed' } } })
  })
})

describe('a BatchRelease that no Tranche Rollout has written', () => {
  it.each([
    ['while OpenKruise’s controller is active', { kruise }, 12_000],
    ['until its Rollout takes it over', {}, null],
  ])('is left alone %s', (_when, fields, recheckAfterMs) => {
    const view = aView({ record: null, view: fields })
    const { tranche: _ours, ...spec } = view.release.spec
    expect(planBatchRelease({ ...view, release: { ...view.release, spec } })).toMatchObject({ kind: 'wait', recheckAfterMs })
  })

  it('is carried out where it was written by hand', () => {
    const view = aView({
      record: null,
      metadata: { ownerReferences: [] },
      annotations: { [daemonSetAnnotations.rollout]: null, [daemonSetAnnotations.controlInfo]: null },
    })
    const { tranche: _ours, ...spec } = view.release.spec
    expect(planBatchRelease({ ...view, release: { ...view.release, spec } }).kind).toBe('createRecord')
  })
})

function statusOf(phase: 'Healthy' | 'Progressing'): RolloutStatus {
  return { phase, currentStepIndex: 2, currentStepState: canary.currentStepState, canaryStatus: canary }
}

/** Input of a pass over a Rollout that another controller releases. */
function startedByKruise(): RolloutView {
  const fake = new FakeCluster()
  fake.passRollout()
  const progressing = { type: 'Progressing', status: 'True', reason: 'InRolling', message: 'Rollout is in Progressing' } as const
  const status = { ...statusOf('Progressing'), message: 'Rollout is in step', conditions: [progressing] }
  const view = fake.rolloutView()!
  return { ...view, kruise, rollout: { ...view.rollout, status } }
}

function edited(view: RolloutView, metadata: Partial<Rollout['metadata']>): RolloutView {
  return { ...view, rollout: { ...view.rollout, metadata: { ...view.rollout.metadata, ...metadata } } }
}
