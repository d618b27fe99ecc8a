import type { BatchRelease, RolloutStatus } from '@tranche/api-schema'
import { STEP_NODES_ANNOTATION } from '@tranche/kube-types'
import { planRollout, refusalsFor } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

const canary = { matchLabels: { pool: 'canary' } }
const steps = [{ nodes: canary, replicas: '100%', pause: {} }, { replicas: '100%' }]

describe('nodes that a step names', () => {
  it.each([
    ['the Rollout', pruneRollout],
    ['the Rollout and its BatchRelease', pruneBoth],
  ])('are not widened to all, where other definitions have pruned %s, until the manifest is applied again (G3)', (_what, prune) => {
    const fake = pausedAtFirst()
    prune(fake)
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
    expect(fake.rollout?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Stalled',
        status: 'True',
        reason: 'CRDOutdated',
        message: expect.stringContaining('apply the manifest'),
      }),
    )
    setSteps(fake, steps)
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'False' }))
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.oldPods()).toHaveLength(0)
  })

  it.each<[string, (fake: FakeCluster) => void]>([
    ['paused and resumed', (fake) => (fake.pause(true), settle(fake), fake.pause(false))],
    [
      'disabled and enabled',
      (fake) => [true, false].forEach((disabled) => (fake.editRollout((spec) => ({ ...spec, disabled })), settle(fake))),
    ],
  ])('are not widened where the Rollout is %s after the loss', (_how, then) => {
    const fake = pausedAtFirst()
    pruneRollout(fake)
    settle(fake)
    then(fake)
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
  })

  it.each<[string, (fake: FakeCluster) => void]>([
    ['after the loss', (fake) => (pruneRollout(fake), fake.editRollout((spec) => ({ ...spec, disabled: false })))],
    ['before it', (fake) => (fake.editRollout((spec) => ({ ...spec, disabled: false })), pruneRollout(fake))],
    [
      'after the loss, with a size of its steps',
      (fake) => (pruneRollout(fake), setSteps(fake, [{ replicas: 2, pause: {} }, { replicas: '100%' }])),
    ],
    [
      'before it, with a size of its steps',
      (fake) => (setSteps(fake, [{ nodes: canary, replicas: 2, pause: {} }, { replicas: '100%' }]), pruneRollout(fake)),
    ],
  ])('are not widened where the Rollout changes %s, and no controller looks in between', (_when, change) => {
    const fake = pausedAtFirst()
    const before = fake.rollout?.metadata.generation
    change(fake)
    expect(fake.rollout?.metadata.generation).not.toBe(before)
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
    expect(JSON.parse(annotationOf(fake)!)).toMatchObject({ lost: true })
  })

  it('are for all nodes once a user removes the annotation', () => {
    const fake = pausedAtFirst()
    pruneRollout(fake)
    settle(fake)
    const { [STEP_NODES_ANNOTATION]: _gone, ...annotations } = fake.rollout!.metadata.annotations!
    fake.rollout = { ...fake.rollout!, metadata: { ...fake.rollout!.metadata, annotations } }
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'False' }))
    expect(annotationOf(fake)).toBeUndefined()
  })

  it('may be aborted then, which is said once the stop is acknowledged (G9)', () => {
    const fake = pausedAtFirst()
    pruneBoth(fake)
    settle(fake)
    fake.act({ id: 'a', type: 'abort' })
    let acknowledged: boolean | undefined
    for (let pass = 0; pass < 60 && acknowledged === undefined; pass++) {
      fake.passRollout()
      const { metadata, status } = fake.release!
      if ((fake.rollout?.status?.heldRevisions ?? []).length > 0) acknowledged = status?.observedGeneration === metadata.generation
      if (pass % 3 === 2) fake.passRelease()
    }
    expect(acknowledged).toBe(true)
    settle(fake)
    expect(fake.image()).toBe('v1')
  })

  it('may be aborted then, and clients offer it', () => {
    const fake = pausedAtFirst()
    pruneRollout(fake)
    settle(fake)
    const refusal = refusalsFor(fake.rolloutView()!)
    expect(refusal({ type: 'abort', id: 'a' })).toBeNull()
    expect(refusal({ type: 'approve', id: 'b', expectedStep: 1 })).toContain('other programs have removed nodes')
  })

  it('may be added and removed again while there is another obstacle', () => {
    const fake = new FakeCluster({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })
    settle(fake)
    for (const nodes of [canary, undefined]) {
      setSteps(fake, [{ ...(nodes && { nodes }), replicas: 1, pause: {} }, { replicas: '100%' }])
      settle(fake)
    }
    fake.readsAs = (view) => view
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'False' }))
  })

  it('are noted before the BatchRelease gets them', () => {
    const fake = new FakeCluster({ steps: [{ replicas: 3, pause: {} }, { replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    setSteps(fake, [{ nodes: canary, replicas: 3, pause: {} }, { replicas: '100%' }])
    const noted: boolean[] = []
    for (let pass = 0; pass < 20; pass++) {
      fake.passRollout()
      if (JSON.stringify(fake.release?.spec ?? {}).includes('canary')) noted.push(annotationOf(fake) !== undefined)
    }
    expect(noted).toContain(true)
    expect(noted).not.toContain(false)
  })

  it('are dropped by no first write under definitions that lack them', () => {
    const fake = new FakeCluster({ steps })
    const gap = 'the CustomResourceDefinitions are older ones'
    const plan = planRollout({ ...fake.rolloutView()!, schemaGap: gap })
    expect(plan).toMatchObject({ kind: 'wait', for: gap, warning: { reason: 'CRDOutdated' } })
  })

  it('are not remembered of a Rollout whose workload became another kind', () => {
    const fake = pausedAtFirst()
    const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'agent' }
    fake.editRollout((spec) => ({ ...spec, workloadRef }))
    settle(fake)
    expect(annotationOf(fake)).toBeUndefined()
  })

  it.each([
    ['changes them with anything else of the steps', [{ replicas: 2, pause: {} }, { replicas: '100%' }]],
    ['only removes them', [{ replicas: '100%', pause: {} }, { replicas: '100%' }]],
  ])('are changed as before by a user who %s', (_how, to) => {
    const fake = pausedAtFirst()
    setSteps(fake, to)
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'False' }))
    expect(annotationOf(fake)).toBeUndefined()
  })

  it.each([
    ['invalid JSON', '{'],
    ['null', 'null'],
    ['the steps of another Rollout', '{"uid":"other","nodes":"x","others":"y"}'],
  ])('are none of what a user wrote into the annotation: %s', (_which, text) => {
    const fake = pausedAtFirst()
    const { metadata } = fake.rollout!
    fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, [STEP_NODES_ANNOTATION]: text } } }
    settle(fake)
    expect(JSON.parse(annotationOf(fake)!)).toMatchObject({ uid: 'rollout', nodes: expect.stringMatching(/^[0-9a-f]{16}$/) })
  })

  it('leave no annotation where no step names any', () => {
    const fake = new FakeCluster({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    settle(fake)
    expect(annotationOf(fake)).toBeUndefined()
  })
})

/** Its first step is for a pool without a node. */
function pausedAtFirst(): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  expect(fake.oldPods()).toHaveLength(5)
  return fake
}

function pruneRollout(fake: FakeCluster): void {
  const { spec, status } = fake.rollout!
  const { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } = status!
  const left = { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } as RolloutStatus
  const withoutNodes = steps.map(({ replicas, ...step }) => ({ replicas, ...('pause' in step && { pause: step.pause }) }))
  fake.rollout = { ...fake.rollout!, spec: { ...spec, strategy: { canary: { steps: withoutNodes } } }, status: left }
}

function pruneBoth(fake: FakeCluster): void {
  pruneRollout(fake)
  const { tranche: _, ...spec } = fake.release!.spec
  const { phase, canaryStatus, observedGeneration } = fake.release!.status!
  fake.release = { ...fake.release!, spec, status: { phase, canaryStatus, observedGeneration } } as BatchRelease
}

function setSteps(fake: FakeCluster, to: object[]): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: to } } }))
}

function annotationOf({ rollout }: FakeCluster): string | undefined {
  return rollout?.metadata.annotations?.[STEP_NODES_ANNOTATION]
}
