import { admitBatchRelease, admitDaemonSet, admitRollout, admitRolloutStatus } from '@tranche/admission'
import type { BatchRelease, CanaryStatus } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { daemonSet, rollout } from './objects.ts'

const spec: BatchRelease['spec'] = {
  workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
  releasePlan: { batches: [{ canaryReplicas: 1 }], batchPartition: 0, enableExtraWorkloadForCanary: false },
}
const inOrder: BatchRelease = { metadata: { name: 'by-hand', namespace: 'demo', uid: 'b1', resourceVersion: '1' }, spec }
const wrong: BatchRelease = {
  ...inOrder,
  spec: { ...spec, releasePlan: { ...spec.releasePlan, batches: [{ canaryReplicas: 0 }], batchPartition: 3 } },
}
const allowed = { kind: 'allow', warnings: [] }

describe('a hand-written BatchRelease', () => {
  it('is denied with every cause', () => {
    expect(admitBatchRelease({ operation: 'CREATE', oldObject: null, newObject: wrong })).toMatchObject({
      kind: 'deny',
      message: expect.stringMatching(
        /^BatchRelease by-hand is invalid: spec\.releasePlan\.batches\[0\]\.canaryReplicas is 0: .*; and spec\.releasePlan\.batchPartition is 3/,
      ),
      causes: [{ field: 'spec.releasePlan.batches[0].canaryReplicas' }, { field: 'spec.releasePlan.batchPartition' }],
    })
  })

  it.each([
    ['is in order', { oldObject: null, newObject: inOrder }],
    [
      'keeps its spec, though it is invalid',
      { oldObject: wrong, newObject: { ...wrong, metadata: { ...wrong.metadata, labels: { a: 'b' } } } },
    ],
    [
      'is being deleted',
      { oldObject: inOrder, newObject: { ...wrong, metadata: { ...wrong.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } },
    ],
    ['is written by the controller', { oldObject: null, newObject: wrong, fieldManager: 'tranche-controller' }],
    [
      'violates the schema, which the API server rejects',
      { oldObject: null, newObject: { ...inOrder, spec: 3 } as unknown as BatchRelease },
    ],
  ])('passes when it %s', (_, request) => {
    expect(admitBatchRelease({ operation: 'UPDATE', ...request })).toEqual(allowed)
  })

  it('passes with a warning when Tranche does not release its workload', () => {
    const newObject = { ...wrong, spec: { ...wrong.spec, workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } } }
    expect(admitBatchRelease({ operation: 'CREATE', oldObject: null, newObject })).toMatchObject({
      kind: 'allow',
      warnings: [expect.stringContaining('ignores this BatchRelease')],
    })
  })
})

describe('the status of a Rollout', () => {
  const canaryStatus: CanaryStatus = {
    podTemplateHash: '',
    currentStepIndex: 1,
    nextStepIndex: 2,
    finalisingStep: '',
    currentStepState: 'StepPaused',
    canaryRevision: '',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
  }
  const before = {
    ...rollout(),
    status: { stableRevision: '5d4f', currentStepIndex: 1, currentStepState: 'StepPaused' as const, canaryStatus },
  }
  const after = (canary: Partial<CanaryStatus>) => ({
    ...before,
    status: { ...before.status, canaryStatus: { ...canaryStatus, ...canary } },
  })

  it('accepts an approval', () => {
    expect(admitRolloutStatus({ oldObject: before, newObject: after({ currentStepState: 'StepReady' }) })).toEqual(allowed)
  })

  it('accepts any write of the controller, and only approvals and jumps of users', () => {
    const request = { oldObject: before, newObject: after({ currentStepState: 'Completed', canaryReplicas: 5 }) }
    expect(admitRolloutStatus({ ...request, fieldManager: 'tranche-controller' })).toEqual(allowed)
    expect(admitRolloutStatus(request)).toMatchObject({
      kind: 'deny',
      message: expect.stringMatching(
        /^The status of Rollout node-agent cannot be changed: status\.canaryStatus\.currentStepState is "Completed"/,
      ),
      causes: [{ field: 'status.canaryStatus.currentStepState' }, { field: 'status.canaryStatus' }],
    })
  })
})

it('warns that a DaemonSet does not exist yet, and allows the Rollout', () => {
  const admission = admitRollout({ operation: 'CREATE', oldObject: null, newObject: rollout(), others: [], workloadExists: false })
  expect(admission).toMatchObject({
    kind: 'allow',
    warnings: [expect.stringContaining('no DaemonSet of this name exists in the namespace yet')],
  })
})

it('warns of an invalid Tranche annotation that a user adds to a DaemonSet', () => {
  const annotations = { 'rollouts.kruise.io/daemonset-partition': 'half' }
  const admission = admitDaemonSet({
    operation: 'UPDATE',
    oldObject: daemonSet(),
    newObject: daemonSet({ annotations }),
    rollout: rollout(),
  })
  expect(admission).toMatchObject({
    kind: 'allow',
    warnings: [
      expect.stringMatching(/^metadata\.annotations\[rollouts\.kruise\.io\/daemonset-partition\] is "half": it must be a whole number/),
    ],
  })
})
