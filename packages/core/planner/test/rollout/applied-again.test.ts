import { rolloutAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act, applyUnread, settle } from '../../../../../test/fakes/settle.ts'

/** Numbers of the revisions of v1 and v2, as the watch of ControllerRevisions shows them once v2 was replaced by v1 and applied again. */
it.each<[string, Readonly<Record<string, number>>, number]>([
  ['shows both events', { 'hash-v1': 3, 'hash-v2': 4 }, 1],
  ['shows the event of the other template alone', { 'hash-v1': 3, 'hash-v2': 2 }, 1],
  ['shows neither event: the change is missed', { 'hash-v1': 1, 'hash-v2': 2 }, 2],
])(
  'a template that was replaced and applied again is released from step 1 or continues, where the watch of revisions %s (G3)',
  (_what, numbers, step) => {
    const fake = new FakeCluster({
      nodes: 4,
      steps: [{ replicas: '25%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }],
    })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: '1', type: 'approve', expectedStep: 1 })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ canaryNumber: 2, canaryStatus: { currentStepIndex: 2, currentStepState: 'StepPaused' } })
    applyUnread(fake, 'v1', 'v2')
    const view = fake.rolloutView()!
    const revisions = view.revisions.map((one) => ({
      ...one,
      revision: numbers[one.metadata.name.replace(/^.*(?=hash-)/, '')] ?? 0,
    }))
    const plan = planRollout({ ...view, revisions })
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { canaryStatus: { canaryRevision: 'hash-v2', currentStepIndex: step } } })
  },
)

describe('a version that failed, and is applied again before a pass reads the template that replaced it,', () => {
  it.each<[string, (fake: FakeCluster) => void]>([
    ['a template that is new', (fake) => applyUnread(fake, 'v3', 'v2')],
    ['the stable template', (fake) => applyUnread(fake, 'v1', 'v2')],
    ['two templates, with a pass between them that finds no policy', withoutPolicy],
    ['a template, after another client deleted its BatchRelease', whileReleaseIsGone],
    ['a template, in a pause that ends later', (fake) => whilePaused(fake, settle)],
    ['a template, in a pause that ends at once', (fake) => whilePaused(fake, () => {})],
    ['a template, while the Rollout was disabled', (fake) => whileDisabled(fake)],
    ['a template, while the Rollout was disabled with on-delete Freeze', (fake) => whileDisabled(fake, 'Freeze')],
    ['a template, while the Rollout was being disabled with on-delete Complete', (fake) => whileDisabled(fake, 'Complete')],
  ])('is blocked after %s (G12)', (_what, replace) => {
    const fake = failed()
    replace(fake)
    settle(fake)
    expectBlocked(fake)
    expect(fake.rollout?.status?.failure).toMatchObject({ reason: 'NodesFailed', stops: true })
  })

  it('is blocked, and not rolled back, where no pass has read its verdict Rollback either (G12)', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expectBlocked(fake)
    expect([fake.reverts, fake.image()]).toEqual([[], 'v2'])
  })

  it('is rolled back where the policy says onReapply Revert (G12)', () => {
    const fake = failed()
    fake.policy = { failure: { onReapply: 'Revert' } }
    settle(fake)
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverts: 1 }] })
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 0])
  })

  it('begins again at step 1 after a retry', () => {
    const fake = blocked()
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({ id: 'r', result: 'Accepted' })
    expectBegunAgain(fake)
  })

  it('is rolled back by an abort', () => {
    const fake = blocked()
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', heldRevisions: [{ revision: 'hash-v2', reason: 'Aborted' }] })
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 0])
  })

  it('makes way for the next template, and stays blocked (G12)', () => {
    const fake = blocked()
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      canaryStatus: { canaryRevision: 'hash-v3' },
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed' }],
    })
  })
})

it.each<[string, () => FakeCluster]>([
  ['did not fail', () => paused()],
  ['failed, which a retry accepted before,', () => retried()],
  ['has an inconclusive analysis', () => failed({ reason: 'AnalysisInconclusive' })],
])(
  'a version that %s begins again at step 1 where it is replaced and applied again before a pass reads that, and is not blocked (G3)',
  (_what, begin) => {
    const fake = begin()
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expectBegunAgain(fake)
  },
)

describe('a rollback that has begun', () => {
  it.each<[string, () => FakeCluster]>([
    ['its templates change again before a pass reads them', () => templatesChanged('v2', 'v1')],
    ['a third template comes and goes before a pass reads it', () => templatesChanged('v3', 'v1')],
    ['it began with a lagging watch of revisions, and another field of the DaemonSet changes', changedAfterLag],
  ])('stays one where %s (G6)', (_what, begin) => {
    const fake = begin()
    settle(fake, () => {
      expect(fake.rollout?.status?.rollbackFrom).toBe('hash-v2')
      expect(fake.release?.spec.tranche ?? {}).not.toHaveProperty('left')
    })
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      rollbackFrom: 'hash-v2',
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Succeeded', status: 'False' })]),
    })
    expect(fake.oldPods()).toEqual([])
  })

  it('still says which failure it is for, where its templates change again', () => {
    const fake = atStep2()
    fake.latch({ action: 'Rollback', message: 'v2 failed' })
    untilRollingBack(fake)
    applyUnread(fake, 'v2', 'v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', rollbackFrom: 'hash-v2', failure: { message: 'v2 failed' } })
    expect(fake.oldPods()).toEqual([])
  })

  it.each<[string, (fake: FakeCluster) => void]>([
    ['on its way to a step', untilRollingBack],
    ['in the pause of a step', settle],
  ])('walks its steps, and skips no pause, where the templates change again %s (G3)', (_when, until) => {
    const fake = atStep2()
    annotate(fake, { [rolloutAnnotations.rollbackInBatch]: 'true' })
    fake.setImage('v1')
    until(fake)
    applyUnread(fake, 'v2', 'v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ rollbackFrom: 'hash-v2', currentStepIndex: 2, currentStepState: 'StepPaused' })
    expect(fake.oldPods()).toHaveLength(2)
  })
})

/** A release of v2 that pauses at step 2, with three of five nodes updated. */
function atStep2(): FakeCluster {
  const fake = paused()
  fake.act({ id: '1', type: 'approve', expectedStep: 1 })
  settle(fake)
  expect(fake.oldPods()).toHaveLength(2)
  return fake
}

/** The rollback of v2 has begun, and then the templates change. */
function templatesChanged(...images: readonly string[]): FakeCluster {
  const fake = atStep2()
  fake.setImage('v1')
  untilRollingBack(fake)
  applyUnread(fake, ...images)
  return fake
}

/** The rollback has begun while the watch showed the number that v1 had before its template came back. */
function changedAfterLag(): FakeCluster {
  const fake = atStep2()
  const { revisions } = fake
  fake.readsAs = (view) => ({ ...view, revisions })
  fake.setImage('v1')
  untilRollingBack(fake)
  expect(fake.rollout?.status?.canaryNumber).toBe(1)
  fake.readsAs = (view) => view
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, minReadySeconds: 1 } })
  fake.actNatively()
  return fake
}

/** The status says that the rollback has begun, and it has nodes to update. */
function untilRollingBack(fake: FakeCluster): void {
  for (let round = 0; round < 40 && fake.rollout?.status?.rollbackFrom === undefined; round++) act(fake)
  expect(fake.rollout?.status?.rollbackFrom).toBe('hash-v2')
  expect(fake.oldPods().length).toBeGreaterThan(0)
}

function annotate(fake: FakeCluster, added: Readonly<Record<string, string>>): void {
  const { metadata } = fake.rollout!
  fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } }
}

/** A release of v2 that pauses at step 1. */
function paused(): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

function failed(change: Parameters<FakeCluster['latch']>[0] = {}): FakeCluster {
  const fake = paused()
  fake.latch(change)
  settle(fake)
  return fake
}

/** The retry is accepted, and its BatchRelease has not lifted the failure yet. */
function retried(): FakeCluster {
  const fake = failed()
  fake.act({ id: 'r', type: 'retry' })
  for (let round = 0; round < 40 && fake.rollout?.status?.lastAction === undefined; round++) act(fake)
  return fake
}

function blocked(): FakeCluster {
  const fake = failed()
  applyUnread(fake, 'v3', 'v2')
  settle(fake)
  expectBlocked(fake)
  return fake
}

function withoutPolicy(fake: FakeCluster): void {
  fake.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })
  for (const image of ['v3', 'v2']) {
    settle(fake)
    fake.setImage(image)
  }
  settle(fake)
  fake.readsAs = (view) => view
}

function whileReleaseIsGone(fake: FakeCluster): void {
  fake.release = undefined
  applyUnread(fake, 'v3', 'v2')
}

function whilePaused(fake: FakeCluster, before: (fake: FakeCluster) => void): void {
  fake.pause(true)
  settle(fake)
  applyUnread(fake, 'v3', 'v2')
  before(fake)
  fake.pause(false)
}

function whileDisabled(fake: FakeCluster, onDelete?: string): void {
  if (onDelete !== undefined) fake.onDelete(onDelete)
  fake.editRollout((spec) => ({ ...spec, disabled: true }))
  settle(fake)
  applyUnread(fake, 'v3', 'v2')
  settle(fake)
  fake.editRollout((spec) => ({ ...spec, disabled: false }))
}

/** Blocked, and no pod is deleted for it. */
function expectBlocked(fake: FakeCluster): void {
  expect(fake.rollout?.status).toMatchObject({
    heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverted: true }],
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'RevisionHeld' })]),
  })
  expect([fake.release?.spec.tranche?.hold?.reason, fake.oldPods().length]).toEqual(['RevisionHeld', 4])
}

function expectBegunAgain(fake: FakeCluster): void {
  expect(fake.rollout?.status).toMatchObject({
    canaryNumber: 4,
    currentStepIndex: 1,
    currentStepState: 'StepPaused',
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Stalled', status: 'False' })]),
  })
  expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
  expect(fake.oldPods()).toHaveLength(4)
}
