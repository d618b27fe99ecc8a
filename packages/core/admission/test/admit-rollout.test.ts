import { type Admission, admitRollout } from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { rollout } from './objects.ts'

const inOrder = rollout()
const wrong = rollout({}, { strategy: { canary: { steps: [{ replicas: 0 }, { replicas: 1, traffic: '5%' }, {}] } } })
const progressing: Rollout = { ...inOrder, status: { phase: 'Progressing', currentStepIndex: 1, currentStepState: 'StepPaused' } }
const ofNewerVersion = { ...withSteps(['20%', '100%']), status: { ...progressing.status, tomorrow: 'x' } } as Rollout
const other = rollout({ name: 'other' })
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }

describe('a Rollout is admitted', () => {
  it.each<[string, Admission]>([
    ['when it is valid', create(inOrder)],
    [
      'beside a Rollout of another workload',
      create(inOrder, [rollout({ name: 'other' }, { workloadRef: { ...deployment, kind: 'DaemonSet' } })]),
    ],
    ['beside a disabled Rollout of the same workload', create(inOrder, [rollout({ name: 'other' }, { disabled: true })])],
    ['disabled, beside the one that holds the workload', create(rollout({}, { disabled: true }), [other])],
    ['beside itself', update(inOrder, rollout({}, { disabled: true }), [inOrder])],
    ['when it is invalid, but only a label changes', update(wrong, { ...wrong, metadata: { ...wrong.metadata, labels: { a: 'b' } } })],
    [
      'when it is invalid, but only the finalizer is removed',
      update({ ...wrong, metadata: { ...wrong.metadata, finalizers: ['x'] } }, wrong),
    ],
    [
      'when it is invalid, but being deleted',
      update(inOrder, { ...wrong, metadata: { ...wrong.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ],
    ['when it violates the schema, which the API server rejects', create({ ...inOrder, spec: { workloadRef: 3 } } as unknown as Rollout)],
    ['when it is deleted', admitRollout({ operation: 'DELETE', oldObject: wrong, newObject: null, others: [] })],
    ['when sizes change in mid-release', update(progressing, withSteps(['20%', '100%']))],
    ['when its status has fields of a newer version, which this write does not change', update(inOrder, ofNewerVersion)],
  ])('%s', (_, admission) => {
    expect(admission).toEqual({ kind: 'allow', warnings: [] })
  })

  it('with a warning when Tranche does not release its workload, even if it breaks rules', () => {
    const admission = create(rollout({}, { workloadRef: deployment, strategy: { blueGreen: {} } }), [other])
    expect(admission).toEqual({
      kind: 'allow',
      warnings: [
        'spec.workloadRef is "Deployment of apps/v1": Tranche releases only DaemonSets of apps/v1 and ignores this Rollout; leave it to the controller of that kind',
      ],
    })
  })

  it('with a warning when it may surprise', () => {
    expect(create(withSteps(['10%']))).toMatchObject({ kind: 'allow', warnings: [expect.stringContaining('one more batch')] })
  })
})

describe('a Rollout is denied', () => {
  it('with every cause, each with field, value and fix', () => {
    expect(create(wrong)).toEqual({
      kind: 'deny',
      message: expect.stringMatching(
        /^Rollout node-agent cannot be released: spec\.strategy\.canary\.steps\[0\]\.replicas is 0: .*; and .*traffic/,
      ),
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.strategy.canary.steps[0].replicas',
          message: expect.stringMatching(/^Invalid value: 0: .*; set it to a whole number/),
        },
        {
          reason: 'FieldValueNotSupported',
          field: 'spec.strategy.canary.steps[1].traffic',
          message: expect.stringMatching(/^Unsupported value: "5%": .*; remove it/),
        },
        {
          reason: 'FieldValueRequired',
          field: 'spec.strategy.canary.steps[2].replicas',
          message: expect.stringMatching(/^Required value: a step/),
        },
      ],
    })
  })

  it.each<[string, Admission, string]>([
    [
      'as the second one on a workload',
      create(inOrder, [other]),
      'Rollout node-agent cannot be released: spec.workloadRef.name is "node-agent": the Rollout other already releases this DaemonSet; delete or disable one of the two',
    ],
    [
      'when it is enabled beside the one that holds the workload',
      update(rollout({}, { disabled: true }), inOrder, [other]),
      'Rollout node-agent cannot be released: spec.workloadRef.name is "node-agent": the Rollout other already releases this DaemonSet; delete or disable one of the two',
    ],
    [
      'when its steps become fewer in mid-release',
      update(progressing, withSteps(['100%'])),
      'Rollout node-agent cannot be released: spec.strategy.canary.steps is "1 step": a release in 2 steps is running; keep 2 steps until the release has ended; sizes and pauses may change',
    ],
    [
      'when its workload becomes another kind in mid-release',
      update(progressing, rollout({}, { workloadRef: deployment })),
      'Rollout node-agent cannot be released: spec.workloadRef is {"apiVersion":"apps/v1","kind":"Deployment","name":"web"}: a release of the DaemonSet node-agent is running; wait until the release has ended, or set spec.disabled first, which freezes it in its current state',
    ],
    [
      'when numbers and percentages shrink on the nodes there are',
      admitRollout({ operation: 'CREATE', oldObject: null, newObject: withSteps([5, '10%']), others: [], desired: 30 }),
      'Rollout node-agent cannot be released: spec.strategy.canary.steps[1].replicas is "10%": sizes are cumulative and must not shrink, and steps[0] has 5; set it to at least 5, or make steps[0] smaller',
    ],
  ])('%s', (_, admission, message) => {
    expect(admission).toMatchObject({ kind: 'deny', message })
  })

  it('when it becomes invalid', () => {
    expect(update(inOrder, wrong)).toMatchObject({ kind: 'deny' })
  })
})

function create(newObject: Rollout, others: readonly Rollout[] = []): Admission {
  return admitRollout({ operation: 'CREATE', oldObject: null, newObject, others })
}

function update(oldObject: Rollout, newObject: Rollout, others: readonly Rollout[] = []): Admission {
  return admitRollout({ operation: 'UPDATE', oldObject, newObject, others })
}

function withSteps(sizes: readonly (number | string)[]): Rollout {
  return rollout({}, { strategy: { canary: { steps: sizes.map((replicas) => ({ replicas })) } } })
}
