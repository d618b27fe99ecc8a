import type { LastAction, Rollout, RolloutStep } from '@tranche/api-schema'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, applyUnread, settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '80%', pause: {} }, { replicas: '100%' }]
const approve = { id: '1', type: 'approve', expectedStep: 1 }
const jump = { id: '1', type: 'jump', expectedStep: 1, step: 3 }

interface Spoilt {
  readonly what: string
  readonly reason: string
  spoil(fake: FakeCluster): void
  restore(fake: FakeCluster): void
}

const withoutPolicy: readonly Spoilt[] = [
  {
    what: 'is missing',
    reason: 'PolicyNotFound',
    spoil: (fake) => (fake.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'strict' } })),
    restore: (fake) => (fake.readsAs = (view) => view),
  },
  {
    what: 'breaks a rule',
    reason: 'PolicyInvalid',
    spoil: (fake) => (fake.policy = { soak: { step: 'soon' } }),
    restore: (fake) => (fake.policy = {}),
  },
]

describe('an action', () => {
  it.each([
    ['approves the step it is meant for', approve, { currentStepIndex: 2, currentStepState: 'StepPaused', canaryReplicas: 3 }],
    ['approves the revision it is meant for', { ...approve, revision: 'hash-v2' }, { currentStepIndex: 2 }],
    ['jumps ahead', jump, { currentStepIndex: 3, nextStepIndex: 4, currentStepState: 'StepPaused', canaryReplicas: 4 }],
    ['jumps to the step that follows', { ...jump, step: 2 }, { currentStepIndex: 2, currentStepState: 'StepPaused' }],
    ['jumps to the present step', { ...jump, step: 1 }, { currentStepIndex: 1, currentStepState: 'StepPaused' }],
  ])('%s', (_name, action, canary) => {
    const fake = paused()
    fake.act({ ...action, by: 'alice', reason: 'looks good' })
    settle(fake)
    expect(fake.rollout?.status?.canaryStatus).toMatchObject(canary)
    expect(answerOf(fake)).toEqual({
      ...{ id: '1', type: action.type, result: 'Accepted', by: 'alice', reason: 'looks good' },
      at: expect.stringMatching(/Z$/),
    })
  })

  it.each<[string, object | string, string]>([
    ['for another step', { ...approve, expectedStep: 2 }, 'it is meant for step 2, and the release is at step 1'],
    ['without a step', { id: '1', type: 'approve' }, 'it does not say expectedStep; the release is at step 1'],
    ['for another revision', { ...approve, revision: 'hash-v9' }, 'it is meant for revision hash-v9, and hash-v2 is being released'],
    ['a jump for another step', { ...jump, expectedStep: 3 }, 'it is meant for step 3, and the release is at step 1'],
    ['a jump to a step that does not exist', { ...jump, step: 7 }, 'there is no step 7: the steps are 1 to 4'],
    ['promote for another step', { id: '1', type: 'promote', expectedStep: 3 }, 'it is meant for step 3, and the release is at step 1'],
    [
      'abort for another revision',
      { id: '1', type: 'abort', revision: 'hash-v9' },
      'it is meant for revision hash-v9, and hash-v2 is being released',
    ],
    ['retry where nothing is held', { id: '1', type: 'retry' }, 'there is nothing for a retry to lift'],
    [
      'an action with a misspelt member',
      { ...approve, expectdStep: 1 },
      'it cannot be read: it: unrecognized key: "expectdStep"; write it again with an id that was never used',
    ],
  ])('is refused: %s', (_name, action, reason) => {
    const fake = paused()
    fake.act(action)
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ id: '1', result: 'Refused', reason })
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while no release runs, and not kept for the next one', () => {
    const fake = healthy()
    fake.act(approve)
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: 'no release is under way' })
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while the step is not paused', () => {
    const fake = healthy()
    fake.setImage('v2')
    while (fake.rollout?.status?.currentStepState !== 'StepUpgrade') act(fake)
    fake.act(approve)
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('state StepUpgrade') })
  })

  it.each([approve, jump, { id: '1', type: 'promote', expectedStep: 1 }])(
    'is refused where other steps came before it was read: it names one of the former plan (G10, %s)',
    (action) => {
      const fake = paused()
      fake.editRollout((spec) => ({
        ...spec,
        strategy: { canary: { steps: [{ replicas: '40%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }] } },
      }))
      fake.act(action)
      settle(fake)
      expect(fake.rollout?.status?.lastAction).toMatchObject({
        result: 'Refused',
        reason: 'the steps have changed, and the release continues at step 1 of 3',
      })
      expect(fake.rollout?.status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    },
  )

  it.each([approve, jump, { id: '1', type: 'promote' }])(
    'is refused where the template was replaced and returned before it was read: its release starts again (G3, G10, %s)',
    (action) => {
      const fake = paused()
      fake.act({ ...approve, id: '0' })
      settle(fake)
      expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
      fake.act({ ...action, expectedStep: 2 })
      fake.setImage('v1')
      fake.actNatively()
      fake.setImage('v2')
      settle(fake)
      expect(fake.rollout?.status?.lastAction).toMatchObject({
        result: 'Refused',
        reason: 'the template was applied again: revision hash-v2 is released from its first step',
      })
      expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryNumber: 4 })
    },
  )

  it.each([{}, { revision: 'hash-v2' }])(
    'of retry is refused after a failure, where the template was replaced and returned before it was read (G10, G12, %s)',
    (named) => {
      const fake = paused()
      fake.latch()
      settle(fake)
      fake.act({ id: '1', type: 'retry', ...named })
      applyUnread(fake, 'v3', 'v2')
      settle(fake)
      expect(answerOf(fake)).toMatchObject({
        result: 'Refused',
        reason: 'the template was applied again after revision hash-v2 had failed: look at the release, and retry again',
      })
      expect(fake.rollout?.status).toMatchObject({ heldRevisions: [{ revision: 'hash-v2', reason: 'Failed' }] })
      expect(fake.oldPods()).toHaveLength(4)
      fake.act({ id: '2', type: 'retry' })
      settle(fake)
      expect(answerOf(fake)).toMatchObject({ id: '2', result: 'Accepted' })
      expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    },
  )

  it('of retry is carried out even then where the version was blocked before, and no template can be put back', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    for (let round = 0; round < 40 && fake.rollout?.status?.heldRevisions === undefined; round++) act(fake)
    fake.revisions = fake.revisions.filter(({ metadata }) => metadata.name !== 'hash-v1')
    settle(fake)
    fake.act({ id: '1', type: 'retry' })
    applyUnread(fake, 'v3', 'v2')
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ id: '1', result: 'Accepted' })
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryNumber: 4 })
    expect(fake.image()).toBe('v2')
  })

  it('of abort is carried out even then (G9)', () => {
    const fake = paused()
    fake.act({ id: '1', type: 'abort' })
    fake.setImage('v1')
    fake.actNatively()
    fake.setImage('v2')
    settle(fake)
    expect([fake.rollout?.status?.lastAction?.result, fake.image()]).toEqual(['Accepted', 'v1'])
  })

  it('is carried out where the spec changed, and the template did not', () => {
    const fake = paused()
    fake.act(approve)
    fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, minReadySeconds: 1 } })
    settle(fake)
    expect(fake.rollout?.status?.lastAction).toMatchObject({ result: 'Accepted' })
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2, canaryNumber: 2 })
  })

  it('is refused when the template has changed since, even while that is not observed yet', () => {
    const fake = paused()
    fake.setImage('v3')
    fake.act(approve)
    fake.passRollout()
    expect(answerOf(fake)).toBeUndefined()
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('revision hash-v3 is released now') })
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while the Rollout is stalled', () => {
    const fake = paused()
    setSteps(fake, [{ replicas: '60%' }, { replicas: '20%' }])
    fake.act(approve)
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('the Rollout is stalled: ') })
  })

  it.each(withoutPolicy)(
    'that is an abort is carried out while the policy $what, and no pod is deleted before it can be used (G9)',
    (use) => {
      const fake = paused()
      use.spoil(fake)
      settle(fake)
      const pods = fake.pods.map(({ name }) => name)
      fake.act({ id: '1', type: 'abort', revision: 'hash-v2' })
      const said = new Set<string>()
      settle(fake, () => {
        const stalled = fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
        said.add(`${stalled?.status} ${stalled?.reason}`)
        expect(fake.release?.spec.tranche?.hold).toBeDefined()
      })
      expect([...said]).toEqual([`True ${use.reason}`])
      expect(answerOf(fake)).toMatchObject({ id: '1', result: 'Accepted' })
      expect([fake.reverts.length, fake.image(), fake.rollout?.status?.phase]).toEqual([1, 'v1', 'Progressing'])
      expect(fake.pods.map(({ name }) => name)).toEqual(pods)
      expect(fake.rollout?.status?.message).toMatch(/^revision hash-v2 was rolled back; no pod is deleted until the policy can be used: /)

      fake.act({ id: '2', type: 'abort' })
      settle(fake)
      expect(answerOf(fake)).toMatchObject({ id: '2', result: 'Refused', reason: expect.stringContaining('the template has changed') })
      use.restore(fake)
      settle(fake)
      expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
      expect([fake.reverts.length, fake.oldPods().length, fake.image()]).toEqual([1, 0, 'v1'])
    },
  )

  it.each(withoutPolicy)('that is not an abort is refused while the policy $what', ({ spoil, reason }) => {
    const fake = paused()
    spoil(fake)
    for (const [at, type] of (['approve', 'promote', 'jump', 'retry'] as const).entries()) {
      fake.act({ id: `${at}`, type, expectedStep: 1, ...(type === 'jump' && { step: 2 }) })
      settle(fake)
      expect(answerOf(fake)).toMatchObject({ id: `${at}`, result: 'Refused', reason: expect.stringContaining('the Rollout is stalled: ') })
    }
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'True', reason }))
  })

  it('that is an abort rolls back no template that was applied while the policy was missing', () => {
    const fake = paused()
    withoutPolicy[0]!.spoil(fake)
    fake.setImage('v3')
    settle(fake)
    fake.act({ id: '1', type: 'abort' })
    settle(fake)
    const reason = 'the template has changed: the DaemonSet has revision hash-v3 now, no longer hash-v2'
    expect(answerOf(fake)).toMatchObject({ id: '1', result: 'Refused', reason })
    expect([fake.reverts, fake.image()]).toEqual([[], 'v3'])
  })

  it('is refused on a Rollout that is deleted', () => {
    const fake = paused()
    fake.deleteRollout()
    fake.act(approve)
    fake.passRollout()
    fake.passRollout()
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: 'no release is under way' })
  })

  it('is carried out on a paused Rollout, and continues when the pause ends', () => {
    const fake = paused()
    fake.pause(true)
    settle(fake)
    fake.act(jump)
    settle(fake)
    expect([answerOf(fake)?.result, fake.rollout?.status?.currentStepIndex, fake.oldPods().length]).toEqual(['Accepted', 3, 4])
    expect(fake.rollout?.status?.message).toContain('paused by spec.strategy.paused since')
    fake.pause(false)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 3, currentStepState: 'StepPaused' })
  })

  it.each(['{', '[]', 'yes', '{"id":3,"type":"approve"}', `{"id":"${'x'.repeat(257)}","type":"approve"}`])(
    'that is invalid is refused once and stalls nothing: %s',
    (text) => {
      const fake = paused()
      fake.act(text)
      settle(fake)
      expect(answerOf(fake)).toMatchObject({ id: expect.stringMatching(/^unreadable-[0-9a-f]{8}$/), result: 'Refused' })
      expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('False')
      fake.setCanaryStatus({ currentStepState: 'StepReady' })
      settle(fake)
      expect(fake.rollout?.status?.currentStepIndex).toBe(2)
    },
  )

  it('is answered and takes effect in one write of the status (G7)', () => {
    const fake = paused()
    fake.act(approve)
    const plan = planRollout(fake.rolloutView()!)
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { currentStepIndex: 2, lastAction: { id: '1', result: 'Accepted' } } })
  })

  it('is not carried out again when an older one is applied again (G10)', () => {
    const fake = paused()
    fake.act({ ...approve, id: 'a' })
    settle(fake)
    fake.act({ ...approve, id: 'b', expectedStep: 4 })
    settle(fake)
    fake.act({ ...approve, id: 'a' })
    settle(fake)
    expect([answerOf(fake)?.id, fake.rollout?.status?.currentStepIndex]).toEqual(['b', 2])
    expect(fake.rollout?.status?.answeredActions).toEqual(['a', 'b'])
  })

  it('is recorded by its id for sixteen actions', () => {
    const fake = paused()
    for (let at = 0; at < 20; at++) {
      fake.act({ id: `w${at}`, type: 'approve', expectedStep: 9 })
      settle(fake)
    }
    expect(fake.rollout?.status?.answeredActions).toHaveLength(16)
    expect(fake.rollout?.status?.answeredActions?.at(-1)).toBe('w19')
  })

  it('is answered once for each id and content', () => {
    const fake = paused()
    fake.act(approve)
    settle(fake)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect([answerOf(fake)?.id, fake.rollout?.status?.currentStepIndex]).toEqual(['1', 3])
  })

  it('is rejected when its id was already used for another action, once, and a new id is carried out (G10)', () => {
    const fake = paused()
    fake.act({ ...approve, expectedStep: 2 })
    settle(fake)
    fake.act(approve)
    settle(fake)
    expect(answerOf(fake)).toMatchObject({
      id: '1',
      result: 'Refused',
      reason: expect.stringContaining('id "1" was already used for another action'),
    })
    const { at } = answerOf(fake)!
    settle(fake)
    expect([answerOf(fake)?.at, fake.rollout?.status?.currentStepIndex]).toEqual([at, 1])
    fake.act({ ...approve, id: '2' })
    settle(fake)
    expect([answerOf(fake)?.id, fake.rollout?.status?.currentStepIndex]).toEqual(['2', 2])
  })

  it('keeps its result, and the reason for a refusal, when another is answered', () => {
    const fake = paused()
    fake.act({ ...approve, id: '1', expectedStep: 9 })
    settle(fake)
    const { reason } = answerOf(fake)!
    fake.act({ ...approve, id: '2' })
    settle(fake)
    expect(fake.rollout?.status?.answeredBodies).toMatchObject([
      { id: '1', result: 'Refused', reason },
      { id: '2', result: 'Accepted' },
    ])
  })

  it('is rejected when a previous version answered its id for an action of another type', () => {
    const fake = paused()
    fake.act({ ...approve, expectedStep: 2 })
    settle(fake)
    const { answeredBodies: _none, ...status } = fake.rollout!.status!
    fake.rollout = { ...fake.rollout!, status }
    fake.act({ id: '1', type: 'abort' })
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ type: 'abort', result: 'Refused', reason: expect.stringContaining('already used') })
  })

  it('is refused, once, where the status has lost every Tranche field, and a new id is carried out (G10)', () => {
    const fake = paused()
    loseAnswers(fake)
    fake.act({ id: '1', type: 'abort' })
    settle(fake)
    expect(answerOf(fake)).toMatchObject({
      id: '1',
      result: 'Refused',
      reason: expect.stringContaining('lost its record of answered actions'),
    })
    fake.act({ ...approve, id: '2' })
    settle(fake)
    expect([answerOf(fake)?.result, fake.rollout?.status?.currentStepIndex]).toEqual(['Accepted', 2])
  })

  it('is refused in the first write after that loss, even while the template is not observed yet (G10)', () => {
    const fake = paused()
    fake.setImage('v3')
    loseAnswers(fake)
    fake.act({ id: '1', type: 'abort' })
    writeStatus(fake)
    expect(answerOf(fake)).toMatchObject({
      id: '1',
      result: 'Refused',
      reason: expect.stringContaining('lost its record of answered actions'),
    })
    settle(fake)
    expect(fake.daemonSet.spec.template).toMatchObject({ spec: { containers: [{ image: expect.stringContaining('v3') }] } })
  })

  it('is refused in the first write after that loss, even while a failed version is being stopped (G10)', () => {
    const fake = paused()
    fake.latch({ action: 'Rollback' })
    loseAnswers(fake)
    fake.act({ id: '1', type: 'retry' })
    writeStatus(fake)
    expect(fake.rollout?.status?.message).toContain('waiting until no deletion can be accepted any more')
    expect(answerOf(fake)).toMatchObject({
      id: '1',
      result: 'Refused',
      reason: expect.stringContaining('lost its record of answered actions'),
    })
  })

  it('without an id is carried out once, and again when it was removed in between', () => {
    const fake = paused()
    const unnamed = { type: 'approve', expectedStep: 9, reason: 'first' }
    fake.act(unnamed)
    settle(fake)
    const first = answerOf(fake)
    expect(first).toMatchObject({ id: expect.stringMatching(/^auto-/), result: 'Refused' })
    settle(fake)
    expect(fake.rollout?.status?.answeredActions).toEqual([first?.id])
    fake.act(undefined)
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ lastAction: first, answeredActions: [], answeredBodies: [] })
    fake.act(unnamed)
    settle(fake)
    expect(fake.rollout?.status?.answeredActions).toEqual([first?.id])
  })
})

describe('the action promote', () => {
  it('skips the present pause and those that follow, step by step, and is dropped afterwards', () => {
    const fake = paused()
    fake.act({ id: '1', type: 'promote' })
    const states: string[] = []
    settle(fake, () => states.push(`${fake.rollout?.status?.currentStepIndex} ${fake.rollout?.status?.currentStepState}`))
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', lastAction: { type: 'promote', result: 'Accepted' } })
    expect(fake.rollout?.status).not.toHaveProperty('acceptedActions')
    expect([...new Set(states)]).toEqual(expect.arrayContaining(['2 StepReady', '3 StepReady']))
    expect(states.some((state) => state.endsWith(' StepPaused'))).toBe(false)
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('survives an upgrade: `acceptedWishes` of the version before becomes `acceptedActions`', () => {
    const fake = paused()
    fake.act({ id: 'p', type: 'promote', full: true })
    fake.passRollout()
    const { acceptedActions, ...status } = fake.rollout!.status!
    fake.rollout = { ...fake.rollout!, status: { ...status, acceptedWishes: acceptedActions! } }
    const seen: (Rollout['status'] & object)[] = []
    settle(fake, () => seen.push(fake.rollout!.status!))
    expect(seen).toContainEqual(expect.objectContaining({ acceptedActions }))
    expect(seen.some(({ currentStepState }) => currentStepState === 'StepPaused')).toBe(false)
    expect(fake.rollout.status).not.toHaveProperty('acceptedWishes')
    expect(fake.rollout.status).toMatchObject({ phase: 'Healthy' })
  })

  it.each([true, false])('is recorded with the id, and whether it is full (%s)', (full) => {
    const fake = paused()
    fake.act({ id: 'p', type: 'promote', full })
    fake.passRollout()
    expect(fake.rollout?.status?.acceptedActions).toEqual({ promote: { id: 'p', full } })
  })

  it('never skips the readiness of a step, nor the budget', () => {
    const fake = paused()
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    settle(fake)
    fake.act({ id: '1', type: 'promote', full: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepReady' })
    expect([fake.release?.status?.flight?.limit, fake.oldPods().length]).toEqual([2, 4])
  })

  it('is dropped by a jump, which asks a person again', () => {
    const fake = paused()
    fake.act({ id: '1', type: 'promote' })
    fake.passRollout()
    fake.act({ id: '2', type: 'jump', expectedStep: 1, step: 2 })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
  })

  it('is refused while the release is finishing', () => {
    const fake = paused()
    fake.act({ id: '1', type: 'jump', expectedStep: 1, step: 4 })
    while (fake.rollout?.status?.canaryStatus?.finalisingStep !== 'ResumeWorkload') act(fake)
    fake.act({ id: '2', type: 'promote' })
    settle(fake)
    expect(answerOf(fake)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('being finished') })
  })
})

function healthy(): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  return fake
}

/** A release of v2 that pauses at step 1. */
function paused(): FakeCluster {
  const fake = healthy()
  fake.setImage('v2')
  settle(fake)
  return fake
}

/** The status after a write under definitions without our fields. */
function loseAnswers(fake: FakeCluster): void {
  const { phase, canaryStatus, observedGeneration } = fake.rollout!.status!
  fake.rollout = { ...fake.rollout!, status: { phase, canaryStatus, observedGeneration } as never }
}

/** Passes until the status with the message is written. */
function writeStatus(fake: FakeCluster): void {
  for (let pass = 0; pass < 5 && fake.rollout?.status?.message === undefined; pass++) fake.passRollout()
}

function setSteps(fake: FakeCluster, changed: readonly RolloutStep[]): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps: changed } } }))
}

function answerOf(fake: FakeCluster): LastAction | undefined {
  return fake.rollout?.status?.lastAction
}
