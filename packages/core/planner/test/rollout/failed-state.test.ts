import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster, type ToyOptions } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const SEEN = '1 of 5 nodes failed: node-0: CrashLoopBackOff'

describe('a release whose new version is bad', () => {
  it('is stalled with what was seen and what to do, and its failure is in the status', () => {
    const toy = failed()
    expect(condition(toy, 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'ReleaseFailed',
      message: `revision hash-v2 failed: ${SEEN}; nothing more is deleted for it; run tranche retry agent -n demo to continue all the same, or tranche abort agent -n demo to roll back; or apply another template`,
    })
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Progressing',
      currentStepState: 'StepPaused',
      message: expect.stringContaining(SEEN),
      failure: { reason: 'NodesFailed', action: 'Pause', stops: true, nodes: ['node-0'] },
    })
  })

  it('is not said to be stalled before nothing can be deleted any more (G9)', () => {
    const toy = paused()
    toy.latch()
    const release = toy.release!
    toy.release = { ...release, status: { ...release.status, flight: { ...release.status!.flight!, state: 'voiding' } } }
    toy.passRollout()
    expect([stalled(toy), toy.rollout?.status?.message]).toEqual([
      undefined,
      `revision hash-v2 failed: ${SEEN}; waiting until no deletion can be accepted any more`,
    ])
    toy.release = release
    passRollout(toy)
    expect(stalled(toy)).toBe('ReleaseFailed')
  })

  it.each([
    ['while a batch goes on', () => until('StepUpgrade', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 2 })],
    ['in a pause', () => paused()],
    ['in the final settling', () => until('Completed', paused(), { id: 'j', type: 'jump', expectedStep: 1, step: 3 })],
    ['while spec.strategy.paused', () => pausedBySpec()],
  ])('is stopped %s', (_when, at) => {
    const toy = at()
    const state = toy.rollout?.status?.currentStepState
    toy.latch()
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.currentStepState]).toEqual(['ReleaseFailed', state])
  })

  it.each([
    ['approve', { type: 'approve', expectedStep: 1 }],
    ['jump', { type: 'jump', expectedStep: 1, step: 2 }],
    ['promote', { type: 'promote' }],
    ['promote with full', { type: 'promote', full: true }],
  ])('is not led on by the action %s (G10)', (_what, action) => {
    const toy = failed()
    toy.act({ id: 'x', ...action })
    passRollout(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      lastAction: { result: 'Refused', reason: 'revision hash-v2 is stopped by a failure; run tranche retry agent -n demo first' },
    })
  })

  it.each([
    [{ currentStepState: 'StepReady' as const }, 'currentStepState was set to StepReady'],
    [{ nextStepIndex: 3 }, 'nextStepIndex was set to 3'],
  ])('puts %j back that somebody writes into the status, also before the failure was said (G10)', (words, text) => {
    const toy = paused()
    toy.latch()
    toy.setCanaryStatus(words)
    passRollout(toy)
    expect(toy.rollout?.status).toMatchObject({
      currentStepState: 'StepPaused',
      canaryStatus: { currentStepState: 'StepPaused', nextStepIndex: 2 },
    })
    expect(toy.warnings).toEqual([expect.stringContaining(`${text} while revision hash-v2 is stopped by a failure`)])
  })

  it('goes on by a retry, which the BatchRelease is told of, whether it has lifted the stop yet or not', () => {
    const toy = failed()
    toy.act({ id: 'r', type: 'retry', by: 'alice' })
    passRollout(toy)
    expect(toy.rollout?.status).toMatchObject({ lastAction: { id: 'r', result: 'Accepted' }, acceptedActions: { retry: 'r' } })
    expect([stalled(toy), toy.release?.spec.tranche?.retry]).toEqual([undefined, 'r'])
    settle(toy)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 2 })
  })

  it('goes on by a pause that was set since and is taken away, as by a retry', () => {
    const toy = failed()
    resume(toy, 'run tranche resume agent -n demo to accept what has failed, as a retry does, and to go on')
    const retry = `resume-${toy.rollout?.metadata.generation}`
    expect([stalled(toy), toy.release?.spec.tranche?.retry]).toEqual([undefined, retry])
    expect(toy.rollout?.status?.acceptedActions).toEqual({ retry })
    toy.latch({ nodes: ['node-1'] })
    passRollout(toy)
    expect(stalled(toy)).toBe('ReleaseFailed')
  })

  it('does not go on by the end of a pause from before: nobody lifts what he has not seen', () => {
    const toy = pausedBySpec()
    toy.latch()
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.message]).toEqual(['ReleaseFailed', expect.stringContaining('lifts nothing of that')])
    toy.pause(false)
    settleRelease(toy)
    passRollout(toy)
    expect([stalled(toy), toy.release?.spec.tranche?.retry, toy.rollout?.status?.acceptedActions]).toEqual([
      'ReleaseFailed',
      undefined,
      undefined,
    ])
    resume(toy, 'run tranche resume agent -n demo to accept')
    expect(stalled(toy)).toBeUndefined()
  })

  it('does not go on by the end of a pause that was set before the failure was told (G9)', () => {
    const toy = paused()
    toy.latch()
    const release = toy.release!
    toy.release = { ...release, status: { ...release.status, flight: { ...release.status!.flight!, state: 'voiding' } } }
    toy.passRollout()
    toy.pause(true)
    toy.passRollout()
    toy.release = release
    passRollout(toy)
    toy.pause(false)
    passRollout(toy)
    expect([stalled(toy), toy.release.spec.tranche?.retry]).toEqual(['ReleaseFailed', undefined])
  })

  it('is stopped anew by what fails after a retry', () => {
    const toy = failed()
    toy.act({ id: 'r', type: 'retry' })
    passRollout(toy)
    toy.latch({ nodes: ['node-1'] })
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.nodes]).toEqual(['ReleaseFailed', ['node-1']])
  })

  it('does not repeat the nodes that a retry has accepted, of which there may be thousands', () => {
    const toy = failed()
    toy.latch({ accepted: Array.from({ length: 5_000 }, (_, index) => `node-${index}`) })
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.accepted]).toEqual(['ReleaseFailed', undefined])
  })

  it('goes on when the BatchRelease has lifted the stop by itself', () => {
    const toy = failed()
    toy.latch({ stops: false })
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.stops]).toEqual([undefined, false])
  })

  it('gives way to another template, and its failure is forgotten', () => {
    const toy = failed()
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v3' } })
    expect([stalled(toy), toy.rollout?.status?.failure]).toEqual([undefined, undefined])
  })

  it('is held once another template has come over it, and releases nothing when it is applied again (G12)', () => {
    const toy = failed()
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed', reverted: true }])
    toy.setImage('v2')
    settle(toy)
    expect([stalled(toy), toy.release?.spec.tranche?.hold?.reason]).toEqual(['RevisionHeld', 'RevisionHeld'])
  })

  it.each([
    ['that did not fail', () => paused()],
    ['of which nothing could be told', () => failed({ reason: 'AnalysisInconclusive' })],
    ['whose failure a retry has accepted', () => retried()],
  ])('is nothing to remember of a version %s', (_which, begin) => {
    const toy = begin()
    toy.setImage('v3')
    settle(toy, asLongAsItRuns(toy))
    expect(toy.rollout?.status).toMatchObject({ canaryStatus: { canaryRevision: 'hash-v3' } })
    expect(toy.rollout?.status).not.toHaveProperty('heldRevisions')
  })

  it('keeps the failure for the version that failed, and shows it with no other that is held', () => {
    const toy = paused()
    toy.act({ id: 'healthy', type: 'abort', by: 'alice' })
    settle(toy)
    toy.setImage('v3')
    settle(toy)
    toy.latch()
    toy.act({ id: 'bad', type: 'abort', by: 'alice' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ rollbackFrom: 'hash-v3', failure: { message: SEEN } })
    toy.setImage('v2')
    settle(toy)
    expect([stalled(toy), toy.rollout?.status?.canaryStatus?.canaryRevision]).toEqual(['RevisionHeld', 'hash-v2'])
    expect(toy.rollout?.status).not.toHaveProperty('failure')
  })

  it('shows the failure of a version that failed when its template is applied again', () => {
    const toy = failed()
    toy.act({ id: 'a', type: 'abort', by: 'alice' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.message]).toEqual(['RevisionHeld', SEEN])
  })

  it('is taken back by an abort, and the status keeps saying why', () => {
    const toy = failed()
    toy.act({ id: 'a', type: 'abort', by: 'alice' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', heldRevisions: [{ reason: 'Aborted' }], failure: { message: SEEN } })
  })

  it('of another release does not stop this one', () => {
    const toy = paused()
    toy.latch({ release: 'another' })
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.failure]).toEqual([undefined, undefined])
  })

  it('is said and goes on where the policy says Continue', () => {
    const toy = paused()
    toy.latch({ action: 'Continue', stops: false })
    passRollout(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.message]).toEqual([undefined, SEEN])
    settle(toy)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.rollout?.status?.currentStepIndex).toBe(2)
  })
})

describe('an analysis that cannot tell', () => {
  const inconclusive = { reason: 'AnalysisInconclusive', message: 'analysis errors: 3 of 3 measurements say nothing', action: 'Rollback' }

  it('stops the release whatever the policy says of failures, and is measured anew by a retry', () => {
    const toy = failed(inconclusive)
    expect(condition(toy, 'Stalled')).toMatchObject({
      reason: 'AnalysisInconclusive',
      message: expect.stringContaining('it cannot be told whether revision hash-v2 is well: analysis errors'),
    })
    expect(toy.rollout?.status).not.toHaveProperty('heldRevisions')
    toy.act({ id: 'r', type: 'retry' })
    passRollout(toy)
    expect([stalled(toy), toy.release?.spec.tranche?.retry]).toEqual([undefined, 'r'])
  })

  it.each(['AnalysisInconclusive', 'AnalysisFailed'])('is said with the policy whose conditions these are: %s', (reason) => {
    const toy = paused()
    annotate(toy, { 'tranche.dev/release-policy': 'strict' })
    toy.latch({ ...inconclusive, action: 'Pause', reason })
    passRollout(toy)
    passRollout(toy)
    expect(condition(toy, 'Stalled')?.message).toContain('3 of 3 measurements say nothing (ReleasePolicy strict); ')
  })

  it('is measured anew when a pause that was set since is taken away', () => {
    const toy = failed(inconclusive)
    toy.pause(true)
    passRollout(toy)
    expect(stalled(toy)).toBe('AnalysisInconclusive')
    toy.pause(false)
    passRollout(toy)
    expect([stalled(toy), toy.release?.spec.tranche?.retry]).toEqual([undefined, `resume-${toy.rollout?.metadata.generation}`])
  })

  it.each([
    [true, 'Accepted'],
    [false, 'Refused'],
  ])('is gone on without by promote with full %s: %s', (full, result) => {
    const toy = failed(inconclusive)
    toy.act({ id: 'p', type: 'promote', full })
    passRollout(toy)
    expect(toy.rollout?.status?.lastAction).toMatchObject({ id: 'p', result })
  })
})

describe('the rollback by a verdict', () => {
  it('stops first, holds the revision as Failed, puts the stable template back, and says who did it and why (G9, G12)', () => {
    const toy = paused()
    annotate(toy, { 'tranche.dev/release-policy': 'strict' })
    toy.latch({ action: 'Rollback' })
    expect(planRollout(toy.rolloutView()!)).toMatchObject({
      kind: 'updateRelease',
      spec: { tranche: { hold: { reason: 'RevisionHeld' } } },
    })
    const said: string[] = []
    for (let round = 0; round < 40 && toy.image() === 'v2'; round++) {
      const plan = planRollout(toy.rolloutView()!)
      if (plan.kind === 'patchDaemonSet')
        expect(plan.event).toMatchObject({
          type: 'Warning',
          reason: 'TemplateReverted',
          message: `revision hash-v2 failed: ${SEEN}; by failure.action Rollback of ReleasePolicy strict: the template of revision hash-v1 (v1) was put back`,
        })
      if (plan.kind === 'writeStatus') said.push(plan.status.message ?? '')
      act(toy)
    }
    expect(said).toContain(
      `revision hash-v2 failed: ${SEEN}; failure.action is Rollback: rolling back revision hash-v2 (v2): the template of revision hash-v1 (v1) is put back`,
    )
    settle(toy)
    expect(toy.pods.map(({ hash }) => hash)).toEqual(Array.from({ length: 5 }, () => 'hash-v1'))
    expect(toy.rollout?.status).toMatchObject({
      phase: 'Healthy',
      rollbackFrom: 'hash-v2',
      stableRevision: 'hash-v1',
      heldRevisions: [{ revision: 'hash-v2', reason: 'Failed', reverted: true }],
      failure: { message: SEEN },
    })
    expect(condition(toy, 'Succeeded')?.status).toBe('False')
    expect(toy.rollout?.status).not.toHaveProperty('lastAction')
  })

  it('is said to hold the revision when nothing can be deleted for it any more, and not before (G9, G12)', () => {
    const toy = paused()
    toy.latch({ action: 'Rollback' })
    toy.passRollout()
    settleRelease(toy)
    const stopped = toy.release!
    const flight = { ...stopped.status!.flight!, state: 'voiding' as const }
    toy.release = { ...stopped, status: { ...stopped.status, flight } }
    for (let round = 0; round < 3; round++) toy.passRollout()
    expect([toy.rollout?.status?.heldRevisions, toy.image()]).toEqual([undefined, 'v2'])
    toy.release = stopped
    for (let round = 0; round < 3; round++) toy.passRollout()
    expect(toy.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  })

  it('is still told at the end, with why, until another version is released', () => {
    const toy = failed({ action: 'Rollback' })
    settle(toy)
    const end = 'revision hash-v1 is current; 5 of 5 nodes are available'
    expect([toy.rollout?.status?.phase, toy.rollout?.status?.message]).toEqual([
      'Healthy',
      `${end}; revision hash-v2 was taken back, for it failed: ${SEEN}`,
    ])
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status?.message).not.toContain('was taken back')
  })

  it('says that an abort rolled it back, where a retry had accepted its failure before', () => {
    const toy = paused()
    toy.latch({ reason: 'Accepted', stops: false })
    settle(toy)
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    expect(toy.rollout?.status?.message).toMatch(/; revision hash-v2 was taken back by an abort$/)
  })

  it('waits while somebody has paused, says so, and is carried out when they resume (G9, G11)', () => {
    const toy = pausedBySpec()
    toy.latch({ action: 'Rollback' })
    settle(toy)
    expect([toy.image(), stalled(toy), toy.rollout?.status?.heldRevisions]).toEqual(['v2', 'ReleaseFailed', undefined])
    expect(condition(toy, 'Stalled')?.message).toContain(
      'failure.action is Rollback: it is rolled back once the Rollout is resumed (tranche resume agent -n demo)',
    )
    expect(condition(toy, 'Progressing')?.reason).toBe('Paused')
    toy.pause(false)
    settle(toy)
    expect([toy.image(), toy.oldPods().length]).toEqual(['v1', 0])
  })

  it('waits also where somebody pauses when it was decided, and the template is not put back yet (G9, G11)', () => {
    const toy = paused()
    toy.latch({ action: 'Rollback' })
    for (let round = 0; round < 40 && toy.rollout?.status?.heldRevisions === undefined; round++) act(toy)
    toy.pause(true)
    settle(toy)
    expect([toy.image(), stalled(toy)]).toEqual(['v2', 'RevisionHeld'])
    expect(condition(toy, 'Stalled')?.message).toMatch(
      /^revision hash-v2 failed at \S+; it is rolled back once the Rollout is resumed \(tranche resume agent -n demo\)$/,
    )
    toy.pause(false)
    settle(toy)
    expect([toy.image(), toy.oldPods().length]).toEqual(['v1', 0])
  })

  it('is no matter of a pause where a person aborts', () => {
    const toy = pausedBySpec()
    toy.latch({ action: 'Rollback' })
    settle(toy)
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.heldRevisions]).toMatchObject(['v1', [{ reason: 'Aborted', reverted: true }]])
  })

  it('walks the steps back where the Rollout asks for it', () => {
    const toy = paused()
    annotate(toy, { 'rollouts.kruise.io/rollback-in-batch': 'true' })
    toy.act({ id: 'j', type: 'jump', expectedStep: 1, step: 2 })
    settle(toy)
    toy.latch({ action: 'Rollback' })
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.currentStepState, toy.rollout?.status?.rollbackFrom]).toEqual(['v1', 'StepPaused', 'hash-v2'])
    expect(toy.rollout?.status?.failure?.message).toBe(SEEN)
  })

  it('is not made where the stable template is gone: the release waits, and says so', () => {
    const toy = paused()
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    toy.latch({ action: 'Rollback' })
    passRollout(toy)
    expect(condition(toy, 'Stalled')).toMatchObject({
      reason: 'ReleaseFailed',
      message: expect.stringContaining('failure.action is Rollback, and revision hash-v1, which ran before, is no longer in the history'),
    })
    expect([toy.image(), toy.rollout?.status?.heldRevisions]).toEqual(['v2', undefined])
  })

  it('does not take the stable version back: what fails on the way back is said, and stops nothing', () => {
    const toy = paused()
    toy.setImage('v1')
    for (let round = 0; round < 40 && toy.rollout?.status?.rollbackFrom === undefined; round++) act(toy)
    act(toy)
    toy.latch({ action: 'Rollback' })
    passRollout(toy)
    expect([stalled(toy), toy.image(), toy.rollout?.status?.heldRevisions]).toEqual([undefined, 'v1', undefined])
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
  })

  it('happens once: a retry of the held version is released anew, and not taken back by the old verdict', () => {
    const toy = paused()
    toy.latch({ action: 'Rollback' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    expect([stalled(toy), toy.rollout?.status?.failure?.message]).toEqual(['RevisionHeld', SEEN])
    expect(condition(toy, 'Stalled')?.message).toContain('revision hash-v2 failed at')
    toy.act({ id: 'r', type: 'retry' })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepState: 'StepPaused', canaryStatus: { canaryRevision: 'hash-v2' } })
    expect(toy.image()).toBe('v2')
  })

  it('is called off by a retry as long as the template is not back yet', () => {
    const toy = paused()
    toy.latch({ action: 'Rollback' })
    for (let round = 0; round < 40 && toy.rollout?.status?.heldRevisions === undefined; round++) act(toy)
    toy.revisions = toy.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    toy.act({ id: 'r', type: 'retry' })
    passRollout(toy)
    expect(toy.rollout?.status).toMatchObject({ lastAction: { result: 'Accepted' } })
    expect(toy.rollout?.status).not.toHaveProperty('heldRevisions')
    settle(toy)
    expect([toy.image(), toy.rollout?.status?.currentStepState]).toEqual(['v2', 'StepPaused'])
  })
})

describe('a release that turns out to be bad while its Rollout goes', () => {
  it.each(['delete', 'disable'])('waits for a retry where the policy says Pause (Complete, %s)', (how) => {
    const toy = going(how)
    toy.latch()
    passRollout(toy)
    expect(toy.rollout?.status?.message).toMatch(/^before the Rollout goes: revision hash-v2 failed/)
    expect(stalled(toy)).toBe('ReleaseFailed')
    toy.act({ id: 'r', type: 'retry' })
    passRollout(toy)
    expect([toy.rollout?.status?.lastAction?.result, toy.release?.spec.tranche?.retry]).toEqual(['Accepted', 'r'])
    settle(toy)
    expect([toy.image(), toy.oldPods().length]).toEqual(['v2', 0])
  })

  it.each(['delete', 'disable'])('is taken back where the policy says Rollback, and then lets go (Complete, %s)', (how) => {
    const toy = going(how)
    toy.latch({ action: 'Rollback' })
    settle(toy)
    expect([toy.image(), toy.oldPods().length, toy.rollout?.status?.phase]).toEqual(['v1', 0, how === 'delete' ? undefined : 'Disabled'])
    expect(toy.daemonSet.spec.updateStrategy?.type).toBe('RollingUpdate')
  })
})

function going(how: string): ToyCluster {
  const toy = paused()
  toy.onDelete('Complete')
  if (how === 'delete') toy.deleteRollout()
  else toy.editRollout((spec) => ({ ...spec, disabled: true }))
  for (let round = 0; round < 40 && toy.release?.spec.releasePlan.batchPartition !== undefined; round++) toy.passRollout()
  return toy
}

function paused(options: ToyOptions = {}): ToyCluster {
  const toy = new ToyCluster({ steps, ...options })
  settle(toy)
  toy.setImage('v2')
  settle(toy)
  return toy
}

function failed(change: Parameters<ToyCluster['latch']>[0] = {}): ToyCluster {
  const toy = paused()
  toy.latch(change)
  passRollout(toy)
  return toy
}

function retried(): ToyCluster {
  const toy = failed()
  toy.act({ id: 'r', type: 'retry' })
  settle(toy)
  return toy
}

/** Pauses by the spec, reads what is said of that, and resumes. */
function resume(toy: ToyCluster, said: string): void {
  toy.pause(true)
  passRollout(toy)
  settleRelease(toy)
  passRollout(toy)
  expect([stalled(toy), toy.rollout?.status?.message]).toEqual([expect.any(String), expect.stringContaining(said)])
  toy.pause(false)
  passRollout(toy)
}

/** Keeps the failure that the BatchRelease has now: nothing that is measured says anything better of this release. */
function asLongAsItRuns(toy: ToyCluster): () => void {
  const failure = toy.release?.status?.failure
  return () => {
    const { release } = toy
    if (release === undefined || failure === undefined || release.spec.tranche?.release !== failure.release) return
    toy.release = { ...release, status: { ...release.status, failure } }
  }
}

/** Lets the BatchRelease alone act, until it has acknowledged what it is asked. */
function settleRelease(toy: ToyCluster): void {
  for (let round = 0; round < 10; round++) toy.passRelease()
}

function pausedBySpec(): ToyCluster {
  const toy = paused()
  toy.pause(true)
  settle(toy)
  return toy
}

function until(state: string, toy: ToyCluster, action: object): ToyCluster {
  toy.act(action)
  for (
    let round = 0;
    round < 80 && (toy.rollout?.status?.lastAction === undefined || toy.rollout.status.currentStepState !== state);
    round++
  )
    act(toy)
  for (let round = 0; round < 40 && toy.release?.status?.observedGeneration !== toy.release?.metadata.generation; round++) toy.passRelease()
  return toy
}

/** The Rollout reconciler alone, until it has nothing to write. */
function passRollout(toy: ToyCluster): void {
  for (let pass = 0; pass < 20 && toy.passRollout(); pass++) toy.nowMs += 10
}

function annotate(toy: ToyCluster, more: Readonly<Record<string, string>>): void {
  const rollout = toy.rollout!
  toy.rollout = { ...rollout, metadata: { ...rollout.metadata, annotations: { ...rollout.metadata.annotations, ...more } } }
}

function condition(
  toy: ToyCluster,
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return toy.rollout?.status?.conditions?.find((one) => one.type === type)
}

function stalled(toy: ToyCluster): string | undefined {
  const one = condition(toy, 'Stalled')
  return one?.status === 'True' ? one.reason : undefined
}
