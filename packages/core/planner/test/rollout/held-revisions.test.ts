import { daemonSetAnnotations } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster, type ToyOptions } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const abort = { id: 'a', type: 'abort', by: 'alice', reason: 'errors' }

describe('the action abort', () => {
  it('stops first, puts the stable template back, goes back without pauses, and says how it ended (G9, G12)', () => {
    const toy = paused()
    rollBack(toy)
    expect(toy.release?.status?.flight).toMatchObject({ state: 'stopped', holds: [{ reason: 'RevisionHeld', id: 'hash-v2' }] })
    expect(toy.rollout?.status).toMatchObject({
      lastAction: { id: 'a', result: 'Accepted', by: 'alice', reason: 'errors' },
      heldRevisions: [{ revision: 'hash-v2', reason: 'Aborted', reverted: false, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      message: 'rolling back revision hash-v2 (v2): the template of revision hash-v1 (v1) is put back',
    })
    expect(planRollout(toy.rolloutView()!)).toMatchObject({
      kind: 'updateRelease',
      spec: { tranche: { hold: { reason: 'RevisionHeld' } } },
    })
    toy.passRollout()
    expect(planRollout(toy.rolloutView()!)).toMatchObject({ kind: 'patchDaemonSet', why: 'revert' })
    const reasons: string[] = []
    settle(toy, () => reasons.push(reasonOf(toy)))
    expect([...new Set(reasons)]).toEqual(expect.arrayContaining(['Cancelling', 'Completed']))
    expect(reasons.lastIndexOf('InRolling')).toBeLessThan(reasons.indexOf('Cancelling'))
    expect(toy.image()).toBe('v1')
    expect(toy.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Healthy',
      stableRevision: 'hash-v1',
      rollbackFrom: 'hash-v2',
      heldRevisions: [{ reverted: true }],
    })
    expect(condition(toy, 'Succeeded')).toMatchObject({ status: 'False', message: 'revision hash-v2 was taken back' })
    expect(Object.keys(toy.daemonSet.metadata.annotations ?? {})).not.toContain(daemonSetAnnotations.reverted)
  })

  it('takes nothing but the pods of the version that is taken back', () => {
    const toy = paused()
    const before = new Set(toy.pods.filter(({ hash }) => hash === 'hash-v1').map(({ uid }) => uid))
    toy.act(abort)
    settle(toy)
    expect(toy.pods.filter(({ uid }) => before.has(uid))).toHaveLength(before.size)
  })

  it('tests the uid and the generation, and takes the strategy over where it is not yet (G11)', () => {
    const toy = paused({ scope: 'release' })
    rollBack(toy)
    toy.passRollout()
    const view = toy.rolloutView()!
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

  it('is carried out while the Rollout is paused, and nothing is deleted until it no longer is (G9)', () => {
    const toy = paused()
    toy.pause(true)
    settle(toy)
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, reasonOf(toy)]).toEqual(['v1', 1, 'Paused'])
    toy.pause(false)
    settle(toy)
    expect([toy.oldPods().length, toy.rollout?.status?.phase]).toEqual([0, 'Healthy'])
  })

  it('goes back though the new version runs on every node, until the DaemonSet was given back', () => {
    const toy = paused()
    toy.act({ id: 'j', type: 'jump', expectedStep: 1, step: 3 })
    while (toy.rollout?.status?.canaryStatus?.finalisingStep !== 'ResumeWorkload') act(toy)
    expect(toy.oldPods()).toEqual([])
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.stableRevision]).toEqual(['v1', 0, 'hash-v1'])
  })

  it.each([
    ['no release is under way', () => healthy(), 'no release is under way'],
    ['a rollback is under way', () => goingBack(), 'which ran before: there is nothing to take back'],
    [
      'the stable revision is gone',
      () => withoutHistory(),
      'is no longer in the history (revisionHistoryLimit): apply the template of the last good version',
    ],
    [
      'the stable revision does not hold the template that became stable (F15)',
      () => withForgedHistory(),
      'revision hash-v1 does not hold the template that became stable last (status.stableDigest): apply the template of the last good version',
    ],
  ])('is refused where %s', (_when, at, reason) => {
    const toy = at()
    toy.act({ ...abort, id: 'b' })
    for (let pass = 0; pass < 9 && toy.rollout?.status?.lastAction?.id !== 'b'; pass++) toy.passRollout()
    expect(toy.rollout?.status?.lastAction).toMatchObject({ id: 'b', result: 'Refused', reason: expect.stringContaining(reason) })
  })

  it('is refused where the stable revision came back under another hash with another template, which is named (F15)', () => {
    const toy = healthy()
    toy.revisions = [{ ...toy.revisions[0]!, metadata: { ...toy.revisions[0]!.metadata, name: 'hash-evil' }, data: evil }]
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ stableRevision: 'hash-evil', stableMismatch: 'hash-evil' })
    toy.act(abort)
    settle(toy)
    expect(toy.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringContaining('revision hash-evil does not hold the template that became stable last (status.stableDigest)'),
    })
    expect(toy.image()).toBe('v2')
  })

  it('puts back a canary that every node ran when the next version came, though no release of it completed (F15)', () => {
    const toy = paused()
    recreateDaemonSet(toy)
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status?.canaryStatus).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3' })
    expect(toy.rollout?.status).not.toHaveProperty('stableMismatch')
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.stableRevision]).toEqual(['v2', 0, 'hash-v2'])
  })

  it('does not put such a canary back where its ControllerRevision holds another template by then (F15)', () => {
    const toy = paused()
    recreateDaemonSet(toy)
    toy.revisions = toy.revisions.map((one) => ({ ...one, data: evil }))
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ stableMismatch: 'hash-v2' })
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.lastAction?.result]).toEqual(['v3', 'Refused'])
  })

  it('puts back what the BatchRelease has kept, where the history holds another template (F15)', () => {
    const toy = paused()
    const template = { spec: { containers: [{ name: 'agent', image: 'v1' }] } }
    toy.release = { ...toy.release!, status: { ...toy.release!.status, stableTemplate: { revision: 'hash-v1', template } } }
    forge(toy)
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.stableRevision]).toEqual(['v1', 0, 'hash-v1'])
  })

  it('puts nothing back that the BatchRelease has kept, where it is not the template that became stable (F15)', () => {
    const toy = paused()
    toy.release = {
      ...toy.release!,
      status: { ...toy.release!.status, stableTemplate: { revision: 'hash-v1', template: evil.spec.template } },
    }
    forge(toy)
    toy.act(abort)
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.lastAction?.result]).toEqual(['v2', 'Refused'])
  })

  it('takes the digest from the history once more after the Rollout was disabled, when other hands may have updated', () => {
    const toy = healthy()
    const before = toy.rollout?.status?.stableDigest
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    toy.setImage('v3')
    toy.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ stableRevision: 'hash-v2' })
    expect(toy.rollout?.status).not.toHaveProperty('stableMismatch')
    expect(toy.rollout?.status?.stableDigest).not.toBe(before)
  })

  it('puts the template back once: what is applied again in the very next moment stays, and is held (G12)', () => {
    const toy = paused()
    toy.act(abort)
    for (let pass = 0; pass < 9 && toy.image() === 'v2'; pass++) act(toy)
    expect(toy.image()).toBe('v1')
    toy.setImage('v2')
    settle(toy)
    expect(toy.image()).toBe('v2')
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reverted: true }])
    expect(stalled(toy)).toBe('RevisionHeld')
  })

  it('is not carried out on a DaemonSet that was let go since, by a leader that froze before its write (G8, G11)', () => {
    const toy = paused()
    rollBack(toy)
    toy.passRollout()
    const late = planRollout(toy.rolloutView()!)
    toy.deleteRollout()
    settle(toy)
    expect([toy.rollout, late.kind === 'patchDaemonSet' && applyPatch(toy.daemonSet, late.patch)]).toEqual([undefined, null])
  })

  it('is not carried out on the template any more when somebody applies another in between', () => {
    const toy = rollingBack()
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', heldRevisions: [{ revision: 'hash-v2', reverted: true }] })
    toy.setImage('v2')
    settle(toy)
    expect([toy.image(), stalled(toy)]).toEqual(['v2', 'RevisionHeld'])
  })
})

describe('a template that was taken back', () => {
  it.each(['binding', 'release'] as const)('is not released again by applying it again, though no release runs (%s, G12)', (scope) => {
    const toy = aborted({ scope })
    toy.setImage('v2')
    settle(toy)
    expect(toy.oldPods()).toHaveLength(5)
    expect(toy.rollout?.status).toMatchObject({ phase: 'Progressing', message: expect.stringContaining('0 of 5 nodes run it') })
    expect(condition(toy, 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'RevisionHeld',
      message: expect.stringContaining('run tranche retry agent -n demo'),
    })
    expect(toy.release).toMatchObject({
      spec: { tranche: { hold: { reason: 'RevisionHeld', id: 'hash-v2' } } },
      status: { waiting: { reason: 'RevisionHeld' } },
    })
    expect(toy.release?.status?.flight?.state).not.toBe('open')
  })

  it('is not released again by applying it again in the middle of the rollback', () => {
    const toy = paused()
    toy.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    settle(toy)
    toy.act(abort)
    while (toy.rollout?.status?.rollbackFrom === undefined) act(toy)
    toy.setImage('v2')
    settle(toy)
    expect(stalled(toy)).toBe('RevisionHeld')
    expect(toy.release?.status?.flight?.state).toBe('stopped')
    toy.setImage('v1')
    settle(toy)
    expect([toy.oldPods().length, toy.rollout?.status?.phase]).toEqual([0, 'Healthy'])
  })

  it('is known again though its revision was pruned and made anew under another name', () => {
    const toy = aborted()
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v2')
    toy.salt = 'again-'
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'again-v2' }])
    expect([stalled(toy), toy.oldPods().length]).toEqual(['RevisionHeld', 5])
  })

  it('counts what comes up on it by other hands, and takes it back with the stable template', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.pods.pop()
    settle(toy)
    expect(toy.rollout?.status?.message).toContain('1 of 5 nodes run it')
    toy.setImage('v1')
    settle(toy)
    expect([toy.oldPods().length, toy.rollout?.status?.phase, condition(toy, 'Succeeded')?.status]).toEqual([0, 'Healthy', 'False'])
  })

  it('does not keep another template from being released, and stays remembered', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      canaryStatus: { canaryRevision: 'hash-v3', stableRevision: 'hash-v1' },
    })
    toy.act({ id: 'p', type: 'promote' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v3', heldRevisions: [{ revision: 'hash-v2' }] })
  })

  it('keeps no approval and no jump for later (G10)', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.setCanaryStatus({ nextStepIndex: 3 })
    settle(toy)
    expect(toy.warnings).toEqual([
      'canaryStatus.nextStepIndex was set to 3 while revision hash-v2 is held; run tranche retry agent -n demo first, so it was put back to 2',
    ])
    toy.act({ id: 'r', type: 'retry' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    rollBack(toy, { ...abort, id: 'b' })
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    toy.passRollout()
    toy.act({ id: 'r2', type: 'retry' })
    expect(toy.image()).toBe('v2')
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', lastAction: { id: 'r2' } })
    expect(toy.warnings.at(-1)).toContain('was set to StepReady while revision hash-v2 is held; run tranche retry agent -n demo first')
  })

  it('says that it is paused when it is (G9)', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.pause(true)
    settle(toy)
    expect([reasonOf(toy), stalled(toy)]).toEqual(['Paused', 'RevisionHeld'])
    expect(toy.rollout?.status?.observedGeneration).toBe(toy.rollout?.metadata.generation)
    toy.pause(false)
    settle(toy)
    expect([reasonOf(toy), stalled(toy)]).toEqual(['InRolling', 'RevisionHeld'])
  })

  it('can be taken back once more, by a person', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.act({ ...abort, id: 'again' })
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.phase, toy.rollout?.status?.lastAction?.result]).toEqual(['v1', 'Healthy', 'Accepted'])
  })

  it('is the oldest of ten that is forgotten', () => {
    const toy = paused()
    for (let version = 2; version <= 13; version++) {
      toy.setImage(`v${version}`)
      settle(toy)
      toy.act({ id: `a${version}`, type: 'abort' })
      settle(toy)
    }
    const held = toy.rollout?.status?.heldRevisions?.map(({ revision }) => revision)
    expect(held).toEqual(Array.from({ length: 10 }, (_, at) => `hash-v${at + 4}`))
  })

  it('is remembered though the Rollout is disabled meanwhile', () => {
    const toy = aborted()
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(toy)
    toy.editDaemonSet({ spec: { ...toy.daemonSet.spec, updateStrategy: { type: 'OnDelete' } } })
    toy.setImage('v2')
    toy.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(toy)
    expect([stalled(toy), toy.oldPods().length]).toEqual(['RevisionHeld', 5])
  })
})

describe('the action retry', () => {
  it('releases a held template from the first step', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      lastAction: { type: 'retry', result: 'Accepted' },
    })
    expect(toy.rollout?.status).not.toHaveProperty('heldRevisions')
    expect(toy.release?.spec.tranche).toMatchObject({ retry: 'r' })
    expect(stalled(toy)).toBeUndefined()
  })

  it('gives a template free that is named, though no release runs', () => {
    const toy = aborted()
    toy.act({ id: 'r1', type: 'retry' })
    settle(toy)
    expect(toy.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: expect.stringContaining('run tranche retry agent -n demo --revision hash-v2'),
    })
    toy.act({ id: 'r2', type: 'retry', revision: 'hash-v2' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v2' } })
  })

  it('calls an abort off while the template cannot be put back', () => {
    const toy = rollingBack()
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(toy)
    expect(condition(toy, 'Stalled')).toMatchObject({
      reason: 'RevisionHeld',
      message: expect.stringContaining('is no longer in the history'),
    })
    toy.act({ id: 'r', type: 'retry' })
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.currentStepState]).toEqual(['v2', 'StepPaused'])
  })

  it('is refused for another revision, and for another step', () => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    for (const action of [{ revision: 'hash-v9' }, { expectedStep: 2 }]) {
      toy.act({ id: JSON.stringify(action), type: 'retry', ...action })
      settle(toy)
      expect([toy.rollout?.status?.lastAction?.result, stalled(toy)]).toEqual(['Refused', 'RevisionHeld'])
    }
  })

  it.each(['approve', 'promote'])('comes before %s, which is refused while the revision is held', (type) => {
    const toy = aborted()
    toy.setImage('v2')
    settle(toy)
    toy.act({ id: 'x', type, expectedStep: 1 })
    settle(toy)
    expect(toy.rollout?.status?.lastAction).toMatchObject({
      result: 'Refused',
      reason: 'revision hash-v2 is held; run tranche retry agent -n demo first',
    })
  })
})

function healthy(options: ToyOptions = {}): ToyCluster {
  const toy = new ToyCluster({ steps, ...options })
  settle(toy)
  return toy
}

/** A release of v2 over v1 that pauses at step 1. */
function paused(options: ToyOptions = {}): ToyCluster {
  const toy = healthy(options)
  toy.setImage('v2')
  settle(toy)
  return toy
}

/** v2 was taken back, and v1 runs everywhere. */
function aborted(options: ToyOptions = {}): ToyCluster {
  const toy = paused(options)
  toy.act(abort)
  settle(toy)
  return toy
}

/** An abort is accepted: nothing more can be deleted for the revision, and its template is there still. */
function rollingBack(): ToyCluster {
  const toy = paused()
  rollBack(toy)
  return toy
}

function rollBack(toy: ToyCluster, action: typeof abort = abort): void {
  toy.act(action)
  for (let pass = 0; pass < 20 && toy.rollout?.status?.lastAction?.id !== action.id; pass++) {
    toy.passRelease()
    toy.passRollout()
  }
}

function goingBack(): ToyCluster {
  const toy = paused()
  toy.setImage('v1')
  while (toy.rollout?.status?.rollbackFrom === undefined) act(toy)
  return toy
}

/** The stable revision was deleted, and created again under its name with another template. */
function withForgedHistory(): ToyCluster {
  const toy = paused()
  forge(toy)
  return toy
}

function forge(toy: ToyCluster): void {
  toy.revisions = toy.revisions.map((one) => (one.revision === 1 ? { ...one, data: evil } : one))
}

/** As a DaemonSet that is deleted and created again: its pods have the present template, and its history begins with it. */
function recreateDaemonSet(toy: ToyCluster): void {
  toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name === 'hash-v2')
  toy.pods = toy.pods.map((pod) => ({ ...pod, hash: 'hash-v2' }))
}

const evil = { spec: { template: { spec: { hostPID: true, containers: [] } } } }

function withoutHistory(): ToyCluster {
  const toy = paused()
  toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
  return toy
}

function condition(
  toy: ToyCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return toy.rollout?.status?.conditions?.find((one) => one.type === type)
}

function reasonOf(toy: ToyCluster): string {
  return condition(toy, 'Progressing')?.reason ?? ''
}

function stalled(toy: ToyCluster): string | undefined {
  const one = condition(toy, 'Stalled')
  return one?.status === 'True' ? one.reason : undefined
}
