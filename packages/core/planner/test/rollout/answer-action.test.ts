import type { LastAction, Rollout, RolloutStep } from '@tranche/api-schema'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

const steps = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '80%', pause: {} }, { replicas: '100%' }]
const approve = { id: '1', type: 'approve', expectedStep: 1 }
const jump = { id: '1', type: 'jump', expectedStep: 1, step: 3 }

interface Spoilt {
  readonly what: string
  readonly reason: string
  spoil(toy: ToyCluster): void
  restore(toy: ToyCluster): void
}

const withoutPolicy: readonly Spoilt[] = [
  {
    what: 'is missing',
    reason: 'PolicyNotFound',
    spoil: (toy) => (toy.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'strict' } })),
    restore: (toy) => (toy.readsAs = (view) => view),
  },
  {
    what: 'breaks a rule',
    reason: 'PolicyInvalid',
    spoil: (toy) => (toy.policy = { soak: { step: 'soon' } }),
    restore: (toy) => (toy.policy = {}),
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
    const toy = paused()
    toy.act({ ...action, by: 'alice', reason: 'looks good' })
    settle(toy)
    expect(toy.rollout?.status?.canaryStatus).toMatchObject(canary)
    expect(answerOf(toy)).toEqual({
      ...{ id: '1', type: action.type, result: 'Accepted', by: 'alice', reason: 'looks good' },
      at: expect.stringMatching(/Z$/),
    })
  })

  it.each<[string, object | string, string]>([
    ['for another step', { ...approve, expectedStep: 2 }, 'it is meant for step 2, and the release is at step 1'],
    ['for no step', { id: '1', type: 'approve' }, 'it does not say expectedStep; the release is at step 1'],
    ['for another revision', { ...approve, revision: 'hash-v9' }, 'it is meant for revision hash-v9, and hash-v2 is being released'],
    ['a jump for another step', { ...jump, expectedStep: 3 }, 'it is meant for step 3, and the release is at step 1'],
    ['a jump to a step that does not exist', { ...jump, step: 7 }, 'there is no step 7: the steps are 1 to 4'],
    ['promote for another step', { id: '1', type: 'promote', expectedStep: 3 }, 'it is meant for step 3, and the release is at step 1'],
    [
      'abort for another revision',
      { id: '1', type: 'abort', revision: 'hash-v9' },
      'it is meant for revision hash-v9, and hash-v2 is being released',
    ],
    ['retry where nothing is held', { id: '1', type: 'retry' }, 'nothing that a retry lifts stands in the way'],
    [
      'what has a misspelt member',
      { ...approve, expectdStep: 1 },
      'it cannot be read: it: unrecognized key: "expectdStep"; write it again with an id that was never used',
    ],
  ])('is refused: %s', (_name, action, reason) => {
    const toy = paused()
    toy.act(action)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Refused', reason })
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while no release runs, and not kept for the next one', () => {
    const toy = healthy()
    toy.act(approve)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: 'no release is under way' })
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while the step is not paused', () => {
    const toy = healthy()
    toy.setImage('v2')
    while (toy.rollout?.status?.currentStepState !== 'StepUpgrade') act(toy)
    toy.act(approve)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('state StepUpgrade') })
  })

  it.each([approve, jump, { id: '1', type: 'promote', expectedStep: 1 }])(
    'is refused where other steps came before it was read: it names one of the plan before (G10, %s)',
    (action) => {
      const toy = paused()
      toy.editRollout((spec) => ({
        ...spec,
        strategy: { canary: { steps: [{ replicas: '40%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }] } },
      }))
      toy.act(action)
      settle(toy)
      expect(toy.rollout?.status?.lastAction).toMatchObject({
        result: 'Refused',
        reason: 'the steps have changed, and the release continues at step 1 of 3',
      })
      expect(toy.rollout?.status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
    },
  )

  it.each([approve, jump, { id: '1', type: 'promote' }])(
    'is refused where the template went and came again before it was read: its release begins again (G3, G10, %s)',
    (action) => {
      const toy = paused()
      toy.act({ ...approve, id: '0' })
      settle(toy)
      expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
      toy.act({ ...action, expectedStep: 2 })
      toy.setImage('v1')
      toy.actNatively()
      toy.setImage('v2')
      settle(toy)
      expect(toy.rollout?.status?.lastAction).toMatchObject({
        result: 'Refused',
        reason: 'the template was applied again: revision hash-v2 is released from its first step',
      })
      expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused', canaryNumber: 4 })
    },
  )

  it('of abort is carried out also then (G9)', () => {
    const toy = paused()
    toy.act({ id: '1', type: 'abort' })
    toy.setImage('v1')
    toy.actNatively()
    toy.setImage('v2')
    settle(toy)
    expect([toy.rollout?.status?.lastAction?.result, toy.image()]).toEqual(['Accepted', 'v1'])
  })

  it('is carried out where the spec changed, and the template did not', () => {
    const toy = paused()
    toy.act(approve)
    toy.editDaemonSet({ spec: { ...toy.daemonSet.spec, minReadySeconds: 1 } })
    settle(toy)
    expect(toy.rollout?.status?.lastAction).toMatchObject({ result: 'Accepted' })
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 2, canaryNumber: 2 })
  })

  it('is refused when the template has changed since, also while that is not observed yet', () => {
    const toy = paused()
    toy.setImage('v3')
    toy.act(approve)
    toy.passRollout()
    expect(answerOf(toy)).toBeUndefined()
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('revision hash-v3 is released now') })
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('is refused while the Rollout is stalled', () => {
    const toy = paused()
    setSteps(toy, [{ replicas: '60%' }, { replicas: '20%' }])
    toy.act(approve)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('the Rollout is stalled: ') })
  })

  it.each(withoutPolicy)(
    'that is an abort is carried out while the policy $what, and no pod is deleted before it can be used (G9)',
    (use) => {
      const toy = paused()
      use.spoil(toy)
      settle(toy)
      const pods = toy.pods.map(({ name }) => name)
      toy.act({ id: '1', type: 'abort', revision: 'hash-v2' })
      const said = new Set<string>()
      settle(toy, () => {
        const stalled = toy.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
        said.add(`${stalled?.status} ${stalled?.reason}`)
        expect(toy.release?.spec.tranche?.hold).toBeDefined()
      })
      expect([...said]).toEqual([`True ${use.reason}`])
      expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Accepted' })
      expect([toy.reverts.length, toy.image(), toy.rollout?.status?.phase]).toEqual([1, 'v1', 'Progressing'])
      expect(toy.pods.map(({ name }) => name)).toEqual(pods)
      expect(toy.rollout?.status?.message).toMatch(/^revision hash-v2 was taken back; no pod is deleted until the policy can be used: /)

      toy.act({ id: '2', type: 'abort' })
      settle(toy)
      expect(answerOf(toy)).toMatchObject({ id: '2', result: 'Refused', reason: expect.stringContaining('the template has changed') })
      use.restore(toy)
      settle(toy)
      expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
      expect([toy.reverts.length, toy.oldPods().length, toy.image()]).toEqual([1, 0, 'v1'])
    },
  )

  it.each(withoutPolicy)('that is none is refused while the policy $what', ({ spoil, reason }) => {
    const toy = paused()
    spoil(toy)
    for (const [at, type] of (['approve', 'promote', 'jump', 'retry'] as const).entries()) {
      toy.act({ id: `${at}`, type, expectedStep: 1, ...(type === 'jump' && { step: 2 }) })
      settle(toy)
      expect(answerOf(toy)).toMatchObject({ id: `${at}`, result: 'Refused', reason: expect.stringContaining('the Rollout is stalled: ') })
    }
    expect(toy.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', status: 'True', reason }))
  })

  it('that is an abort takes back no template that was applied while the policy was missing', () => {
    const toy = paused()
    withoutPolicy[0]!.spoil(toy)
    toy.setImage('v3')
    settle(toy)
    toy.act({ id: '1', type: 'abort' })
    settle(toy)
    const reason = 'the template has changed: the DaemonSet has revision hash-v3 now, no longer hash-v2'
    expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Refused', reason })
    expect([toy.reverts, toy.image()]).toEqual([[], 'v3'])
  })

  it('is refused on a Rollout that is deleted', () => {
    const toy = paused()
    toy.deleteRollout()
    toy.act(approve)
    toy.passRollout()
    toy.passRollout()
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: 'no release is under way' })
  })

  it('is carried out on a paused Rollout, and goes on when the pause ends', () => {
    const toy = paused()
    toy.pause(true)
    settle(toy)
    toy.act(jump)
    settle(toy)
    expect([answerOf(toy)?.result, toy.rollout?.status?.currentStepIndex, toy.oldPods().length]).toEqual(['Accepted', 3, 4])
    expect(toy.rollout?.status?.message).toContain('paused by spec.strategy.paused since')
    toy.pause(false)
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 3, currentStepState: 'StepPaused' })
  })

  it.each(['{', '[]', 'yes', '{"id":3,"type":"approve"}'])('that cannot be read is refused once and stalls nothing: %s', (text) => {
    const toy = paused()
    toy.act(text)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ id: expect.stringMatching(/^unreadable-[0-9a-f]{8}$/), result: 'Refused' })
    expect(toy.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('False')
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.rollout?.status?.currentStepIndex).toBe(2)
  })

  it('is answered and takes effect in one write of the status (G7)', () => {
    const toy = paused()
    toy.act(approve)
    const plan = planRollout(toy.rolloutView()!)
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { currentStepIndex: 2, lastAction: { id: '1', result: 'Accepted' } } })
  })

  it('is not carried out again when an older one is applied again (G10)', () => {
    const toy = paused()
    toy.act({ ...approve, id: 'a' })
    settle(toy)
    toy.act({ ...approve, id: 'b', expectedStep: 4 })
    settle(toy)
    toy.act({ ...approve, id: 'a' })
    settle(toy)
    expect([answerOf(toy)?.id, toy.rollout?.status?.currentStepIndex]).toEqual(['b', 2])
    expect(toy.rollout?.status?.answeredActions).toEqual(['a', 'b'])
  })

  it('is remembered by its id for sixteen actions', () => {
    const toy = paused()
    for (let at = 0; at < 20; at++) {
      toy.act({ id: `w${at}`, type: 'approve', expectedStep: 9 })
      settle(toy)
    }
    expect(toy.rollout?.status?.answeredActions).toHaveLength(16)
    expect(toy.rollout?.status?.answeredActions?.at(-1)).toBe('w19')
  })

  it('is answered once for each id and content', () => {
    const toy = paused()
    toy.act(approve)
    settle(toy)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect([answerOf(toy)?.id, toy.rollout?.status?.currentStepIndex]).toEqual(['1', 3])
  })

  it('is rejected when its id already answered another action, once, and a new id is carried out (G10)', () => {
    const toy = paused()
    toy.act({ ...approve, expectedStep: 2 })
    settle(toy)
    toy.act(approve)
    settle(toy)
    expect(answerOf(toy)).toMatchObject({
      id: '1',
      result: 'Refused',
      reason: expect.stringContaining('id "1" already answered another action'),
    })
    const { at } = answerOf(toy)!
    settle(toy)
    expect([answerOf(toy)?.at, toy.rollout?.status?.currentStepIndex]).toEqual([at, 1])
    toy.act({ ...approve, id: '2' })
    settle(toy)
    expect([answerOf(toy)?.id, toy.rollout?.status?.currentStepIndex]).toEqual(['2', 2])
  })

  it('keeps its result when another is answered, and why it was refused', () => {
    const toy = paused()
    toy.act({ ...approve, id: '1', expectedStep: 9 })
    settle(toy)
    const { reason } = answerOf(toy)!
    toy.act({ ...approve, id: '2' })
    settle(toy)
    expect(toy.rollout?.status?.answeredBodies).toMatchObject([
      { id: '1', result: 'Refused', reason },
      { id: '2', result: 'Accepted' },
    ])
  })

  it('is rejected when a previous version answered its id for an action of another type', () => {
    const toy = paused()
    toy.act({ ...approve, expectedStep: 2 })
    settle(toy)
    const { answeredBodies: _none, ...status } = toy.rollout!.status!
    toy.rollout = { ...toy.rollout!, status }
    toy.act({ id: '1', type: 'abort' })
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ type: 'abort', result: 'Refused', reason: expect.stringContaining('already answered') })
  })

  it('is refused, once, where the status has lost every field of ours, and a new id is carried out (G10)', () => {
    const toy = paused()
    loseAnswers(toy)
    toy.act({ id: '1', type: 'abort' })
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Refused', reason: expect.stringContaining('lost which actions were answered') })
    toy.act({ ...approve, id: '2' })
    settle(toy)
    expect([answerOf(toy)?.result, toy.rollout?.status?.currentStepIndex]).toEqual(['Accepted', 2])
  })

  it('is refused in the first write after that loss, also while the template is not observed yet (G10)', () => {
    const toy = paused()
    toy.setImage('v3')
    loseAnswers(toy)
    toy.act({ id: '1', type: 'abort' })
    writeStatus(toy)
    expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Refused', reason: expect.stringContaining('lost which actions were answered') })
    settle(toy)
    expect(toy.daemonSet.spec.template).toMatchObject({ spec: { containers: [{ image: expect.stringContaining('v3') }] } })
  })

  it('is refused in the first write after that loss, also while a failed version is being stopped (G10)', () => {
    const toy = paused()
    toy.latch({ action: 'Rollback' })
    loseAnswers(toy)
    toy.act({ id: '1', type: 'retry' })
    writeStatus(toy)
    expect(toy.rollout?.status?.message).toContain('waiting until no deletion can be accepted any more')
    expect(answerOf(toy)).toMatchObject({ id: '1', result: 'Refused', reason: expect.stringContaining('lost which actions were answered') })
  })

  it('without an id is carried out once, and again when it was removed in between', () => {
    const toy = paused()
    const unnamed = { type: 'approve', expectedStep: 9, reason: 'first' }
    toy.act(unnamed)
    settle(toy)
    const first = answerOf(toy)
    expect(first).toMatchObject({ id: expect.stringMatching(/^auto-/), result: 'Refused' })
    settle(toy)
    expect(toy.rollout?.status?.answeredActions).toEqual([first?.id])
    toy.act(undefined)
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ lastAction: first, answeredActions: [], answeredBodies: [] })
    toy.act(unnamed)
    settle(toy)
    expect(toy.rollout?.status?.answeredActions).toEqual([first?.id])
  })
})

describe('the action promote', () => {
  it('skips the pause that stands and those that follow, step by step, and is forgotten afterwards', () => {
    const toy = paused()
    toy.act({ id: '1', type: 'promote' })
    const states: string[] = []
    settle(toy, () => states.push(`${toy.rollout?.status?.currentStepIndex} ${toy.rollout?.status?.currentStepState}`))
    expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', lastAction: { type: 'promote', result: 'Accepted' } })
    expect(toy.rollout?.status).not.toHaveProperty('acceptedActions')
    expect([...new Set(states)]).toEqual(expect.arrayContaining(['2 StepReady', '3 StepReady']))
    expect(states.some((state) => state.endsWith(' StepPaused'))).toBe(false)
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  })

  it('goes on after an upgrade: `acceptedWishes` of the version before becomes `acceptedActions`', () => {
    const toy = paused()
    toy.act({ id: 'p', type: 'promote', full: true })
    toy.passRollout()
    const { acceptedActions, ...status } = toy.rollout!.status!
    toy.rollout = { ...toy.rollout!, status: { ...status, acceptedWishes: acceptedActions! } }
    const seen: (Rollout['status'] & object)[] = []
    settle(toy, () => seen.push(toy.rollout!.status!))
    expect(seen).toContainEqual(expect.objectContaining({ acceptedActions }))
    expect(seen.some(({ currentStepState }) => currentStepState === 'StepPaused')).toBe(false)
    expect(toy.rollout.status).not.toHaveProperty('acceptedWishes')
    expect(toy.rollout.status).toMatchObject({ phase: 'Healthy' })
  })

  it.each([true, false])('is remembered with the id, and whether it is full (%s)', (full) => {
    const toy = paused()
    toy.act({ id: 'p', type: 'promote', full })
    toy.passRollout()
    expect(toy.rollout?.status?.acceptedActions).toEqual({ promote: { id: 'p', full } })
  })

  it('never skips that a step is ready, nor the budget', () => {
    const toy = paused()
    for (const name of toy.nodes.keys()) toy.nodes.set(name, { ready: true, bad: true })
    settle(toy)
    toy.act({ id: '1', type: 'promote', full: true })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepReady' })
    expect([toy.release?.status?.flight?.limit, toy.oldPods().length]).toEqual([2, 4])
  })

  it('ends with a jump, for whoever jumps wants to look again', () => {
    const toy = paused()
    toy.act({ id: '1', type: 'promote' })
    toy.passRollout()
    toy.act({ id: '2', type: 'jump', expectedStep: 1, step: 2 })
    settle(toy)
    expect(toy.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
  })

  it('is refused while the release is being finished', () => {
    const toy = paused()
    toy.act({ id: '1', type: 'jump', expectedStep: 1, step: 4 })
    while (toy.rollout?.status?.canaryStatus?.finalisingStep !== 'ResumeWorkload') act(toy)
    toy.act({ id: '2', type: 'promote' })
    settle(toy)
    expect(answerOf(toy)).toMatchObject({ result: 'Refused', reason: expect.stringContaining('being finished') })
  })
})

function healthy(): ToyCluster {
  const toy = new ToyCluster({ steps })
  settle(toy)
  return toy
}

/** A release of v2 that pauses at step 1. */
function paused(): ToyCluster {
  const toy = healthy()
  toy.setImage('v2')
  settle(toy)
  return toy
}

/** As a write under definitions without our fields leaves the status. */
function loseAnswers(toy: ToyCluster): void {
  const { phase, canaryStatus, observedGeneration } = toy.rollout!.status!
  toy.rollout = { ...toy.rollout!, status: { phase, canaryStatus, observedGeneration } as never }
}

/** Passes until the status is written, of which the message tells. */
function writeStatus(toy: ToyCluster): void {
  for (let pass = 0; pass < 5 && toy.rollout?.status?.message === undefined; pass++) toy.passRollout()
}

function setSteps(toy: ToyCluster, changed: readonly RolloutStep[]): void {
  toy.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps: changed } } }))
}

function answerOf(toy: ToyCluster): LastAction | undefined {
  return toy.rollout?.status?.lastAction
}
