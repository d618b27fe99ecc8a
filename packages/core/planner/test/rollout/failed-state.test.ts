import type { Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import { planRollout } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { act, applyUnread, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster, type FakeClusterOptions } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const SEEN = '1 of 5 nodes failed: node-0: CrashLoopBackOff'

describe('a release whose new version is bad', () => {
  it('is stalled with the findings and the fix, and its failure is in the status', () => {
    const fake = failed()
    expect(condition(fake, 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'ReleaseFailed',
      message: `revision hash-v2 failed: ${SEEN}; no more pods are deleted for it; run tranche retry agent -n demo to continue all the same, or tranche abort agent -n demo to roll back; or apply another template`,
    })
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      currentStepState: 'StepPaused',
      message: expect.stringContaining(SEEN),
      failure: { reason: 'NodesFailed', action: 'Pause', stops: true, nodes: ['node-0'] },
    })
  })

  it('is not reported as stalled before nothing can be deleted any more (G9)', () => {
    const fake = paused()
    fake.latch()
    const release = fake.release!
    fake.release = { ...release, status: { ...release.status, flight: { ...release.status!.flight!, state: 'voiding' } } }
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.message]).toEqual([
      undefined,
      `revision hash-v2 failed: ${SEEN}; waiting until no deletion can be accepted any more`,
    ])
    fake.release = release
    passRollout(fake)
    expect(stalled(fake)).toBe('ReleaseFailed')
  })

  it.each([
    ['during a batch', () => until('StepUpgrade', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 2 })],
    ['in a pause', () => paused()],
    ['in the final settling', () => until('Completed', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 3 })],
    ['while spec.strategy.paused', () => pausedBySpec()],
  ])('is stopped %s', (_when, at) => {
    const fake = at()
    const state = fake.rollout?.status?.currentStepState
    fake.latch()
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.currentStepState]).toEqual(['ReleaseFailed', state])
  })

  it.each([
    ['during a batch', () => until('StepUpgrade', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 2 })],
    ['in a pause', () => paused()],
    ['in the last batch', () => inLastBatch()],
    ['in the final settling', () => until('Completed', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 3 })],
  ])('stays stopped until a retry when its manifest replaces the DaemonSet %s (G9, G12)', (_when, at) => {
    const fake = at()
    fake.latch()
    passRollout(fake)
    const { stableRevision } = fake.rollout!.status!
    const old = fake.oldPods()
    fake.replaceDaemonSet()
    settle(fake)
    expect([stalled(fake), fake.rollout?.status?.phase, fake.rollout?.status?.stableRevision]).toEqual([
      'ReleaseFailed',
      'Progressing',
      stableRevision,
    ])
    expect(fake.oldPods()).toEqual(old)
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(stalled(fake)).toBeUndefined()
  })

  it('gives way to a fix that comes once the Rollout, disabled with on-delete Complete, is enabled again', () => {
    const fake = failed()
    fake.onDelete('Complete')
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Disabling')
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      canaryStatus: { canaryRevision: 'hash-v3' },
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed' }],
    })
  })

  it('gives way to a fix that comes with fewer steps, also where the step that it stopped at is gone', () => {
    const fake = atStepTwo()
    fake.latch()
    passRollout(fake)
    fake.setImage('v3')
    fake.editRollout(withOneStep)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, canaryStatus: { canaryRevision: 'hash-v3' } })
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  })

  it('is rolled back by an abort that comes with fewer steps, also where the present step is gone', () => {
    const fake = atStepTwo()
    fake.act({ id: 'a', type: 'abort' })
    fake.editRollout(withOneStep)
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.phase]).toEqual(['v1', 'Healthy'])
  })

  it.each([
    ['approve', { type: 'approve', expectedStep: 1 }],
    ['jump', { type: 'jump', expectedStep: 1, step: 2 }],
    ['promote', { type: 'promote' }],
    ['promote with full', { type: 'promote', full: true }],
  ])('is not continued by the action %s (G10)', (_what, action) => {
    const fake = failed()
    fake.act({ id: 'x', ...action })
    passRollout(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      lastAction: { result: 'Refused', reason: 'revision hash-v2 is stopped by a failure; run tranche retry agent -n demo first' },
    })
  })

  it.each([
    [{ currentStepState: 'StepReady' as const }, 'currentStepState was set to StepReady'],
    [{ nextStepIndex: 3 }, 'nextStepIndex was set to 3'],
  ])('puts back %j that a user writes into the status, even before the failure was reported (G10)', (words, text) => {
    const fake = paused()
    fake.latch()
    fake.setCanaryStatus(words)
    passRollout(fake)
    expect(fake.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      canaryStatus: { currentStepState: 'StepPaused', nextStepIndex: 2 },
    })
    expect(fake.warnings).toEqual([expect.stringContaining(`${text} while revision hash-v2 is stopped by a failure`)])
  })

  it('continues after a retry, of which the BatchRelease is notified, whether it has lifted the stop yet or not', () => {
    const fake = failed()
    fake.act({ id: 'r', type: 'retry', by: 'alice' })
    passRollout(fake)
    expect(fake.rollout?.status).toMatchObject({ lastAction: { id: 'r', result: 'Accepted' }, acceptedActions: { retry: 'r' } })
    expect([stalled(fake), fake.release?.spec.tranche?.retry]).toEqual([undefined, 'r'])
    settle(fake)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2 })
  })

  it('continues after a pause that was set since and is removed, as after a retry', () => {
    const fake = failed()
    resume(fake, 'run tranche resume agent -n demo to accept the failure, as a retry does, and continue')
    const retry = `resume-${fake.rollout?.metadata.generation}`
    expect([stalled(fake), fake.release?.spec.tranche?.retry]).toEqual([undefined, retry])
    expect(fake.rollout?.status?.acceptedActions).toEqual({ retry })
    fake.latch({ nodes: ['node-1'] })
    passRollout(fake)
    expect(stalled(fake)).toBe('ReleaseFailed')
  })

  it('does not continue after a pause from before: a user lifts only a failure that they have seen', () => {
    const fake = pausedBySpec()
    fake.latch()
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.message]).toEqual(['ReleaseFailed', expect.stringContaining('does not lift the failure')])
    fake.pause(false)
    settleRelease(fake)
    passRollout(fake)
    expect([stalled(fake), fake.release?.spec.tranche?.retry, fake.rollout?.status?.acceptedActions]).toEqual([
      'ReleaseFailed',
      undefined,
      undefined,
    ])
    resume(fake, 'run tranche resume agent -n demo to accept')
    expect(stalled(fake)).toBeUndefined()
  })

  it('does not continue after a pause that was set before the failure was reported (G9)', () => {
    const fake = paused()
    fake.latch()
    const release = fake.release!
    fake.release = { ...release, status: { ...release.status, flight: { ...release.status!.flight!, state: 'voiding' } } }
    passRollout(fake)
    fake.pause(true)
    fake.passRollout()
    fake.release = release
    passRollout(fake)
    fake.pause(false)
    passRollout(fake)
    expect([stalled(fake), fake.release.spec.tranche?.retry]).toEqual(['ReleaseFailed', undefined])
  })

  it('is stopped again by a failure after a retry', () => {
    const fake = failed()
    fake.act({ id: 'r', type: 'retry' })
    passRollout(fake)
    fake.latch({ nodes: ['node-1'] })
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.nodes]).toEqual(['ReleaseFailed', ['node-1']])
  })

  it('does not repeat the nodes that a retry has accepted, of which there may be thousands', () => {
    const fake = failed()
    fake.latch({ accepted: Array.from({ length: 5_000 }, (_, index) => `node-${index}`) })
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.accepted]).toEqual(['ReleaseFailed', undefined])
  })

  it('continues when the BatchRelease has lifted the stop by itself', () => {
    const fake = failed()
    fake.latch({ stops: false })
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.stops]).toEqual([undefined, false])
  })

  it('gives way to another template, and its failure is dropped', () => {
    const fake = failed()
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v3' } })
    expect([stalled(fake), fake.rollout?.status?.failure]).toEqual([undefined, undefined])
  })

  it('is held once another template has replaced it, and releases nothing when it is applied again (G12)', () => {
    const fake = failed()
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed', reverted: true }])
    fake.setImage('v2')
    settle(fake)
    expect([stalled(fake), fake.release?.spec.tranche?.hold?.reason]).toEqual(['RevisionHeld', 'RevisionHeld'])
  })

  it('is held though the DaemonSet that comes with the fix is another one, without its history (G12)', () => {
    const fake = failed()
    fake.setImage('v3')
    fake.remakeDaemonSet()
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      canaryStatus: { canaryRevision: 'hash-v3' },
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverted: true }],
    })
    fake.setImage('v2')
    settle(fake)
    expect([stalled(fake), fake.release?.spec.tranche?.hold?.reason]).toEqual(['RevisionHeld', 'RevisionHeld'])
  })

  it.each([
    ['that did not fail', () => paused()],
    ['with an inconclusive analysis', () => failed({ reason: 'AnalysisInconclusive' })],
    ['whose failure a retry has accepted', () => retried()],
  ])('is not held after a version %s', (_which, begin) => {
    const fake = begin()
    fake.setImage('v3')
    settle(fake, asLongAsItRuns(fake))
    expect(fake.rollout?.status).toMatchObject({ canaryStatus: { canaryRevision: 'hash-v3' } })
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
  })

  it('keeps the failure with the version that failed, and shows it with no other held one', () => {
    const fake = paused()
    fake.act({ id: 'healthy', type: 'abort', by: 'alice' })
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    fake.latch()
    fake.act({ id: 'bad', type: 'abort', by: 'alice' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ rollbackFrom: 'hash-v3', failure: { message: SEEN } })
    fake.setImage('v2')
    settle(fake)
    expect([stalled(fake), fake.rollout?.status?.canaryStatus?.canaryRevision]).toEqual(['RevisionHeld', 'hash-v2'])
    expect(fake.rollout?.status).not.toHaveProperty('failure')
  })

  it('shows the failure of a version that failed when its template is applied again', () => {
    const fake = failed()
    fake.act({ id: 'a', type: 'abort', by: 'alice' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.message]).toEqual(['RevisionHeld', SEEN])
  })

  it('is rolled back by an abort, and the status keeps the reason', () => {
    const fake = failed()
    fake.act({ id: 'a', type: 'abort', by: 'alice' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', heldRevisions: [{ reason: 'Aborted' }], failure: { message: SEEN } })
  })

  it('of another release does not stop this one', () => {
    const fake = paused()
    fake.latch({ release: 'another' })
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.failure]).toEqual([undefined, undefined])
  })

  it('is reported and continues where the policy says Continue', () => {
    const fake = paused()
    fake.latch({ action: 'Continue', stops: false })
    passRollout(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.message]).toEqual([undefined, SEEN])
    settle(fake)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.rollout?.status?.currentStepIndex).toBe(2)
  })
})

describe('an inconclusive analysis', () => {
  const inconclusive = { reason: 'AnalysisInconclusive', message: 'analysis errors: 3 of 3 measurements say nothing', action: 'Rollback' }

  it('stops the release whatever the policy says about failures, and is measured again by a retry', () => {
    const fake = failed(inconclusive)
    expect(condition(fake, 'Stalled')).toMatchObject({
      reason: 'AnalysisInconclusive',
      message: expect.stringContaining('the analysis does not show whether revision hash-v2 is healthy: analysis errors'),
    })
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    fake.act({ id: 'r', type: 'retry' })
    passRollout(fake)
    expect([stalled(fake), fake.release?.spec.tranche?.retry]).toEqual([undefined, 'r'])
  })

  it.each(['AnalysisInconclusive', 'AnalysisFailed'])('is reported with the policy that holds its conditions: %s', (reason) => {
    const fake = paused()
    annotate(fake, { 'tranche.dev/release-policy': 'strict' })
    fake.latch({ ...inconclusive, action: 'Pause', reason })
    passRollout(fake)
    passRollout(fake)
    expect(condition(fake, 'Stalled')?.message).toContain('3 of 3 measurements say nothing (ReleasePolicy strict); ')
  })

  it('names the annotation that ends its release, where its Rollout is disabled: an abort is rejected then', () => {
    const fake = failed({ ...inconclusive, action: 'Pause' })
    annotate(fake, { 'tranche.dev/on-delete': 'Complete' })
    fake.rollout = { ...fake.rollout!, spec: { ...fake.rollout!.spec, disabled: true } }
    passRollout(fake)
    passRollout(fake)
    expect(condition(fake, 'Stalled')?.message).toMatch(/to skip the analysis, or kubectl annotate .* tranche\.dev\/on-delete=Rollback/)
    expect(condition(fake, 'Stalled')?.message).not.toContain('tranche abort')
  })

  it('is measured again when a pause that was set since is removed', () => {
    const fake = failed(inconclusive)
    fake.pause(true)
    passRollout(fake)
    expect(stalled(fake)).toBe('AnalysisInconclusive')
    fake.pause(false)
    passRollout(fake)
    expect([stalled(fake), fake.release?.spec.tranche?.retry]).toEqual([undefined, `resume-${fake.rollout?.metadata.generation}`])
  })

  it.each([
    [true, 'Accepted'],
    [false, 'Refused'],
  ])('is skipped by promote with full %s: %s', (full, result) => {
    const fake = failed(inconclusive)
    fake.act({ id: 'p', type: 'promote', full })
    passRollout(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({ id: 'p', result })
  })
})

describe('the rollback by a verdict', () => {
  it('stops first, holds the revision as Failed, restores the stable template, and reports who did it and why (G9, G12)', () => {
    const fake = paused()
    annotate(fake, { 'tranche.dev/release-policy': 'strict' })
    fake.latch({ action: 'Rollback' })
    expect(planRollout(fake.rolloutView()!)).toMatchObject({
      kind: 'updateRelease',
      spec: { tranche: { hold: { reason: 'RevisionHeld' } } },
    })
    const said: string[] = []
    for (let round = 0; round < 40 && fake.image() === 'v2'; round++) {
      const plan = planRollout(fake.rolloutView()!)
      if (plan.kind === 'patchDaemonSet')
        expect(plan.event).toMatchObject({
          type: 'Warning',
          reason: 'TemplateReverted',
          message: `revision hash-v2 (v2) failed: ${SEEN}; by failure.action Rollback of ReleasePolicy strict: the template of revision hash-v1 (v1) was put back`,
        })
      if (plan.kind === 'writeStatus') said.push(plan.status.message ?? '')
      act(fake)
    }
    expect(said).toContain(
      `revision hash-v2 failed: ${SEEN}; failure.action is Rollback: rolling back revision hash-v2 (v2): the template of revision hash-v1 (v1) is put back`,
    )
    settle(fake)
    expect(fake.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Healthy',
      rollbackFrom: 'hash-v2',
      stableRevision: 'hash-v1',
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverted: true }],
      failure: { message: SEEN },
    })
    expect(condition(fake, 'Succeeded')?.status).toBe('False')
    expect(fake.rollout?.status).not.toHaveProperty('lastAction')
  })

  it('reports that the revision is held when nothing can be deleted for it any more, and not before (G9, G12)', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    fake.passRollout()
    settleRelease(fake)
    const stopped = fake.release!
    const flight = { ...stopped.status!.flight!, state: 'voiding' as const }
    fake.release = { ...stopped, status: { ...stopped.status, flight } }
    for (let round = 0; round < 3; round++) fake.passRollout()
    expect([fake.rollout?.status?.heldRevisions, fake.image()]).toEqual([undefined, 'v2'])
    fake.release = stopped
    for (let round = 0; round < 3; round++) fake.passRollout()
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  })

  it('is still reported at the end, with the reason, until another version is released', () => {
    const fake = failed({ action: 'Rollback' })
    settle(fake)
    const end = 'revision hash-v1 is current; 5 of 5 nodes are available'
    expect([fake.rollout?.status?.phase, fake.rollout?.status?.message]).toEqual([
      'Healthy',
      `${end}; revision hash-v2 was rolled back because it failed: ${SEEN}`,
    ])
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.message).not.toContain('was rolled back')
  })

  it('reports that an abort rolled it back, where a retry had accepted its failure before', () => {
    const fake = paused()
    fake.latch({ reason: 'Accepted', stops: false })
    settle(fake)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.rollout?.status?.message).toMatch(/; revision hash-v2 was rolled back by an abort$/)
    fake.act({ id: 'b', type: 'pause' })
    settle(fake)
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status?.message).toMatch(/; revision hash-v2 was rolled back by an abort or tranche\.dev\/on-delete=Rollback$/)
  })

  it('waits during a pause, says so, and is carried out after resume (G9, G11)', () => {
    const fake = pausedBySpec()
    fake.latch({ action: 'Rollback' })
    settle(fake)
    expect([fake.image(), stalled(fake), fake.rollout?.status?.heldRevisions]).toEqual(['v2', 'ReleaseFailed', undefined])
    expect(condition(fake, 'Stalled')?.message).toContain(
      'failure.action is Rollback: it is rolled back once the Rollout is resumed (tranche resume agent -n demo)',
    )
    expect(condition(fake, 'Progressing')?.reason).toBe('Paused')
    fake.pause(false)
    settle(fake)
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 0])
  })

  it('waits even where the pause comes after the decision, and the template is not restored yet (G9, G11)', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    for (let round = 0; round < 40 && fake.rollout?.status?.heldRevisions === undefined; round++) act(fake)
    fake.pause(true)
    settle(fake)
    expect([fake.image(), stalled(fake)]).toEqual(['v2', 'RevisionHeld'])
    expect(condition(fake, 'Stalled')?.message).toMatch(
      /^revision hash-v2 \(v2\) failed at \S+; it is rolled back once the Rollout is resumed \(tranche resume agent -n demo\)$/,
    )
    fake.pause(false)
    settle(fake)
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 0])
  })

  it('is not carried out after a retry that came in a pause, by a leader that froze before its write (G8, G11)', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    const late = untilRevert(fake)
    fake.pause(true)
    settle(fake)
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v2' } })
    expect([fake.image(), applyPatch(fake.daemonSet, late)]).toEqual(['v2', null])
  })

  it('does not wait for a pause where a user aborts', () => {
    const fake = pausedBySpec()
    fake.latch({ action: 'Rollback' })
    settle(fake)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions]).toMatchObject(['v1', [{ reason: 'Aborted', reverted: true }]])
  })

  it('walks the steps back where the Rollout asks for it', () => {
    const fake = paused()
    annotate(fake, { 'rollouts.kruise.io/rollback-in-batch': 'true' })
    fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    settle(fake)
    fake.latch({ action: 'Rollback' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.currentStepState, fake.rollout?.status?.rollbackFrom]).toEqual([
      'v1',
      'StepPaused',
      'hash-v2',
    ])
    expect(fake.rollout?.status?.failure?.message).toBe(SEEN)
  })

  it('is impossible where the stable template is gone: the release waits, and says so', () => {
    const fake = paused()
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    fake.latch({ action: 'Rollback' })
    passRollout(fake)
    expect(condition(fake, 'Stalled')).toMatchObject({
      reason: 'ReleaseFailed',
      message: expect.stringContaining('failure.action is Rollback, and revision hash-v1, which ran before, is no longer in the history'),
    })
    expect([fake.image(), fake.rollout?.status?.heldRevisions]).toEqual(['v2', undefined])
  })

  it('does not roll the stable version back: failures during the rollback are reported, and stop nothing', () => {
    const fake = paused()
    fake.setImage('v1')
    for (let round = 0; round < 40 && fake.rollout?.status?.rollbackFrom === undefined; round++) act(fake)
    act(fake)
    fake.latch({ action: 'Rollback' })
    passRollout(fake)
    expect([stalled(fake), fake.image(), fake.rollout?.status?.heldRevisions]).toEqual([undefined, 'v1', undefined])
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
  })

  it('happens once: a retry of the held version is released again, and not rolled back by the old verdict', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    expect([stalled(fake), fake.rollout?.status?.failure?.message]).toEqual(['RevisionHeld', SEEN])
    expect(condition(fake, 'Stalled')?.message).toContain('revision hash-v2 (v2) failed at')
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v2' } })
    expect(fake.image()).toBe('v2')
  })

  it('is cancelled by a retry until the template is restored', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    for (let round = 0; round < 40 && fake.rollout?.status?.heldRevisions === undefined; round++) act(fake)
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    fake.act({ id: 'r', type: 'retry' })
    passRollout(fake)
    expect(fake.rollout?.status).toMatchObject({ lastAction: { result: 'Accepted' } })
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.currentStepState]).toEqual(['v2', 'StepPaused'])
  })
})

describe('a release that proves bad while its Rollout is deleted or disabled', () => {
  it.each(['delete', 'disable'])('waits for a retry where the policy says Pause (Complete, %s)', (how) => {
    const fake = going(how)
    fake.latch()
    passRollout(fake)
    expect(fake.rollout?.status?.message).toMatch(/^before detaching: revision hash-v2 failed/)
    expect(stalled(fake)).toBe('ReleaseFailed')
    fake.act({ id: 'r', type: 'retry' })
    passRollout(fake)
    expect([fake.rollout?.status?.lastAction?.result, fake.release?.spec.tranche?.retry]).toEqual(['Accepted', 'r'])
    settle(fake)
    expect([fake.image(), fake.oldPods().length]).toEqual(['v2', 0])
  })

  it.each(['delete', 'disable'])(
    'is continued by a retry, also where its template was replaced and applied again before a pass read it (Complete, %s, G10)',
    (how) => {
      const fake = going(how)
      fake.latch()
      passRollout(fake)
      applyUnread(fake, 'v3', 'v2')
      settle(fake)
      expect([stalled(fake), fake.oldPods().length]).toEqual(['ReleaseFailed', 4])
      fake.act({ id: 'r', type: 'retry' })
      settle(fake)
      expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.phase]).toEqual([
        'v2',
        0,
        how === 'delete' ? undefined : 'Disabled',
      ])
    },
  )

  it.each(['delete', 'disable'])('is rolled back where the policy says Rollback, and then detaches (Complete, %s)', (how) => {
    const fake = going(how)
    fake.latch({ action: 'Rollback' })
    settle(fake)
    expect([fake.image(), fake.oldPods().length, fake.rollout?.status?.phase]).toEqual(['v1', 0, how === 'delete' ? undefined : 'Disabled'])
    expect(fake.daemonSet.spec.updateStrategy?.type).toBe('RollingUpdate')
  })
})

function going(how: string): FakeCluster {
  const fake = paused()
  fake.onDelete('Complete')
  if (how === 'delete') fake.deleteRollout()
  else fake.editRollout((spec) => ({ ...spec, disabled: true }))
  for (let round = 0; round < 40 && fake.release?.spec.releasePlan.batchPartition !== undefined; round++) fake.passRollout()
  return fake
}

function paused(options: FakeClusterOptions = {}): FakeCluster {
  const fake = new FakeCluster({ steps, ...options })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

function atStepTwo(): FakeCluster {
  const fake = paused()
  fake.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
  settle(fake)
  return fake
}

/** The only step is done, and the nodes beyond it are to be updated. */
function inLastBatch(): FakeCluster {
  const fake = paused({ steps: [{ replicas: '20%', pause: {} }] })
  fake.act({ id: 'on', type: 'approve', expectedStep: 1 })
  for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Finalizing'; round++) act(fake)
  return fake
}

function withOneStep(spec: Rollout['spec']): Rollout['spec'] {
  return { ...spec, strategy: { ...spec.strategy, canary: { ...spec.strategy.canary, steps: [{ replicas: '40%', pause: {} }] } } }
}

function failed(change: Parameters<FakeCluster['latch']>[0] = {}): FakeCluster {
  const fake = paused()
  fake.latch(change)
  passRollout(fake)
  return fake
}

function retried(): FakeCluster {
  const fake = failed()
  fake.act({ id: 'r', type: 'retry' })
  settle(fake)
  return fake
}

/** Lets all programs act until the template is to be restored. @returns the patch that does it, not sent yet */
function untilRevert(fake: FakeCluster): readonly PatchOperation[] {
  for (let round = 0; round < 40; round++) {
    const plan = planRollout(fake.rolloutView()!)
    if (plan.kind === 'patchDaemonSet' && plan.why === 'revert') return plan.patch
    act(fake)
  }
  throw new Error('the template is never to be restored')
}

/** Pauses by the spec, reads the message about it, and resumes. */
function resume(fake: FakeCluster, said: string): void {
  fake.pause(true)
  passRollout(fake)
  settleRelease(fake)
  passRollout(fake)
  expect([stalled(fake), fake.rollout?.status?.message]).toEqual([expect.any(String), expect.stringContaining(said)])
  fake.pause(false)
  passRollout(fake)
}

/** Keeps the BatchRelease’s present failure: no measurement improves the verdict on this release. */
function asLongAsItRuns(fake: FakeCluster): () => void {
  const failure = fake.release?.status?.failure
  return () => {
    const { release } = fake
    if (release === undefined || failure === undefined || release.spec.tranche?.release !== failure.release) return
    fake.release = { ...release, status: { ...release.status, failure } }
  }
}

/** Runs only the BatchRelease reconciler, until it has acknowledged its spec. */
function settleRelease(fake: FakeCluster): void {
  for (let round = 0; round < 10; round++) fake.passRelease()
}

function pausedBySpec(): FakeCluster {
  const fake = paused()
  fake.pause(true)
  settle(fake)
  return fake
}

function until(state: string, fake: FakeCluster, action: object): FakeCluster {
  fake.act(action)
  for (
    let round = 0;
    round < 80 && (fake.rollout?.status?.lastAction === undefined || fake.rollout.status.currentStepState !== state);
    round++
  )
    act(fake)
  for (let round = 0; round < 40 && fake.release?.status?.observedGeneration !== fake.release?.metadata.generation; round++)
    fake.passRelease()
  return fake
}

/** Runs only the Rollout reconciler, until it has nothing to write. */
function passRollout(fake: FakeCluster): void {
  for (let pass = 0; pass < 20 && fake.passRollout(); pass++) fake.nowMs += 10
}

function annotate(fake: FakeCluster, more: Readonly<Record<string, string>>): void {
  const rollout = fake.rollout!
  fake.rollout = { ...rollout, metadata: { ...rollout.metadata, annotations: { ...rollout.metadata.annotations, ...more } } }
}

function condition(
  fake: FakeCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return fake.rollout?.status?.conditions?.find((one) => one.type === type)
}

function stalled(fake: FakeCluster): string | undefined {
  const one = condition(fake, 'Stalled')
  return one?.status === 'True' ? one.reason : undefined
}
