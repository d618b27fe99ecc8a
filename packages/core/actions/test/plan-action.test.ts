import { type Rollout, type ObservedChange, type ActionType, actionTypes } from '@tranche/api-schema'
import { type DaemonSet, type PodTemplate, REVISION_HASH_LABEL, sha256Hex } from '@tranche/kube-types'
import { templateText } from '@tranche/planner'
import {
  keyedActionId,
  observedChangesOf,
  planAction,
  recordedActionsOf,
  type Action,
  type ActionFacts,
  withObservedChanges,
} from '@tranche/actions'
import { describe, expect, it } from 'vitest'
import { aDaemonSet, aRevision, aRollout, anAction, after, factsIn, type State, states } from './facts.ts'

const ok = 'write'
const no = 'ACTION_REJECTED'
const moved = 'MOVED_ON'

/** The plan for each action in each state; an action that names a step names step 2. */
const outcomes: Readonly<Record<State, Readonly<Record<ActionType, string>>>> = {
  healthy: { pause: ok, resume: no, approve: moved, promote: no, abort: no, retry: no, undo: ok, jump: moved, restart: ok },
  unseen: { pause: ok, resume: no, approve: moved, promote: no, abort: no, retry: no, undo: ok, jump: moved, restart: ok },
  updating: { pause: ok, resume: no, approve: no, promote: ok, abort: ok, retry: no, undo: ok, jump: ok, restart: ok },
  stepPaused: { pause: ok, resume: no, approve: ok, promote: ok, abort: ok, retry: no, undo: ok, jump: ok, restart: ok },
  paused: { pause: ok, resume: ok, approve: ok, promote: ok, abort: ok, retry: no, undo: ok, jump: ok, restart: ok },
  failed: { pause: ok, resume: ok, approve: no, promote: no, abort: ok, retry: ok, undo: ok, jump: no, restart: ok },
  inconclusive: { pause: ok, resume: ok, approve: no, promote: no, abort: ok, retry: ok, undo: ok, jump: no, restart: ok },
  held: { pause: ok, resume: no, approve: no, promote: no, abort: ok, retry: ok, undo: ok, jump: no, restart: ok },
  goingBack: { pause: ok, resume: no, approve: no, promote: ok, abort: no, retry: no, undo: ok, jump: ok, restart: ok },
  finishing: { pause: ok, resume: no, approve: moved, promote: no, abort: ok, retry: no, undo: ok, jump: no, restart: ok },
}

describe.each(states.map((state) => ({ state })))('while it is $state', ({ state }) => {
  it.each(actionTypes.map((type) => ({ type, want: outcomes[state][type] })))('$type comes to $want', ({ type, want }) => {
    const plan = planAction(anAction(type), factsIn(state))
    expect(plan.kind === 'refused' ? plan.code : plan.kind).toBe(want)
  })
})

it.each([
  ['approve', 'failed', 'run tranche retry agent -n demo to continue anyway, or tranche abort agent -n demo to roll back'],
  ['promote', 'held', 'run tranche retry agent -n demo to continue anyway, or tranche abort agent -n demo to roll back'],
  ['resume', 'held', 'run tranche retry agent -n demo to release the blocked revision'],
  ['retry', 'unseen', 'no action is needed'],
] as const)('a refused %s while it is %s names the command that helps', (type, state, fix) => {
  expect(planAction(anAction(type), factsIn(state))).toMatchObject({ code: no, fix })
})

it.each([
  ['approve', 'stepPaused', {}, 'the release continues with the next step'],
  ['jump', 'stepPaused', { expectedStep: 2, step: 3 }, 'the release continues at step 3'],
  ['promote', 'stepPaused', {}, 'the release continues without the remaining pauses'],
  ['promote', 'stepPaused', { full: true }, 'the release continues without the remaining pauses, soak times and analyses'],
  ['abort', 'stepPaused', {}, 'the release is rolled back to the stable revision'],
  ['retry', 'failed', {}, 'the stop is lifted'],
  ['retry', 'held', { revision: 'v2' }, 'revision v2 is no longer blocked'],
] as const)('the plan of %s while it is %s, of %j, says what it does', (type, state, body, effect) => {
  const plan = planAction(anAction(type, Object.keys(body).length === 0 ? {} : { body }), factsIn(state))
  expect(plan).toMatchObject({ kind: 'write', message: `the action ${type} is written: ${effect}` })
})

it.each([
  ['the version that was rolled back, which the status keeps', 'v0', 'refused'],
  ['the present version, on nodes that its release had left', 'v1', 'write'],
])('after a release, a retry for a failure of %s is decided as by the controller', (_whose, revision, kind) => {
  const facts = factsIn('healthy')
  const { status, ...rollout } = facts.rollout!
  const failure = { reason: 'CrashLoop', message: 'it crashed', nodes: ['a'], release: `uid/${revision}/3`, stops: true } as const
  const canaryStatus = { ...status!.canaryStatus!, canaryRevision: 'v1' }
  expect(planAction(anAction('retry'), { ...facts, rollout: { ...rollout, status: { ...status!, canaryStatus, failure } } })).toMatchObject(
    {
      kind,
    },
  )
})

it('a refused retry names the blocked revisions that it could be for', () => {
  const retry = (...held: readonly string[]) => {
    const { rollout, ...facts } = factsIn('healthy')
    const heldRevisions = held.map((revision) => ({ digest: revision, revision, at: '', reason: 'Aborted' as const }))
    return planAction(anAction('retry'), { ...facts, rollout: { ...rollout!, status: { ...rollout!.status!, heldRevisions } } })
  }
  const unblock = 'to unblock a revision, which is then released when its template is applied again, run'
  expect(retry('v2')).toMatchObject({ fix: `${unblock} tranche retry agent -n demo --revision v2` })
  expect(retry('v2', 'v3')).toMatchObject({
    fix: `${unblock} tranche retry agent -n demo --revision with one of v2, v3`,
  })
})

it('a retry of another revision than the one being released says that it only unblocks it', () => {
  const { rollout, ...facts } = factsIn('updating')
  const heldRevisions = [{ digest: 'v0', revision: 'v0', at: '', reason: 'Aborted' as const }]
  const held = { ...facts, rollout: { ...rollout!, status: { ...rollout!.status!, heldRevisions } } }
  expect(planAction(anAction('retry', { body: { revision: 'v0' } }), held)).toMatchObject({
    message: 'the action retry is written: revision v0 is no longer blocked; to release it, apply its template again',
  })
})

it('a promote says that it ends no wait for nodes out of reach', () => {
  const facts = factsIn('updating')
  const waitingFor = { reason: 'NoNodeInReach', message: 'no node of the batch is in reach', nodes: ['a'] }
  const messageOf = (waiting: object) =>
    planAction(anAction('promote'), {
      ...facts,
      rollout: { ...facts.rollout!, status: { ...facts.rollout!.status!, waitingFor: waiting as never } },
    })
  expect(messageOf(waitingFor)).toMatchObject({ message: expect.stringContaining('; it still waits: no node of the batch is in reach') })
  expect(messageOf({ ...waitingFor, reason: 'NotAvailable' })).toMatchObject({ message: expect.not.stringContaining('it still waits') })
})

it('an abort says that it returns to a version that failed, and which config changes back', () => {
  const facts = factsIn('stepPaused')
  const { canaryRevision, stableRevision = '' } = facts.rollout!.status!.canaryStatus!
  const heldRevisions = [{ digest: 'd', revision: stableRevision, reason: 'Failed' as const, at: '2026-11-26T00:00:00Z' }]
  const revisions = [
    [canaryRevision, 'agent-2'],
    [stableRevision, 'agent-1'],
  ].map(([hash, copy]) => ({
    metadata: { name: `agent-${hash}`, labels: { 'controller-revision-hash': hash } },
    revision: 1,
    data: { spec: { template: { metadata: { annotations: { 'tranche.dev/pinned-config': `ConfigMap/agent=${copy}` } }, spec: {} } } },
  })) as never
  const rollout = { ...facts.rollout!, status: { ...facts.rollout!.status!, heldRevisions } }
  expect(planAction(anAction('abort'), { ...facts, rollout, revisions })).toMatchObject({
    message: expect.stringContaining(
      `the release is rolled back to the stable revision, ${stableRevision}, which is blocked because it failed at 2026-11-26T00:00:00Z; ConfigMap agent has its earlier content again`,
    ),
  })
})

describe('of a disabled Rollout', () => {
  const { rollout, ...others } = factsIn('healthy')
  const facts = { ...others, rollout: { ...rollout!, spec: { ...rollout!.spec, disabled: true } } }

  it.each(['promote', 'abort'] as const)('%s is refused with the fix, because no next release follows', (type) => {
    expect(planAction(anAction(type), facts)).toMatchObject({
      message: 'no release is running: the Rollout is disabled',
      fix: 'set spec.disabled to false to release in steps',
    })
  })

  it.each([
    ['Disabling', true, 'disabled'],
    ['Terminating', false, 'deleted'],
  ] as const)('abort is refused in phase %s without a word about a release that does not run', (phase, disabled, how) => {
    const ending = { ...rollout!, spec: { ...rollout!.spec, disabled }, status: { ...rollout!.status!, phase } }
    expect(planAction(anAction('abort'), { ...others, rollout: ending })).toMatchObject({
      message: `the Rollout is being ${how}, and only tranche.dev/on-delete decides about its release`,
    })
  })

  it('undo says that it replaces no pod under OnDelete', () => {
    const messageOf = (type: string) => {
      const daemonSet = { ...facts.daemonSet!, spec: { ...facts.daemonSet!.spec, updateStrategy: { type } } }
      return planAction(anAction('undo'), { ...facts, daemonSet } as typeof facts)
    }
    const message = expect.stringContaining('so no pod is replaced before it is enabled') as string
    expect(messageOf('OnDelete')).toMatchObject({ message })
    expect(messageOf('RollingUpdate')).not.toMatchObject({ message })
  })

  it('restart says that it replaces no pod in steps', () => {
    const restart = (type: string) => {
      const daemonSet = { ...facts.daemonSet!, spec: { ...facts.daemonSet!.spec, updateStrategy: { type } } }
      return planAction(anAction('restart'), { ...facts, daemonSet } as typeof facts)
    }
    expect(restart('OnDelete')).toMatchObject({ message: expect.stringContaining('no pod is replaced') as string })
    expect(restart('RollingUpdate')).toMatchObject({ message: expect.stringContaining('without steps') as string })
  })
})

describe('the status that an action was checked against', () => {
  const operationsOn = (status: object): readonly object[] => {
    const facts = factsIn('paused')
    const plan = planAction(anAction('pause'), { ...facts, rollout: { ...facts.rollout!, status: status as never } })
    return plan.kind === 'write' ? plan.patch.filter(({ path }) => path.startsWith('/status')) : []
  }
  const { status } = factsIn('paused').rollout!

  it('is tested as a whole', () => {
    expect(operationsOn(status!)).toEqual([{ op: 'test', path: '/status', value: status }])
  })

  it('is tested except for integers that only the API server knows, which must exist', () => {
    const { phase, canaryStatus } = status!
    const forged = { phase, canaryStatus, releaseGeneration: 2 ** 53 + 2, 'a/b': { list: [1, 2 ** 60] } }
    expect(operationsOn(forged)).toEqual([
      { op: 'test', path: '/status/phase', value: phase },
      { op: 'test', path: '/status/canaryStatus', value: canaryStatus },
      { op: 'copy', from: '/status/releaseGeneration', path: '/status/releaseGeneration' },
      { op: 'test', path: '/status/a~1b/list/0', value: 1 },
      { op: 'copy', from: '/status/a~1b/list/1', path: '/status/a~1b/list/1' },
    ])
  })
})

it.each([
  ['names the wait', 'NotAvailable', 'wait until it is ready, or run tranche abort agent -n demo to roll back'],
  [
    'names no jump by itself, because no later step may have a node',
    'NoNodeInReach',
    'wait until it is ready, or run tranche abort agent -n demo to roll back',
  ],
])('an approval of a step that is not ready %s', (_what, reason, fix) => {
  const { rollout, ...facts } = factsIn('updating')
  const waitingFor = { reason, message: 'waiting for node-010', nodes: ['node-010'] }
  const waiting = { ...rollout!, status: { ...rollout!.status!, waitingFor } }
  const message = 'step 2 of 3 is not ready to be approved: waiting for node-010'
  expect(planAction(anAction('approve'), { ...facts, rollout: waiting })).toMatchObject({ code: no, message, fix })
})

it.each([
  ['disabled', 'Disabling', 'set spec.disabled to false to release in steps, or set tranche.dev/on-delete to Freeze'],
  ['deleted', 'Terminating', 'set tranche.dev/on-delete to Freeze'],
  ['disabled', 'Disabled', 'set spec.disabled to false to release in steps'],
  ['deleted', 'Healthy', 'wait until the Rollout is deleted'],
] as const)('an abort of a release that ends because the Rollout is %s (%s) names the way out', (cause, phase, fix) => {
  const { rollout, ...facts } = factsIn('updating')
  const { metadata, spec, status } = rollout!
  const off = {
    ...rollout!,
    metadata: { ...metadata, ...(cause === 'deleted' && { deletionTimestamp: '2026-11-26T00:00:00Z' }) },
    spec: { ...spec, disabled: cause === 'disabled' },
    status: { ...status!, phase },
  }
  const end = fix.endsWith('Freeze') ? ' to leave the nodes as they are, or to Rollback to roll back' : ''
  expect(planAction(anAction('abort'), { ...facts, rollout: off })).toMatchObject({ code: no, fix: `${fix}${end}` })
})

it('an approval of a step that another user has just approved is refused, because the release has moved on', () => {
  const { rollout, ...facts } = factsIn('stepPaused')
  const canaryStatus = { ...rollout!.status!.canaryStatus!, currentStepState: 'StepReady' as const }
  const approved = { ...rollout!, status: { ...rollout!.status!, canaryStatus } }
  expect(planAction(anAction('approve'), { ...facts, rollout: approved })).toMatchObject({ code: moved })
})

it('an approval of a paused batch is refused with the command that resumes it', () => {
  const { rollout, ...facts } = factsIn('paused')
  const canaryStatus = { ...rollout!.status!.canaryStatus!, currentStepState: 'StepUpgrade' as const }
  const updating = { ...rollout!, status: { ...rollout!.status!, canaryStatus } }
  expect(planAction(anAction('approve'), { ...facts, rollout: updating })).toMatchObject({
    code: 'ACTION_REJECTED',
    fix: 'it is paused: run tranche resume agent -n demo first',
  })
})

describe('after the end of a release, if its version failed on a node that it had left', () => {
  const { rollout, ...facts } = factsIn('failed')
  const failure = { reason: 'ReleaseFailed', message: 'seen', nodes: ['a'], stops: true }
  const status = { ...rollout!.status!, phase: 'Healthy' as const, failure }
  const ended = { ...facts, rollout: { ...rollout!, status } }

  it.each<[string, string | undefined]>([
    ['without a revision', undefined],
    ['of the same revision', 'v2'],
  ])('a retry %s is written', (_which, revision) => {
    expect(planAction(anAction('retry', { body: revision === undefined ? {} : { revision } }), ended).kind).toBe('write')
  })

  it('a retry that names a step is refused', () => {
    expect(planAction(anAction('retry', { body: { expectedStep: 2 } }), ended)).toMatchObject({ code: 'MOVED_ON' })
  })

  it('a retry of another revision is refused', () => {
    expect(planAction(anAction('retry', { body: { revision: 'v3' } }), ended)).toMatchObject({ code: 'MOVED_ON', path: 'revision' })
  })

  it('an abort is refused, and the fix names undo and retry', () => {
    expect(planAction(anAction('abort'), ended)).toMatchObject({
      code: no,
      message: 'no release is running',
      fix: expect.stringMatching(/^run tranche undo agent -n demo .* or tranche retry agent -n demo /),
    })
  })
})

describe('after a completed release', () => {
  const { rollout, ...facts } = factsIn('stepPaused')
  const ended = { ...facts, rollout: { ...rollout!, status: { ...rollout!.status!, phase: 'Healthy' as const } } }

  it.each(['approve', 'promote', 'abort', 'jump'] as const)('%s of the revision on the nodes finds no release', (type) => {
    const body = { revision: 'v2', ...(type === 'jump' && { step: 2 }) }
    expect(planAction(anAction(type, { body }), ended)).toMatchObject({ code: no, message: 'no release is running' })
  })

  it('an approval that names a step or another revision says which member is meant', () => {
    const ofStep = planAction(anAction('approve', { body: { expectedStep: 2 } }), ended)
    expect(ofStep).toMatchObject({
      code: moved,
      path: 'expectedStep',
      message: 'the action is meant for step 2, and no release is running',
    })
    expect(planAction(anAction('approve', { body: { revision: 'v3' } }), ended)).toMatchObject({ code: moved, path: 'revision' })
  })
})

it.each(['approve', 'jump'] as const)('says that no release runs when %s names no step', (type) => {
  const body = type === 'jump' ? { step: 1 } : {}
  expect(planAction(anAction(type, { body }), factsIn('unseen'))).toMatchObject({ code: no, message: 'no release is running' })
  expect(planAction(anAction(type, { body }), factsIn('stepPaused'))).toMatchObject({ code: 'ACTION_INVALID', path: 'expectedStep' })
})

describe('the same id again, without a step', () => {
  const approve = anAction('approve', { seen: ['expectedStep', 'revision'], body: { expectedStep: 2, revision: 'v2', reason: 'fine' } })
  const facts = factsIn('stepPaused')
  const first = planAction(approve, facts)
  const then = first.kind === 'write' ? after(facts, first)! : facts

  it.each([
    ['at another step', { expectedStep: 3, revision: 'v3', reason: 'fine' }],
    ['after the release has ended, at no step', { reason: 'fine' }],
  ])('is the same action %s', (_when, body) => {
    expect(planAction({ ...approve, body }, then)).toMatchObject({ kind: 'repeated', record: { expectedStep: 2 } })
  })

  it('is another action when a given member differs', () => {
    expect(planAction({ ...approve, body: { ...approve.body, reason: 'bad' } }, then)).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(planAction({ ...approve, seen: ['revision'], body: { ...approve.body, expectedStep: 3 } }, then)).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })
})

describe('an id that is on record (G10)', () => {
  it('repeats an action whose reason has half a surrogate pair, which is read as U+FFFD', () => {
    const action = anAction('pause', { body: { reason: 'x\ud83d' } })
    expect(planAction(action, onRecord(action))).toMatchObject({ kind: 'repeated', record: { reason: 'x\uFFFD' } })
  })

  it.each<{ type: ActionType; body: Action['body']; other: Action['body'] }>([
    { type: 'pause', body: { reason: 'fine' }, other: { reason: 'bad' } },
    { type: 'approve', body: { expectedStep: 2 }, other: { expectedStep: 3 } },
    { type: 'approve', body: { expectedStep: 2, revision: 'v2' }, other: { revision: 'v3' } },
    { type: 'jump', body: { expectedStep: 2, step: 3 }, other: { step: 1 } },
    { type: 'promote', body: { full: true }, other: { full: false } },
    { type: 'undo', body: { toRevision: 'v1' }, other: { toRevision: 'v0' } },
  ])('repeats $type $body, and is rejected with $other, and without', ({ type, body, other }) => {
    const action = anAction(type, { body })
    const facts = onRecord(action)
    expect(planAction(action, facts)).toMatchObject({ kind: 'repeated', record: { type, ...body } })
    expect(planAction({ ...action, body: { ...body, ...other } }, facts)).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    const without = { ...body, ...Object.fromEntries(Object.keys(other).map((member) => [member, undefined])) }
    expect(planAction({ ...action, body: without }, facts)).toMatchObject({ kind: 'refused' })
  })

  function onRecord({ id, type, by, via, body }: Action): ActionFacts {
    const facts = factsIn('stepPaused')
    const { metadata } = facts.rollout!
    const record = JSON.stringify([{ id, type, by, via, at: '2026-01-01T00:00:00.000Z', ...body }])
    const annotations = { ...metadata.annotations, 'tranche.dev/recorded-actions': record }
    return { ...facts, rollout: { ...facts.rollout!, metadata: { ...metadata, annotations } } }
  }
})

describe('a change of a template', () => {
  const boundTo = (name: string | undefined): ActionFacts => {
    const facts = factsIn('healthy')
    const { 'tranche.dev/rollout': _bound, ...annotations } = facts.daemonSet!.metadata.annotations!
    const binding = name === undefined ? {} : { 'tranche.dev/rollout': name }
    const metadata = { ...facts.daemonSet!.metadata, annotations: { ...annotations, ...binding } }
    return { ...facts, daemonSet: { ...facts.daemonSet!, metadata } }
  }

  it.each(['undo', 'restart'] as const)('by %s is refused on a DaemonSet that is bound to another Rollout', (type) => {
    expect(planAction(anAction(type), boundTo('other'))).toMatchObject({
      code: 'NOT_BOUND',
      message: 'spec.workloadRef.name is "agent", and that DaemonSet is bound to the Rollout other, not to agent',
    })
    expect(planAction(anAction(type, { via: 'cli' }), boundTo('other'))).toMatchObject({ code: 'NOT_BOUND' })
  })

  it('over REST is refused on an unbound DaemonSet; the command line uses the rights of the user', () => {
    expect(planAction(anAction('undo'), boundTo(undefined))).toMatchObject({ code: 'NOT_BOUND' })
    expect(planAction(anAction('undo', { via: 'cli' }), boundTo(undefined))).toMatchObject({ kind: 'write' })
  })
})

describe('what is written', () => {
  const written = (type: ActionType, state: State, fields = {}): Rollout => {
    const facts = factsIn(state)
    const plan = planAction(anAction(type, fields), facts)
    if (plan.kind !== 'write') throw new Error(`${type} is ${plan.kind}`)
    return after(facts, plan)!.rollout!
  }
  const actionIn = ({ metadata }: Rollout): unknown => JSON.parse(metadata.annotations?.['tranche.dev/action'] ?? 'null')

  it.each<{ type: ActionType; state: State; body: object; action: object }>([
    {
      type: 'approve',
      state: 'stepPaused',
      body: { expectedStep: 2, reason: 'fine' },
      action: { type: 'approve', expectedStep: 2, reason: 'fine' },
    },
    { type: 'jump', state: 'stepPaused', body: { expectedStep: 2, step: 3 }, action: { type: 'jump', expectedStep: 2, step: 3 } },
    { type: 'promote', state: 'stepPaused', body: { full: true, revision: 'v2' }, action: { type: 'promote', full: true, revision: 'v2' } },
    { type: 'promote', state: 'inconclusive', body: { full: true }, action: { type: 'promote', full: true } },
    { type: 'abort', state: 'updating', body: {}, action: { type: 'abort' } },
    { type: 'retry', state: 'healthy', body: { revision: 'v2' }, action: { type: 'retry', revision: 'v2' } },
    { type: 'resume', state: 'failed', body: {}, action: { type: 'retry' } },
  ])('$type while it is $state is the action $action', ({ type, state, body, action }) => {
    const facts = factsIn(state)
    const heldRevisions = [{ revision: 'v2', digest: 'd' }]
    const rollout = type === 'retry' ? { ...facts.rollout!, status: { ...facts.rollout!.status!, heldRevisions } } : facts.rollout!
    const plan = planAction(anAction(type, { body }), { ...facts, rollout })
    if (plan.kind !== 'write') throw new Error(`${type} is ${plan.kind}`)
    const stored = after({ ...facts, rollout }, plan)!.rollout!
    expect(actionIn(stored)).toEqual({ id: 'rest-1', by: 'alice', ...action })
    expect(recordedActionsOf(stored)).toEqual([{ id: 'rest-1', type, by: 'alice', via: 'rest', at: '2026-01-01T00:00:00.000Z', ...body }])
  })

  it.each<{ type: ActionType; state: State; paused: boolean }>([
    { type: 'pause', state: 'stepPaused', paused: true },
    { type: 'resume', state: 'paused', paused: false },
  ])('$type sets spec.strategy.paused to $paused, and no action', ({ type, state, paused }) => {
    const rollout = written(type, state)
    expect(rollout.spec.strategy.paused).toBe(paused)
    expect(actionIn(rollout)).toBeNull()
  })

  it('records the user, the client and the address', () => {
    const rollout = written('pause', 'updating', { by: 'system:serviceaccount:ci:deploy', via: 'hook', from: '192.0.2.7' })
    expect(recordedActionsOf(rollout)).toMatchObject([{ by: 'system:serviceaccount:ci:deploy', via: 'hook', from: '192.0.2.7' }])
  })
})

describe('a record that another version wrote', () => {
  const record = (text: string, type: ActionType = 'pause'): unknown[] => {
    const facts = factsIn('updating')
    const rollout = aRollout('updating', { 'tranche.dev/recorded-actions': text })
    const plan = planAction(anAction(type), { ...facts, rollout })
    if (plan.kind !== 'write') throw new Error(`${type} is ${plan.kind}`)
    const { annotations } = after({ ...facts, rollout }, plan)!.rollout!.metadata
    return JSON.parse(annotations!['tranche.dev/recorded-actions']!) as unknown[]
  }
  const known = { id: 'rest-0', type: 'pause', by: 'bob', at: '2025-12-31T00:00:00.000Z', via: 'rest' }

  it.each([
    ['an unknown member', { ...known, team: 'edge' }],
    ['an unknown type of action', { ...known, type: 'postpone' }],
  ])('stays as it is: %s (G7)', (_what, other) => {
    expect(record(JSON.stringify([other]))).toEqual([other, expect.objectContaining({ id: 'rest-1' })])
  })

  it('counts towards the limit of sixteen', () => {
    const others = Array.from({ length: 16 }, (_, at) => ({ ...known, id: `rest-old-${at}`, type: 'postpone' }))
    expect(record(JSON.stringify(others))).toEqual([...others.slice(1), expect.objectContaining({ id: 'rest-1' })])
  })

  it('drops an item that is no action', () => {
    expect(record('[1, null, {"type": "pause"}]')).toEqual([expect.objectContaining({ id: 'rest-1' })])
    expect(record('{')).toEqual([expect.objectContaining({ id: 'rest-1' })])
  })

  it('is dropped if it is nested too deeply to be written again', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    expect(record(`[{"id": "rest-0", "deep": ${deep}}]`)).toEqual([expect.objectContaining({ id: 'rest-1' })])
  })

  it('is kept next to an item larger than any action (G7)', () => {
    for (const bytes of [9_000, 16_000, 200_000])
      expect(record(JSON.stringify([known, { ...known, id: 'rest-00', team: 'x'.repeat(bytes) }]))).toEqual([
        known,
        expect.objectContaining({ id: 'rest-1' }),
      ])
  })

  it.each([
    ['refuses', 'all since the other could have been sent', '2025-12-31T00:00:00.000Z', { kind: 'refused', code: 'RATE_LIMITED' }],
    ['takes', 'one from before the other could have been sent', '2025-12-30T00:00:00.000Z', { kind: 'write' }],
  ])('%s an action that may be a repetition, where the record is full of others: %s (G10)', (_verb, _what, at, expected) => {
    const others = Array.from({ length: 16 }, (_, number) => ({ ...known, id: `rest-old-${number}`, type: 'postpone', at }))
    const rollout = aRollout('updating', { 'tranche.dev/recorded-actions': JSON.stringify(others) })
    const action = { ...anAction('pause'), repeatableSinceMs: Date.parse('2025-12-30T12:00:00.000Z') }
    expect(planAction(action, { ...factsIn('updating'), rollout })).toMatchObject(expected)
  })

  const seen = (text: string, more: readonly ObservedChange[]): unknown[] => {
    const annotations = { 'tranche.dev/observed-changes': text }
    return JSON.parse(withObservedChanges({ metadata: { name: 'agent', uid: 'u', resourceVersion: '1', annotations } }, more)) as unknown[]
  }
  const more: ObservedChange = { id: 'seen-2-pause', type: 'pause', at: known.at }

  it('stays beside changes observed since (G7)', () => {
    const other = { id: 'seen-1-postpone', type: 'postpone', at: known.at, team: 'edge' }
    expect(seen(JSON.stringify([other]), [more])).toEqual([other, more])
  })

  it('moves the changes that the previous version observed to the present annotation', () => {
    const former = { id: 'seen-1-abort', type: 'abort', at: known.at }
    const annotations = { 'tranche.dev/seen-actions': JSON.stringify([former]) }
    const rollout = { metadata: { name: 'agent', uid: 'u', resourceVersion: '1', annotations } }
    expect(observedChangesOf(rollout)).toEqual([former])
    expect(JSON.parse(withObservedChanges(rollout, [more]))).toEqual([former, more])
  })

  it('is dropped for later observed changes if it is too large', () => {
    const other = { id: 'seen-1-postpone', type: 'postpone', at: known.at, team: 'x'.repeat(200_000) }
    expect(seen(JSON.stringify([other]), [more])).toEqual([more])
  })

  it('has room for sixteen observed changes with the longest names and reasons', () => {
    const reason = '\u0001'.repeat(256)
    const all = Array.from({ length: 16 }, (_, at): ObservedChange => {
      return { ...more, id: `seen-${'9'.repeat(20)}-template-${at}`, manager: 'm'.repeat(128), step: 100, reason }
    })
    expect(seen('[]', all)).toEqual(all)
  })
})

describe('an action for another state', () => {
  it.each([
    {
      title: 'another step',
      action: anAction('approve', { body: { expectedStep: 1 } }),
      says: 'step 1, and the release of revision v2 is at step 2 of 3',
    },
    { title: 'another step, for a pause', action: anAction('pause', { body: { expectedStep: 1 } }), says: 'meant for step 1' },
    {
      title: 'another revision',
      action: anAction('abort', { body: { revision: 'v3' } }),
      says: 'meant for revision v3, and the release of revision v2',
    },
  ])('has moved on: $title', ({ action, says }) => {
    expect(planAction(action, factsIn('stepPaused'))).toMatchObject({
      kind: 'refused',
      code: moved,
      message: expect.stringContaining(says),
    })
  })

  it('is an approval of a step that kubectl has already approved', () => {
    const facts = factsIn('stepPaused')
    const { status } = facts.rollout!
    const canaryStatus = { ...status!.canaryStatus!, currentStepState: 'StepReady' as const }
    const plan = planAction(anAction('approve'), { ...facts, rollout: { ...facts.rollout!, status: { ...status!, canaryStatus } } })
    expect(plan).toMatchObject({ code: moved, message: expect.stringContaining('(StepReady)') })
  })

  it('is refused on a Rollout of another kind of workload', () => {
    const facts = factsIn('stepPaused')
    const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'agent' }
    const rollout = { ...facts.rollout!, spec: { ...facts.rollout!.spec, workloadRef } }
    for (const type of actionTypes) expect(planAction(anAction(type), { ...facts, rollout })).toMatchObject({ code: no })
  })

  it('is refused without a Rollout', () => {
    const facts = { ...factsIn('stepPaused'), rollout: undefined }
    expect(planAction(anAction('abort'), facts)).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
    expect(planAction(anAction('restart'), facts)).toMatchObject({ kind: 'write', target: 'DaemonSet' })
    expect(planAction(anAction('restart'), { ...facts, daemonSet: undefined })).toMatchObject({ code: 'WORKLOAD_NOT_FOUND' })
  })

  it.each(actionTypes)('is refused if the Rollout that it names is gone, and not because of its DaemonSet: %s', (type) => {
    const facts = { ...factsIn('stepPaused'), on: 'Rollout' as const, rollout: undefined, daemonSet: undefined }
    expect(planAction(anAction(type), facts)).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
  })
})

it.each<{ type: ActionType; body: object; path: string }>([
  { type: 'approve', body: {}, path: 'expectedStep' },
  { type: 'jump', body: { step: 2 }, path: 'expectedStep' },
  { type: 'jump', body: { expectedStep: 2 }, path: 'step' },
  { type: 'jump', body: { expectedStep: 2, step: 4 }, path: 'step' },
  { type: 'pause', body: { step: 2 }, path: 'step' },
  { type: 'abort', body: { full: true }, path: 'full' },
  { type: 'restart', body: { toRevision: '1' }, path: 'toRevision' },
])('names the member of $type that is wrong: $body', ({ type, body, path }) => {
  expect(planAction(anAction(type, { body }), factsIn('stepPaused'))).toMatchObject({
    code: 'ACTION_INVALID',
    path,
    fix: expect.stringContaining(path),
  })
})

describe('while another action has no answer', () => {
  const pending = (type: string, by?: string) =>
    aRollout('stepPaused', { 'tranche.dev/action': JSON.stringify({ id: 'theirs', type, by, expectedStep: 2 }) })

  it.each<{ type: ActionType; theirs: string; want: string }>([
    { type: 'approve', theirs: 'approve', want: 'ACTION_PENDING' },
    { type: 'promote', theirs: 'approve', want: 'ACTION_PENDING' },
    { type: 'abort', theirs: 'approve', want: ok },
    { type: 'abort', theirs: 'abort', want: 'ACTION_PENDING' },
    { type: 'pause', theirs: 'approve', want: ok },
    { type: 'undo', theirs: 'approve', want: ok },
  ])('$type comes to $want beside $theirs', ({ type, theirs, want }) => {
    const plan = planAction(anAction(type), { ...factsIn('stepPaused'), rollout: pending(theirs, 'bob') })
    expect(plan.kind === 'refused' ? plan.code : plan.kind).toBe(want)
    if (plan.kind === 'refused') expect(plan.message).toContain(`bob requested ${theirs} (id theirs)`)
  })

  it('no longer blocks others once it has one', () => {
    const rollout = pending('approve')
    const answered = { ...rollout, status: { ...rollout.status!, answeredActions: ['theirs'] } }
    expect(planAction(anAction('approve'), { ...factsIn('stepPaused'), rollout: answered }).kind).toBe(ok)
  })
})

describe('undo', () => {
  const withHeld = (...numbers: readonly number[]): ActionFacts => {
    const facts = factsIn('healthy')
    const heldRevisions = numbers.map((number) => ({
      revision: `h${number}`,
      digest: templateDigest(aDaemonSet(`agent:${number}`)),
      reason: 'Failed' as const,
      at: '2026-01-01T00:00:00Z',
    }))
    return { ...facts, rollout: { ...facts.rollout!, status: { ...facts.rollout!.status!, heldRevisions } } }
  }
  const undo = (toRevision?: string, facts = factsIn('healthy')) => {
    const plan = planAction(anAction('undo', { body: { ...(toRevision !== undefined && { toRevision }) } }), facts)
    if (plan.kind !== 'write') return plan
    return after(facts, plan)!.daemonSet!.spec.template.spec?.containers?.[0]?.image
  }

  it.each([
    { to: undefined, want: 'agent:2' },
    { to: '0', want: 'agent:2' },
    { to: '1', want: 'agent:1' },
    { to: 'h1', want: 'agent:1' },
  ])('to $to restores $want', ({ to, want }) => {
    expect(undo(to)).toBe(want)
  })

  it('restores only the template that became stable for the stable revision (F15)', () => {
    const recordedAs = (image: string): ActionFacts => {
      const facts = factsIn('stepPaused')
      const status = { ...facts.rollout!.status!, stableRevision: 'h2', stableDigest: templateDigest(aDaemonSet(image)) }
      return { ...facts, rollout: { ...facts.rollout!, status } }
    }
    expect(undo('2', recordedAs('agent:2'))).toBe('agent:2')
    for (const to of [undefined, '2', 'h2'])
      expect(undo(to, recordedAs('agent:other'))).toMatchObject({
        code: no,
        message: 'the template of revision 2 (h2) is not the one that became stable (status.stableDigest)',
        fix: 'apply the template that you want, and find out in the audit log who changed ControllerRevision agent-h2',
      })
    expect(undo('1', recordedAs('agent:other'))).toBe('agent:1')
  })

  it('skips a revision that another one has with copies of config, unless it is named', () => {
    const facts = factsIn('healthy')
    const plain = facts.revisions.find(({ revision }) => revision === 2)!
    const { template } = (plain.data as { readonly spec: { readonly template: PodTemplate } }).spec
    const annotations = { 'tranche.dev/pinned-config': 'ConfigMap/agent=agent-1a2b3c4d' }
    const data = { spec: { template: { ...template, metadata: { ...template.metadata, annotations } } } }
    const metadata = { ...plain.metadata, name: 'agent-p2', labels: { ...plain.metadata.labels, [REVISION_HASH_LABEL]: 'p2' } }
    const revisions = [...facts.revisions, { ...plain, metadata, data, revision: 1.5 }]
    const restored = (toRevision?: string): unknown => {
      const plan = planAction(anAction('undo', { body: { ...(toRevision !== undefined && { toRevision }) } }), { ...facts, revisions })
      if (plan.kind !== 'write') return plan
      return after(facts, plan)!.daemonSet!.spec.template.metadata?.annotations?.['tranche.dev/pinned-config']
    }
    expect([restored(), restored('h2')]).toEqual(['ConfigMap/agent=agent-1a2b3c4d', undefined])
  })

  it.each<[sentence: string, failure: object | undefined, phase: 'Progressing' | 'Healthy', said: RegExp, stable?: string]>([
    ['not blocked in mid-release', undefined, 'Progressing', /restored; revision h3 is not blocked: .*abort would/],
    [
      'blocked after a failure',
      { reason: 'ReleaseFailed', stops: true, release: 'u/h3/1' },
      'Progressing',
      /restored; revision h3 is blocked/,
    ],
    [
      'blocked after a failure on nodes left',
      { reason: 'ReleaseFailed', stops: true, release: 'u/h3/1' },
      'Healthy',
      /restored; revision h3 is blocked/,
    ],
    [
      'not blocked by the failure of a version that it rolled back',
      { reason: 'ReleaseFailed', stops: true, release: 'u/h4/1' },
      'Progressing',
      /h3 is not blocked/,
    ],
    ['not blocked by an analysis', { reason: 'AnalysisInconclusive', stops: true, release: 'u/h3/1' }, 'Progressing', /h3 is not blocked/],
    ['not blocked by a failure in its rollback', undefined, 'Progressing', /h3 is not blocked, even if it fails now/, 'h3'],
    ['not mentioned at rest', undefined, 'Healthy', /restored$/],
  ])('says that the replaced revision is %s', (_sentence, failure, phase, said, stableRevision = 'h1') => {
    const { rollout, ...facts } = factsIn('stepPaused')
    const canaryStatus = { ...rollout!.status!.canaryStatus!, canaryRevision: 'h3' }
    const status = { ...rollout!.status!, phase, stableRevision, canaryStatus, ...(failure && { failure }) } as never
    const plan = planAction(anAction('undo'), { ...facts, rollout: { ...rollout!, status } })
    expect(plan).toMatchObject({ message: expect.stringMatching(said) })
  })

  it('skips blocked revisions unless one is named', () => {
    expect(undo(undefined, withHeld(2))).toBe('agent:1')
    expect(undo('0', withHeld(2))).toBe('agent:1')
    expect(undo('2', withHeld(2))).toBe('agent:2')
    expect(planAction(anAction('undo', { body: { toRevision: '2' } }), withHeld(2))).toMatchObject({
      message: 'the template of revision 2 (h2, agent:2) is restored, which is blocked: no pod is deleted for it before a retry',
    })
    expect(undo(undefined, withHeld(1, 2))).toMatchObject({
      code: no,
      path: 'toRevision',
      message: 'all earlier revisions are blocked because they failed or were rolled back: 2 (h2), 1 (h1)',
      fix: expect.stringMatching(/, or run tranche undo \S+ -n \S+ --to-revision NUMBER and then retry that revision$/) as string,
    })
  })

  it.each([
    { title: 'the revision of the present template is put back', revision: 'h3', want: 'agent:2' },
    { title: 'another revision has moved on', revision: 'h2', want: moved },
    { title: 'a revision that is gone has moved on', revision: 'h0', want: moved },
  ])('meant for $title', ({ revision, want }) => {
    for (const facts of [factsIn('healthy'), factsIn('stepPaused')]) {
      const plan = planAction(anAction('undo', { body: { revision } }), facts)
      const stored = plan.kind === 'write' ? after(facts, plan)!.daemonSet!.spec.template.spec?.containers?.[0]?.image : null
      expect(plan.kind === 'refused' ? plan.code : stored).toBe(want)
    }
  })

  it('names the present template when it is not the expected one', () => {
    const facts = factsIn('healthy')
    expect(planAction(anAction('undo', { body: { revision: 'h2' } }), facts)).toMatchObject({
      path: 'revision',
      message: 'the template of DaemonSet agent has changed from revision h2, and is now that of revision 3 (h3, agent:3)',
    })
    expect(planAction(anAction('undo', { body: { revision: 'h3' } }), { ...facts, daemonSet: aDaemonSet('agent:4') })).toMatchObject({
      code: moved,
      message: 'the template of DaemonSet agent has changed from revision h3, to one that has no revision yet',
    })
  })

  it('is refused on a DaemonSet other than that of the first attempt', () => {
    const facts = factsIn('healthy')
    const first = planAction(anAction('undo'), facts)
    const daemonSet = { ...facts.daemonSet!, metadata: { ...facts.daemonSet!.metadata, uid: 'recreated' } }
    const look = first.kind === 'write' ? first.look : undefined
    expect(planAction(anAction('undo', { look }), { ...facts, daemonSet })).toMatchObject({ code: moved })
  })

  it('restores no patch directive', () => {
    const facts = factsIn('healthy')
    const plan = planAction(anAction('undo'), facts)
    expect(plan.kind === 'write' && JSON.stringify(after(facts, plan)!.daemonSet)).not.toContain('$patch')
  })

  it.each([
    { to: '3', code: no, says: 'revision 3 (h3) is the present revision' },
    { to: '8', code: 'REVISION_NOT_FOUND', says: 'no revision 8' },
  ])('to $to is refused: $says', ({ to, code, says }) => {
    expect(undo(to)).toMatchObject({ code, message: expect.stringContaining(says) })
  })

  it('is refused without an earlier revision, and while the present template is not in the history', () => {
    expect(undo(undefined, { ...factsIn('healthy'), revisions: [aRevision(3)] })).toMatchObject({ code: no })
    expect(undo(undefined, { ...factsIn('healthy'), daemonSet: aDaemonSet('agent:4') })).toMatchObject({
      code: no,
      fix: 'try again in a moment',
    })
  })
})

it('restarts once a second, not twice', () => {
  const facts = factsIn('healthy')
  const plan = planAction(anAction('restart'), facts)
  if (plan.kind !== 'write') throw new Error('it is refused')
  const restarted = after(facts, plan)!
  expect(restarted.daemonSet!.spec.template.metadata).toEqual({
    labels: { app: 'agent' },
    annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' },
  })
  const again = anAction('restart', { id: 'rest-2' })
  expect(planAction(again, restarted)).toMatchObject({ code: no })
  expect(planAction(again, { ...restarted, nowMs: facts.nowMs + 1_000 }).kind).toBe(ok)
})

it('derives one id from a key of a user, and different ids for other users and keys', () => {
  expect(keyedActionId('rest', 'alice', 'k')).toMatch(/^rest-[0-9a-f]{16}$/)
  expect(keyedActionId('rest', 'alice', 'k')).toBe(keyedActionId('rest', 'alice', 'k'))
  const others = [
    keyedActionId('cli', 'alice', 'k'),
    keyedActionId('rest', 'bob', 'k'),
    keyedActionId('rest', 'alic', 'ek'),
    keyedActionId('rest', 'alice', 'k '),
  ]
  expect(new Set([keyedActionId('rest', 'alice', 'k'), ...others]).size).toBe(5)
})

/** As the status remembers a template that is held. */
function templateDigest({ spec }: DaemonSet): string {
  return sha256Hex(templateText(spec.template))
}
