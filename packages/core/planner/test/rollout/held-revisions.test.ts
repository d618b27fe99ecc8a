import { daemonSetAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster, type FakeClusterOptions } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const abort = { id: 'a', type: 'abort', by: 'alice', reason: 'errors' }

describe('the action abort', () => {
  it('stops first, restores the stable template, rolls back without pauses, and reports how it ended (G9, G12)', () => {
    const fake = paused()
    rollBack(fake)
    expect(fake.release?.status?.flight).toMatchObject({ state: 'stopped', holds: [{ reason: 'RevisionHeld', id: 'hash-v2' }] })
    expect(fake.rollout?.status).toMatchObject({
      lastAction: { id: 'a', result: 'Accepted', by: 'alice', reason: 'errors' },
      heldRevisions: [{ revision: 'hash-v2', reason: 'Aborted', reverted: false, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      message: 'rolling back revision hash-v2 (v2): the template of revision hash-v1 (v1) is put back',
    })
    expect(planRollout(fake.rolloutView()!)).toMatchObject({
      kind: 'updateRelease',
      spec: { tranche: { hold: { reason: 'RevisionHeld' } } },
    })
    fake.passRollout()
    expect(planRollout(fake.rolloutView()!)).toMatchObject({ kind: 'patchDaemonSet', why: 'revert' })
    const reasons: string[] = []
    settle(fake, () => reasons.push(reasonOf(fake)))
    expect([...new Set(reasons)]).toEqual(expect.arrayContaining(['Cancelling', 'Completed']))
    expect(reasons.lastIndexOf('InRolling')).toBeLessThan(reasons.indexOf('Cancelling'))
    expect(fake.image()).toBe('v1')
    expect(fake.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      stableRevision: 'hash-v1',
      rollbackFrom: 'hash-v2',
      heldRevisions: [{ reverted: true }],
    })
    expect(condition(fake, 'Succeeded')).toMatchObject({ status: 'False', message: 'revision hash-v2 was rolled back' })
    expect(Object.keys(fake.daemonSet.metadata.annotations ?? {})).not.toContain(daemonSetAnnotations.reverted)
  })

  it('deletes only pods of the version that is rolled back', () => {
    const fake = paused()
    const before = new Set(fake.pods.filter(({ hash }) => hash === 'hash-v1').map(({ uid }) => uid))
    fake.act(abort)
    settle(fake)
    expect(fake.pods.filter(({ uid }) => before.has(uid))).toHaveLength(before.size)
  })

  it('tests the uid and the generation, and takes the strategy over where needed (G11)', () => {
    const fake = paused({ scope: 'release' })
    rollBack(fake)
    fake.passRollout()
    const view = fake.rolloutView()!
    const native = { ...view.daemonSet!, spec: { ...view.daemonSet!.spec, updateStrategy: { type: 'RollingUpdate' } } }
    const plan = planRollout({ ...view, daemonSet: native })
    expect(plan.kind === 'patchDaemonSet' && plan.patch).toEqual(
      expect.arrayContaining([
        { op: 'test', path: '/metadata/uid', value: 'daemonset' },
        { op: 'test', path: '/metadata/generation', value: view.daemonSet?.metadata.generation },
        { op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' },
        { op: 'replace', path: '/spec/template', value: { spec: { containers: [{ name: 'agent', image: 'v1' }] } } },
      ]),
    )
  })

  it('is carried out while the Rollout is paused, and nothing is deleted until it is resumed (G9)', () => {
    const fake = paused()
    fake.pause(true)
    settle(fake)
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, reasonOf(fake)]).toEqual(['v1', 1, 'Paused'])
    fake.pause(false)
    settle(fake)
    expect([fake.oldPods().length, fake.rollout?.status?.phase]).toEqual([0, 'Healthy'])
  })

  it('rolls back although the new version runs on every node, until the strategy was restored', () => {
    const fake = paused()
    fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 3 })
    while (fake.rollout?.status?.canaryStatus?.finalisingStep !== 'ResumeWorkload') act(fake)
    expect(fake.oldPods()).toEqual([])
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.stableRevision]).toEqual(['v1', 0, 'hash-v1'])
  })

  it.each([
    ['no release is under way', () => healthy(), 'no release is under way'],
    ['a rollback is under way', () => goingBack(), 'which ran before: there is nothing to roll back'],
    [
      'the stable revision is gone',
      () => withoutHistory(),
      'is no longer in the history (revisionHistoryLimit): apply the template of the last good version',
    ],
    [
      'the stable revision does not hold the template that became stable (F15)',
      () => withForgedHistory(),
      'revision hash-v1 does not hold the template that last became stable (status.stableDigest): apply the template of the last good version',
    ],
  ])('is refused where %s', (_when, at, reason) => {
    const fake = at()
    fake.act({ ...abort, id: 'b' })
    for (let pass = 0; pass < 9 && fake.rollout?.status?.lastAction?.id !== 'b'; pass++) fake.passRollout()
    expect(fake.rollout?.status?.lastAction).toMatchObject({ id: 'b', result: 'Refused', reason: expect.stringContaining(reason) })
  })

  it('is refused where the stable revision returned under another hash with another template, which is named (F15)', () => {
    const fake = healthy()
    fake.revisions = [{ ...fake.revisions[0]!, metadata: { ...fake.revisions[0]!.metadata, name: 'hash-evil' }, data: evil }]
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ stableRevision: 'hash-evil', stableMismatch: 'hash-evil' })
    fake.act(abort)
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringContaining('revision hash-evil does not hold the template that last became stable (status.stableDigest)'),
    })
    expect(fake.image()).toBe('v2')
  })

  it('restores a canary that every node ran when the next version came, though no release of it completed (F15)', () => {
    const fake = paused()
    recreateDaemonSet(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.canaryStatus).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3' })
    expect(fake.rollout?.status).not.toHaveProperty('stableMismatch')
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.stableRevision]).toEqual(['v2', 0, 'hash-v2'])
  })

  it('does not restore such a canary where its ControllerRevision holds another template by then (F15)', () => {
    const fake = paused()
    recreateDaemonSet(fake)
    fake.revisions = fake.revisions.map((one) => ({ ...one, data: evil }))
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ stableMismatch: 'hash-v2' })
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.lastAction?.result]).toEqual(['v3', 'Refused'])
  })

  it('restores the BatchRelease’s copy, where the history holds another template (F15)', () => {
    const fake = paused()
    const template = { spec: { containers: [{ name: 'agent', image: 'v1' }] } }
    fake.release = { ...fake.release!, status: { ...fake.release!.status, stableTemplate: { revision: 'hash-v1', template } } }
    forge(fake)
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.stableRevision]).toEqual(['v1', 0, 'hash-v1'])
  })

  it('does not restore the BatchRelease’s copy where it is not the template that became stable (F15)', () => {
    const fake = paused()
    fake.release = {
      ...fake.release!,
      status: { ...fake.release!.status, stableTemplate: { revision: 'hash-v1', template: evil.spec.template } },
    }
    forge(fake)
    fake.act(abort)
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.lastAction?.result]).toEqual(['v2', 'Refused'])
  })

  it('takes the digest from the history once more after the Rollout was disabled, when other clients may have updated', () => {
    const fake = healthy()
    const before = fake.rollout?.status?.stableDigest
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.setImage('v3')
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ stableRevision: 'hash-v2' })
    expect(fake.rollout?.status).not.toHaveProperty('stableMismatch')
    expect(fake.rollout?.status?.stableDigest).not.toBe(before)
  })

  it('restores the template once: one applied again right afterwards stays, and is held (G12)', () => {
    const fake = paused()
    fake.act(abort)
    for (let pass = 0; pass < 9 && fake.image() === 'v2'; pass++) act(fake)
    expect(fake.image()).toBe('v1')
    fake.setImage('v2')
    settle(fake)
    expect(fake.image()).toBe('v2')
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reverted: true }])
    expect(stalled(fake)).toBe('RevisionHeld')
  })

  it('is not carried out on a DaemonSet that was detached since, by a leader that froze before its write (G8, G11)', () => {
    const fake = paused()
    rollBack(fake)
    fake.passRollout()
    const late = planRollout(fake.rolloutView()!)
    fake.deleteRollout()
    settle(fake)
    expect([fake.rollout, late.kind === 'patchDaemonSet' && applyPatch(fake.daemonSet, late.patch)]).toEqual([undefined, null])
  })

  it('is carried out though the status of the DaemonSet has changed since it was read', () => {
    const fake = paused()
    rollBack(fake)
    fake.passRollout()
    const plan = planRollout(fake.rolloutView()!)
    const { metadata, status } = fake.daemonSet
    const now = { ...fake.daemonSet, metadata: { ...metadata, resourceVersion: '9999' }, status: { ...status, numberReady: 4 } }
    expect(plan.kind === 'patchDaemonSet' && applyPatch(now, plan.patch)?.spec.template).toMatchObject({
      spec: { containers: [{ image: 'v1' }] },
    })
  })

  it('is no longer carried out on the template when a user applies another in between', () => {
    const fake = rollingBack()
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', heldRevisions: [{ revision: 'hash-v2', reverted: true }] })
    fake.setImage('v2')
    settle(fake)
    expect([fake.image(), stalled(fake)]).toEqual(['v2', 'RevisionHeld'])
  })
})

describe('a template that was rolled back', () => {
  it.each(['binding', 'release'] as const)('is not released again by applying it again, though no release runs (%s, G12)', (scope) => {
    const fake = aborted({ scope })
    fake.setImage('v2')
    settle(fake)
    expect(fake.oldPods()).toHaveLength(5)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', message: expect.stringContaining('0 of 5 nodes run it') })
    expect(condition(fake, 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'RevisionHeld',
      message: expect.stringContaining('run tranche retry agent -n demo'),
    })
    expect(fake.release).toMatchObject({
      spec: { tranche: { hold: { reason: 'RevisionHeld', id: 'hash-v2' } } },
      status: { waiting: { reason: 'RevisionHeld' } },
    })
    expect(fake.release?.status?.flight?.state).not.toBe('open')
  })

  it('is not released again by applying it again in the middle of the rollback', () => {
    const fake = paused()
    fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    settle(fake)
    fake.act(abort)
    while (fake.rollout?.status?.rollbackFrom === undefined) act(fake)
    fake.setImage('v2')
    settle(fake)
    expect(stalled(fake)).toBe('RevisionHeld')
    expect(fake.release?.status?.flight?.state).toBe('stopped')
    fake.setImage('v1')
    settle(fake)
    expect([fake.oldPods().length, fake.rollout?.status?.phase]).toEqual([0, 'Healthy'])
  })

  it('is recognized though its revision was pruned and recreated under another name', () => {
    const fake = aborted()
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v2')
    fake.salt = 'again-'
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'again-v2' }])
    expect([stalled(fake), fake.oldPods().length]).toEqual(['RevisionHeld', 5])
  })

  it('counts the nodes that other clients updated to it, and rolls them back with the stable template', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.pods.pop()
    settle(fake)
    expect(fake.rollout?.status?.message).toContain('1 of 5 nodes run it')
    fake.setImage('v1')
    settle(fake)
    expect([fake.oldPods().length, fake.rollout?.status?.phase, condition(fake, 'Succeeded')?.status]).toEqual([0, 'Healthy', 'False'])
  })

  it('does not keep another template from being released, and stays held', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      canaryStatus: { canaryRevision: 'hash-v3', stableRevision: 'hash-v1' },
    })
    fake.act({ id: 'p', type: 'promote' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v3', heldRevisions: [{ revision: 'hash-v2' }] })
  })

  it('keeps no approval and no jump for later (G10)', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.setCanaryStatus({ nextStepIndex: 3 })
    settle(fake)
    expect(fake.warnings).toEqual([
      'canaryStatus.nextStepIndex was set to 3 while revision hash-v2 is blocked; run tranche retry agent -n demo first, so it was put back to 2',
    ])
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    rollBack(fake, { ...abort, id: 'b' })
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    fake.passRollout()
    fake.act({ id: 'r2', type: 'retry' })
    expect(fake.image()).toBe('v2')
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', lastAction: { id: 'r2' } })
    expect(fake.warnings.at(-1)).toContain('was set to StepReady while revision hash-v2 is blocked; run tranche retry agent -n demo first')
  })

  it('reports that it is paused when it is (G9)', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.pause(true)
    settle(fake)
    expect([reasonOf(fake), stalled(fake)]).toEqual(['Paused', 'RevisionHeld'])
    expect(fake.rollout?.status?.observedGeneration).toBe(fake.rollout?.metadata.generation)
    fake.pause(false)
    settle(fake)
    expect([reasonOf(fake), stalled(fake)]).toEqual(['InRolling', 'RevisionHeld'])
  })

  it('can be rolled back once more, by a user', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.act({ ...abort, id: 'again' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.phase, fake.rollout?.status?.lastAction?.result]).toEqual(['v1', 'Healthy', 'Accepted'])
  })

  it('is dropped first when it is the oldest of ten', () => {
    const fake = paused()
    for (let version = 2; version <= 13; version++) {
      fake.setImage(`v${version}`)
      settle(fake)
      fake.act({ id: `a${version}`, type: 'abort' })
      settle(fake)
    }
    const held = fake.rollout?.status?.heldRevisions?.map(({ revision }) => revision)
    expect(held).toEqual(Array.from({ length: 10 }, (_, at) => `hash-v${at + 4}`))
  })

  it('stays held though the Rollout is disabled meanwhile', () => {
    const fake = aborted()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy: { type: 'OnDelete' } } })
    fake.setImage('v2')
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect([stalled(fake), fake.oldPods().length]).toEqual(['RevisionHeld', 5])
  })
})

describe('the action retry', () => {
  it('releases a held template from the first step', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      lastAction: { type: 'retry', result: 'Accepted' },
    })
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    expect(fake.release?.spec.tranche).toMatchObject({ retry: 'r' })
    expect(stalled(fake)).toBeUndefined()
  })

  it('frees a named template, though no release runs', () => {
    const fake = aborted()
    fake.act({ id: 'r1', type: 'retry' })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringContaining('run tranche retry agent -n demo --revision hash-v2'),
    })
    fake.act({ id: 'r2', type: 'retry', revision: 'hash-v2' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v2' } })
  })

  it('cancels an abort while the template cannot be restored', () => {
    const fake = rollingBack()
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(fake)
    expect(condition(fake, 'Stalled')).toMatchObject({
      reason: 'RevisionHeld',
      message: expect.stringContaining('is no longer in the history'),
    })
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.currentStepState]).toEqual(['v2', 'StepPaused'])
  })

  it('is refused for another revision, and for another step', () => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    for (const action of [{ revision: 'hash-v9' }, { expectedStep: 2 }]) {
      fake.act({ id: JSON.stringify(action), type: 'retry', ...action })
      settle(fake)
      expect([fake.rollout?.status?.lastAction?.result, stalled(fake)]).toEqual(['Refused', 'RevisionHeld'])
    }
  })

  it.each(['approve', 'promote'])('comes before %s, which is refused while the revision is held', (type) => {
    const fake = aborted()
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: 'x', type, expectedStep: 1 })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: 'revision hash-v2 is blocked; run tranche retry agent -n demo first',
    })
  })
})

function healthy(options: FakeClusterOptions = {}): FakeCluster {
  const fake = new FakeCluster({ steps, ...options })
  settle(fake)
  return fake
}

/** A release of v2 over v1 that pauses at step 1. */
function paused(options: FakeClusterOptions = {}): FakeCluster {
  const fake = healthy(options)
  fake.setImage('v2')
  settle(fake)
  return fake
}

/** v2 was rolled back, and v1 runs everywhere. */
function aborted(options: FakeClusterOptions = {}): FakeCluster {
  const fake = paused(options)
  fake.act(abort)
  settle(fake)
  return fake
}

/** An abort is accepted: nothing more can be deleted for the revision, and its template is still there. */
function rollingBack(): FakeCluster {
  const fake = paused()
  rollBack(fake)
  return fake
}

function rollBack(fake: FakeCluster, action: typeof abort = abort): void {
  fake.act(action)
  for (let pass = 0; pass < 20 && fake.rollout?.status?.lastAction?.id !== action.id; pass++) {
    fake.passRelease()
    fake.passRollout()
  }
}

function goingBack(): FakeCluster {
  const fake = paused()
  fake.setImage('v1')
  while (fake.rollout?.status?.rollbackFrom === undefined) act(fake)
  return fake
}

/** The stable revision was deleted and recreated under its name with another template. */
function withForgedHistory(): FakeCluster {
  const fake = paused()
  forge(fake)
  return fake
}

function forge(fake: FakeCluster): void {
  fake.revisions = fake.revisions.map((one) => (one.revision === 1 ? { ...one, data: evil } : one))
}

/** As after a DaemonSet was deleted and recreated: its pods have the present template, and its history starts with it. */
function recreateDaemonSet(fake: FakeCluster): void {
  fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name === 'hash-v2')
  fake.pods = fake.pods.map((pod) => ({ ...pod, hash: 'hash-v2' }))
}

const evil = { spec: { template: { spec: { hostPID: true, containers: [] } } } }

function withoutHistory(): FakeCluster {
  const fake = paused()
  fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
  return fake
}

function condition(
  fake: FakeCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return fake.rollout?.status?.conditions?.find((one) => one.type === type)
}

function reasonOf(fake: FakeCluster): string {
  return condition(fake, 'Progressing')?.reason ?? ''
}

function stalled(fake: FakeCluster): string | undefined {
  const one = condition(fake, 'Stalled')
  return one?.status === 'True' ? one.reason : undefined
}
