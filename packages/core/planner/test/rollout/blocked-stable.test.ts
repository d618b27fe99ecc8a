import { rolloutAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

describe('a version that every desired node runs, and whose rollback was frozen before one of them was back,', () => {
  it.each<[string, (fake: FakeCluster) => void]>([
    ['is rolled back as its Rollout is enabled again', (fake) => disable(fake, false)],
    ['is rolled back as its Rollout is created again', createAgain],
  ])('%s, and does not become stable (G12)', (_what, resume) => {
    const fake = abortedInPause()
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 5])
    freeze(fake, resume)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
    expect(fake.pods.map(({ hash }) => hash)).toEqual(Array(5).fill('hash-v1'))
  })

  it('is rolled back as its Rollout is enabled again, where an undo has not blocked it', () => {
    const fake = everywhere()
    fake.pause(true)
    fake.setImage('v1')
    settle(fake)
    freeze(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
    expect(fake.oldPods()).toEqual([])
  })
})

it('a rollback in batches that was frozen before a node was back pauses as before (G3, G6)', () => {
  const fake = everywhere()
  annotate(fake, { [rolloutAnnotations.rollbackInBatch]: 'true' })
  fake.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } } }))
  fake.pause(true)
  fake.act({ id: 'a', type: 'abort' })
  settle(fake)
  freeze(fake)
  expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', currentStepIndex: 1, rollbackFrom: 'hash-v2' })
  expect(fake.oldPods()).toHaveLength(4)
})

describe('the version that a template replaced while its Rollout was disabled', () => {
  it.each<[string, () => FakeCluster]>([
    ['was aborted', abortedInPause],
    ['failed', failed],
  ])('%s on every node: the new one is released over the last stable one, and an abort returns to that (G12)', (_what, begin) => {
    const fake = begin()
    disable(fake, true)
    settle(fake)
    fake.setImage('v3')
    fake.actNatively()
    disable(fake, false)
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      stableRevision: 'hash-v1',
      canaryStatus: { canaryRevision: 'hash-v3', stableRevision: 'hash-v1' },
      heldRevisions: [{ revision: 'hash-v2' }],
    })
    fake.act({ id: 'b', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.phase]).toEqual(['v1', 0, 'Healthy'])
  })
})

it('a release that is frozen without a BatchRelease names no blocked version as stable (G12)', () => {
  const fake = abortedInPause()
  fake.release = undefined
  fake.setImage('v3')
  fake.actNatively()
  fake.deleteRollout()
  const plan = planRollout(fake.rolloutView()!)
  expect(JSON.stringify(plan)).toContain(String.raw`\"revision\":\"hash-v3\",\"stable\":\"hash-v1\"`)
})

/** The release of v2 pauses at a step of every node. */
function everywhere(): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: 5, pause: {} }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  expect([fake.rollout?.status?.currentStepState, fake.oldPods().length]).toEqual(['StepPaused', 0])
  return fake
}

/** The template is v1 again, and v2 is blocked; the pause keeps all its pods. */
function abortedInPause(): FakeCluster {
  const fake = everywhere()
  fake.pause(true)
  fake.act({ id: 'a', type: 'abort' })
  settle(fake)
  return fake
}

function failed(): FakeCluster {
  const fake = everywhere()
  fake.latch()
  settle(fake)
  return fake
}

function annotate(fake: FakeCluster, added: Readonly<Record<string, string>>): void {
  const { metadata } = fake.rollout!
  fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } }
}

/** Disables the Rollout, which freezes its release, and continues without a pause. */
function freeze(fake: FakeCluster, resume: (fake: FakeCluster) => void = (one) => disable(one, false)): void {
  disable(fake, true)
  settle(fake)
  resume(fake)
  fake.pause(false)
  settle(fake)
}

function disable(fake: FakeCluster, disabled: boolean): void {
  fake.editRollout((spec) => ({ ...spec, disabled }))
}

function createAgain(fake: FakeCluster): void {
  const { spec } = fake.rollout!
  fake.deleteRollout()
  settle(fake)
  expect(fake.rollout).toBeUndefined()
  const metadata = { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '1', generation: 9 }
  fake.rollout = { metadata, spec: { ...spec, disabled: false } }
}
