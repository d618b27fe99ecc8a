import type { Rollout, ActionType } from '@tranche/api-schema'
import { answerOf, planAction, resultOfAction, type ActionFacts } from '@tranche/actions'
import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { anAction, after, factsIn, type State } from './facts.ts'

type Status = NonNullable<Rollout['status']>

/** Writes an action, changes the Rollout, and returns the state of the action. */
function answered(type: ActionType, state: State, change: (rollout: Rollout) => Rollout = (rollout) => rollout): string {
  const facts = factsIn(state)
  const plan = planAction(anAction(type), facts)
  if (plan.kind !== 'write') throw new Error(`${type} is not written`)
  const then = after(facts, plan)!
  const generation = (plan.target === 'Rollout' ? then.rollout : then.daemonSet)!.metadata.generation
  const standing = answerOf({ record: plan.record, generation }, { ...then, rollout: change(then.rollout!) })
  return standing.kind === 'refused' ? `${standing.code}: ${standing.message}` : standing.kind
}

const says =
  (status: Partial<Status>) =>
  (rollout: Rollout): Rollout => ({ ...rollout, status: { ...rollout.status!, ...status } })
const seen = (rollout: Rollout): Rollout => says({ observedGeneration: rollout.metadata.generation ?? 0 })(rollout)
const progressing =
  (reason: string) =>
  (rollout: Rollout): Rollout =>
    says({ conditions: [{ type: 'Progressing', status: 'True', reason, message: '' }] as Status['conditions'] })(seen(rollout))
/** Deleted or disabled, as its annotation says. */
const going =
  (onDelete: string) =>
  (rollout: Rollout): Rollout => {
    const annotations = { ...rollout.metadata.annotations, 'tranche.dev/on-delete': onDelete }
    const spec = { ...rollout.spec, disabled: true }
    return says({ phase: 'Disabling' })(seen({ ...rollout, spec, metadata: { ...rollout.metadata, annotations } }))
  }
/** The status still has the phase of the disabled Rollout. */
const enabledAgain = (rollout: Rollout): Rollout => ({ ...rollout, spec: { ...rollout.spec, disabled: false } })
const lastAction = (result: string, id = 'rest-1') =>
  says({ lastAction: { id, type: 'approve', result, at: '', reason: 'why' }, answeredActions: ['rest-1', id] })
/** Another action was answered since. */
const earlier = (answer: { readonly result: string; readonly reason?: string }) =>
  says({
    lastAction: { id: 'theirs', type: 'approve', result: 'Accepted', at: '' },
    answeredActions: ['rest-1', 'theirs'],
    answeredBodies: [
      { id: 'rest-1', digest: 'a', ...answer },
      { id: 'theirs', digest: 'b', result: 'Accepted' },
    ],
  })
const other = (rollout: Rollout): Rollout => ({
  ...rollout,
  metadata: {
    ...rollout.metadata,
    annotations: { ...rollout.metadata.annotations, 'tranche.dev/action': JSON.stringify({ id: 'theirs', type: 'abort', by: 'bob' }) },
  },
})

it('says of an approval in a pause that the release continues when it is resumed', () => {
  const facts = factsIn('stepPaused')
  const plan = planAction(anAction('approve', { body: { expectedStep: 2 } }), facts)
  if (plan.kind !== 'write') throw new Error('the approval is not written')
  const lastAction = { id: 'rest-1', type: 'approve', result: 'Accepted' as const, at: '' }
  const then = says({ lastAction, message: 'paused by bob' })(after(facts, plan)!.rollout!)
  const answer = (paused: boolean) => {
    const rollout = { ...then, spec: { ...then.spec, strategy: { ...then.spec.strategy, paused } } }
    return answerOf({ record: plan.record, generation: undefined }, { ...facts, rollout })
  }
  expect(answer(true)).toMatchObject({ message: 'the step is approved, and the release continues when it is resumed; paused by bob' })
  expect(answer(false)).toMatchObject({ message: 'paused by bob' })
})

it('reports what a retry lifted, not the status message from before it', () => {
  const facts = factsIn('held')
  const plan = planAction(anAction('retry', { body: { revision: 'v2' } }), facts)
  if (plan.kind !== 'write') throw new Error('the retry is not written')
  const then = after(facts, plan)!
  const rollout = says({ lastAction: { id: 'rest-1', type: 'retry', result: 'Accepted', at: '' }, heldRevisions: [] })(then.rollout!)
  expect(answerOf({ record: plan.record, generation: undefined }, { ...then, rollout })).toEqual({
    kind: 'acknowledged',
    message: 'revision v2 is no longer blocked; the release of revision v2 is at step 2 of 3 (StepPaused)',
  })
})

it('reports of a retry during the release of another revision what releases the unblocked one', () => {
  const { rollout, ...facts } = factsIn('updating')
  const heldRevisions = [{ revision: 'v0', digest: 'd', reason: 'Aborted' as const, at: '2026-01-01T00:00:00Z' }]
  const before = { ...facts, rollout: { ...rollout!, status: { ...rollout!.status!, heldRevisions } } }
  const plan = planAction(anAction('retry', { body: { revision: 'v0' } }), before)
  if (plan.kind !== 'write') throw new Error('the retry is not written')
  const lastAction = { id: 'rest-1', type: 'retry', result: 'Accepted' as const, at: '' }
  const then = says({ lastAction, heldRevisions: [] })(after(before, plan)!.rollout!)
  expect(answerOf({ record: plan.record, generation: undefined }, { ...before, rollout: then })).toMatchObject({
    message: expect.stringMatching(
      /^revision v0 is no longer blocked; the release of revision v2 .*; to release it, apply its template again$/,
    ),
  })
})

it.each([
  ['to apply the template again', [], '; to release it, apply its template again'],
  [
    'to remove the annotation, after a rollback of config',
    [{ type: 'ConfigUnversioned', status: 'False', reason: 'RolledBack', message: '' }],
    '; to release it, apply its template again, or remove the annotation tranche.dev/pinned-config from the template if only config has changed',
  ],
])('a retry after a rollback says %s', (_what, conditions, next) => {
  const facts = factsIn('healthy')
  const { rollout } = facts
  const held = [{ revision: 'v2', digest: 'd', reason: 'Aborted' as const, at: '2026-01-01T00:00:00Z' }]
  const before = { ...facts, rollout: { ...rollout!, status: { ...rollout!.status!, heldRevisions: held } } }
  const plan = planAction(anAction('retry', { body: { revision: 'v2' } }), before)
  if (plan.kind !== 'write') throw new Error('the retry is not written')
  const lastAction = { id: 'rest-1', type: 'retry', result: 'Accepted' as const, at: '' }
  const then = says({ lastAction, heldRevisions: [], conditions: conditions as never })(after(before, plan)!.rollout!)
  expect(answerOf({ record: plan.record, generation: undefined }, { ...before, rollout: then })).toMatchObject({
    message: `revision v2 is no longer blocked; no release is running${next}`,
  })
})

it.each([
  [
    'are updated then',
    [{ type: 'StrategyRestored', status: 'False', reason: 'NodesLeft', message: '' }],
    'any nodes that the last one left with an old pod are updated, now or once they can be',
  ],
  ['are not mentioned without any', [{ type: 'StrategyRestored', status: 'True', reason: 'Restored', message: '' }], ''],
])('nodes that a release left %s, after a retry', (_what, conditions, left) => {
  const { rollout } = factsIn('healthy')
  const record = { id: 'rest-1', type: 'retry', by: 'jane', at: '', via: 'rest' } as const
  const lastAction = { id: 'rest-1', type: 'retry', result: 'Accepted' as const, at: '' }
  const then = says({ lastAction, conditions: conditions as never })(rollout!)
  expect(answerOf({ record, generation: undefined }, { ...factsIn('healthy'), rollout: then })).toMatchObject({
    message: `the stop is lifted; no release is running${left === '' ? '' : `, but ${left}`}`,
  })
})

describe('the result of an action on the record', () => {
  const record = (type: ActionType) => ({ id: 'rest-1', type, by: 'jane', at: '', via: 'rest' }) as const
  const rolloutOf = (status: Partial<Status>): Rollout => ({ metadata: { name: 'agent' }, spec: {}, status }) as never
  const answers = [{ id: 'rest-1', digest: 'a', result: 'Refused', reason: 'it is paused' }]
  it.each<{ title: string; type: ActionType; status?: Partial<Status>; want: object }>([
    {
      title: 'is that of the last answer',
      type: 'approve',
      status: { lastAction: { id: 'rest-1', type: 'approve', result: 'Accepted', at: '' } },
      want: { result: 'Accepted' },
    },
    {
      title: 'is that of an earlier answer, with why it was refused',
      type: 'approve',
      status: { answeredBodies: answers },
      want: { result: 'Refused', refusal: 'it is paused' },
    },
    { title: 'is unknown where the status remembers the id alone', type: 'approve', status: { answeredActions: ['rest-1'] }, want: {} },
    { title: 'is unknown while nothing has answered it', type: 'abort', want: {} },
    { title: 'is that the write did it, for a pause', type: 'pause', want: { result: 'Written' } },
    { title: 'is that the write did it, for an undo', type: 'undo', want: { result: 'Written' } },
    { title: 'is that the write did it, for a resume that lifts a pause', type: 'resume', want: { result: 'Written' } },
    {
      title: 'is the answer, for a resume that is an action',
      type: 'resume',
      status: { answeredBodies: answers, answeredActions: ['rest-1'] },
      want: { result: 'Refused', refusal: 'it is paused' },
    },
  ])('$title', ({ type, status = {}, want }) => {
    expect(resultOfAction(record(type), rolloutOf(status))).toEqual(want)
  })
})

describe('the answer to an action', () => {
  it.each<{ title: string; type: ActionType; state: State; change?: (rollout: Rollout) => Rollout; want: string }>([
    { title: 'an action that no controller has read', type: 'approve', state: 'stepPaused', want: 'waiting' },
    { title: 'an action that was accepted', type: 'approve', state: 'stepPaused', change: lastAction('Accepted'), want: 'acknowledged' },
    {
      title: 'an action that was refused before another was answered',
      type: 'approve',
      state: 'stepPaused',
      change: earlier({ result: 'Refused', reason: 'it is paused' }),
      want: 'ACTION_REJECTED: it is paused',
    },
    {
      title: 'an action that was accepted before another was answered',
      type: 'approve',
      state: 'stepPaused',
      change: earlier({ result: 'Accepted' }),
      want: 'acknowledged',
    },
    {
      title: 'an action that was refused',
      type: 'approve',
      state: 'stepPaused',
      change: lastAction('Refused'),
      want: 'ACTION_REJECTED: why',
    },
    {
      title: 'an action after which others were answered',
      type: 'approve',
      state: 'stepPaused',
      change: lastAction('Refused', 'later'),
      want: 'acknowledged',
    },
    {
      title: 'an action that an abort has replaced',
      type: 'approve',
      state: 'stepPaused',
      change: other,
      want: 'MOVED_ON: abort of bob replaced it before the controller answered',
    },
    { title: 'a resume that lifts a verdict', type: 'resume', state: 'failed', change: lastAction('Accepted'), want: 'acknowledged' },
    { title: 'a resume that lifts a verdict, unread', type: 'resume', state: 'failed', want: 'waiting' },
    { title: 'a pause that was not seen', type: 'pause', state: 'updating', want: 'waiting' },
    {
      title: 'a pause that was seen, while deletes may still be accepted',
      type: 'pause',
      state: 'updating',
      change: seen,
      want: 'waiting',
    },
    {
      title: 'a pause that has stopped the release',
      type: 'pause',
      state: 'updating',
      change: progressing('Paused'),
      want: 'acknowledged',
    },
    {
      title: 'a pause of an older generation',
      type: 'pause',
      state: 'updating',
      change: (rollout) => says({ observedGeneration: 4 })(progressing('Paused')(rollout)),
      want: 'waiting',
    },
    { title: 'a pause of what is stalled', type: 'pause', state: 'failed', change: seen, want: 'acknowledged' },
    { title: 'a pause of what is stalled, not seen', type: 'pause', state: 'failed', want: 'waiting' },
    {
      title: 'a pause of a Rollout that is disabled',
      type: 'pause',
      state: 'updating',
      change: (rollout) => going('Complete')(rollout),
      want: 'ACTION_REJECTED: the Rollout is being disabled, and its annotation tranche.dev/on-delete overrides a pause: spec.strategy.paused is set, and stops the next release',
    },
    {
      title: 'a pause of a Rollout that was disabled and enabled again',
      type: 'pause',
      state: 'updating',
      change: (rollout) => enabledAgain(going('Complete')(rollout)),
      want: 'waiting',
    },
    {
      title: 'a pause of a Rollout that is disabled and frozen',
      type: 'pause',
      state: 'updating',
      change: (rollout) => going('Freeze')(rollout),
      want: 'acknowledged',
    },
    { title: 'a pause while nothing runs', type: 'pause', state: 'healthy', change: seen, want: 'acknowledged' },
    { title: 'a resume that was not seen', type: 'resume', state: 'paused', want: 'waiting' },
    {
      title: 'a resume that was seen and has not taken effect',
      type: 'resume',
      state: 'paused',
      change: progressing('Paused'),
      want: 'waiting',
    },
    {
      title: 'a resume after which the release continues',
      type: 'resume',
      state: 'paused',
      change: progressing('InRolling'),
      want: 'acknowledged',
    },
    { title: 'a template that the Rollout has not seen', type: 'restart', state: 'healthy', want: 'waiting' },
    {
      title: 'a template of a disabled Rollout',
      type: 'undo',
      state: 'healthy',
      change: (rollout) => ({ ...rollout, spec: { ...rollout.spec, disabled: true } }),
      want: 'acknowledged',
    },
    {
      title: 'a template that the Rollout has seen',
      type: 'undo',
      state: 'healthy',
      change: (rollout) => says({ canaryStatus: { ...rollout.status!.canaryStatus!, observedWorkloadGeneration: 4 } })(rollout),
      want: 'acknowledged',
    },
  ])('is $want for $title', ({ type, state, change, want }) => {
    expect(answered(type, state, change)).toBe(want)
  })

  it.each([
    ['blocked', [{ digest: 'd', revision: 'h3', reason: 'Failed' as const }], '; revision h3 is blocked'],
    ['not blocked', [], '; revision h3 is not blocked'],
  ])('to an undo says that the replaced revision is %s', (_sentence, heldRevisions, said) => {
    const facts = factsIn('stepPaused')
    const undo = planAction(anAction('undo', { body: { revision: 'h3' } }), facts)
    const { status } = facts.rollout!
    const canaryStatus = { ...status!.canaryStatus!, observedWorkloadGeneration: 4 }
    const rollout = { ...facts.rollout!, status: { ...status!, canaryStatus, rollbackFrom: 'h3', heldRevisions } }
    const standing = undo.kind === 'write' && answerOf({ record: undo.record, generation: 4 }, { ...facts, rollout })
    expect(standing).toMatchObject({ kind: 'acknowledged', message: expect.stringContaining(said) })
  })

  it('to an undo does not repeat that a blocked revision was not released', () => {
    const facts = factsIn('stepPaused')
    const { status } = facts.rollout!
    const canaryStatus = { ...status!.canaryStatus!, observedWorkloadGeneration: 4 }
    const heldRevisions = [{ digest: 'd', revision: 'h3', reason: 'Failed' as const }]
    const releases = [{ name: 'r', revision: 'h2', startedAt: '2026-01-01T00:00:00Z', result: 'Completed' as const }]
    const rollout = { ...facts.rollout!, status: { ...status!, canaryStatus, rollbackFrom: 'h3', heldRevisions, releases } } as Rollout
    const record = { id: 'rest-1', type: 'undo', revision: 'h3', by: 'jane', at: '', via: 'rest' } as const
    const message = rollout.status?.message
    expect(answerOf({ record, generation: 4 }, { ...facts, rollout })).toEqual({ kind: 'acknowledged', message })
  })

  it.each([
    ['OnDelete', 'updateStrategy.type is OnDelete: no pod is replaced before an enabled Rollout releases it'],
    ['RollingUpdate', 'the updateStrategy of the DaemonSet applies'],
  ])('to an undo of a disabled Rollout says what %s means', (type, said) => {
    const facts = factsIn('healthy')
    const rollout = { ...facts.rollout!, spec: { ...facts.rollout!.spec, disabled: true } }
    const daemonSet = { ...facts.daemonSet!, spec: { ...facts.daemonSet!.spec, updateStrategy: { type } } } as DaemonSet
    const record = { id: 'rest-1', type: 'undo', by: 'jane', at: '', via: 'rest' } as const
    const message = `the template is changed, and ${said}`
    expect(answerOf({ record, generation: 4 }, { ...facts, rollout, daemonSet })).toEqual({ kind: 'acknowledged', message })
  })

  it('is absent while the objects are older than the write', () => {
    const facts = factsIn('stepPaused')
    const plan = planAction(anAction('approve'), facts)
    if (plan.kind !== 'write') throw new Error('it is refused')
    expect(answerOf({ record: plan.record, generation: 4 }, facts)).toMatchObject({
      kind: 'waiting',
      message: expect.stringContaining('it is stepPaused'),
    })
  })

  it('is the same for an action that an earlier request wrote', () => {
    const facts = factsIn('updating')
    const plan = planAction(anAction('pause'), facts)
    if (plan.kind !== 'write') throw new Error('it is refused')
    const then = after(facts, plan)!
    const again = (rollout: Rollout): string =>
      answerOf({ record: plan.record, generation: undefined }, { ...then, rollout } as ActionFacts).kind
    expect([then.rollout!, seen(then.rollout!), progressing('Paused')(then.rollout!)].map(again)).toEqual([
      'waiting',
      'waiting',
      'acknowledged',
    ])
    const resumed = { ...then.rollout!, spec: { ...then.rollout!.spec, strategy: { ...then.rollout!.spec.strategy, paused: false } } }
    expect(again(seen(resumed))).toBe('acknowledged')
  })

  it('of a resume without a running release says that no release continues', () => {
    const facts = factsIn('paused')
    const plan = planAction(anAction('resume'), facts)
    if (plan.kind !== 'write') throw new Error('it is refused')
    const then = after(facts, plan)!.rollout!
    const atRest: Rollout = { ...then, status: { ...then.status!, phase: 'Healthy' } }
    const answered = (rollout: Rollout): object =>
      answerOf({ record: plan.record, generation: undefined }, { ...facts, rollout } as ActionFacts)
    expect(answered(seen(atRest))).toMatchObject({ kind: 'acknowledged', message: expect.stringContaining('no release runs') })
    expect(JSON.stringify(answered(atRest))).not.toContain('the release to continue')
    const disabled = seen({ ...atRest, spec: { ...atRest.spec, disabled: true } })
    expect(answered(disabled)).toMatchObject({ message: 'no release runs, and none starts while spec.disabled is true' })
  })

  it('is that the Rollout was deleted', () => {
    const facts = factsIn('stepPaused')
    const plan = planAction(anAction('approve'), facts)
    if (plan.kind !== 'write') throw new Error('it is refused')
    expect(answerOf({ record: plan.record, generation: 4 }, { ...facts, rollout: undefined })).toMatchObject({ code: 'MOVED_ON' })
    const undo = planAction(anAction('undo'), { ...facts, rollout: undefined })
    expect(undo.kind === 'write' && answerOf({ record: undo.record, generation: 4 }, { ...facts, rollout: undefined }).kind).toBe(
      'acknowledged',
    )
  })
})
