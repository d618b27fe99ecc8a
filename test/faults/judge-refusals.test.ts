import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import type { Asked } from './callers.ts'
import { findWrongRefusals } from './judge-refusals.ts'

interface At {
  readonly step?: number
  readonly state?: string
  readonly phase?: string
  readonly paused?: boolean
  readonly action?: string
  readonly answered?: string
  readonly failure?: object
  readonly finalisingStep?: string
  /** Reason for which it is stalled. */
  readonly stalled?: string
  /** Revision that was rolled back. */
  readonly held?: string
}

/** The Rollout, a second after the last write. */
function rollouts(...states: readonly (At | 'deleted')[]): readonly RecordedWrite[] {
  return states.map((at, index) => {
    const line = { t: (index + 1) * 1_000, kind: 'Rollout', rv: index + 1, uid: 'r' } as const
    if (at === 'deleted') return { ...line, type: 'DELETED', o: { metadata: {}, spec: {} } }
    const {
      step = 1,
      state = 'StepPaused',
      phase = 'Progressing',
      paused = false,
      action,
      answered,
      failure,
      finalisingStep = '',
      stalled,
      held,
    } = at
    const canaryStatus = { currentStepIndex: step, currentStepState: state, canaryRevision: 'v2', stableRevision: 'v1', finalisingStep }
    return {
      ...line,
      type: 'MODIFIED',
      o: {
        metadata: { annotations: action === undefined ? {} : { 'tranche.dev/action': JSON.stringify({ id: action }) } },
        spec: { strategy: { paused, canary: { steps: [{}, {}] } } },
        status: {
          phase,
          canaryStatus,
          ...(stalled !== undefined && { conditions: [{ type: 'Stalled', status: 'True', reason: stalled }] }),
          ...(failure && { failure }),
          ...(held !== undefined && { heldRevisions: [{ revision: held }] }),
          ...(answered !== undefined && { lastAction: { id: answered } }),
        },
      },
    }
  })
}

/** A release of v2, stalled by its policy; templates and revisions have the same names. */
function withoutPolicy({
  stalled = 'PolicyNotFound',
  template = 'v2',
  ...at
}: At & { readonly template?: string }): readonly RecordedWrite[] {
  const line = { t: 500, rv: 0, type: 'MODIFIED', o: {} } as const
  return [
    ...['v1', 'v2', 'v3'].map((hash) => {
      const o = { name: `agent-${hash}`, ownerUid: 'd', hash, revision: 1, template: hash }
      return { ...line, kind: 'ControllerRevision', o } as unknown as RecordedWrite
    }),
    { ...line, kind: 'DaemonSet', uid: 'd', o: { uid: 'd', template } } as unknown as RecordedWrite,
    ...rollouts({ ...at, stalled }),
  ]
}

const here = { expectedStep: 1, revision: 'v2' }

/** Sent after the first write, and refused two seconds later. */
function refused(type: Asked['type'], code: string, body: Asked['body'] = here): Asked {
  return { key: 'ask-1', type, body, sentMs: 1_500, outcome: { kind: 'refused', atMs: 3_500, code }, faults: [] }
}

function unanswered(sentMs: number): Asked {
  return { key: 'ask-1', type: 'pause', body: {}, sentMs, outcome: { kind: 'unanswered', code: 'API_DEADLINE' }, faults: [] }
}

const facts = { quiescentFromMs: 10_000, stalls: [{ actor: 'api-2', fromMs: 11_000, toMs: 12_000 }] }
const found = (writes: readonly RecordedWrite[], asked: Asked): readonly string[] =>
  findWrongRefusals(writes, [asked], facts).map(({ guarantee, text }) => `${guarantee} ${text}`)
const wrongly = (type: string, code = 'MOVED_ON'): readonly string[] => [`G7 the ${type} ask-1 was refused with ${code} without a reason`]

it('an abort may be refused after the DaemonSet was deleted, until a release has ended', () => {
  const gone: RecordedWrite = { t: 500, type: 'DELETED', kind: 'DaemonSet', rv: 0, uid: 'd', o: {} }
  const [ended] = rollouts({ phase: 'Healthy' })
  expect(found([gone, ...rollouts({})], refused('abort', 'ACTION_REJECTED'))).toEqual([])
  expect(found([gone, ...rollouts({})], refused('approve', 'ACTION_REJECTED'))).toEqual(wrongly('approve', 'ACTION_REJECTED'))
  expect(found([gone, { ...ended!, t: 700 }, ...rollouts({})], refused('abort', 'ACTION_REJECTED'))).toEqual(
    wrongly('abort', 'ACTION_REJECTED'),
  )
})

describe('a refusal without a reason', () => {
  it.each<[string, readonly RecordedWrite[], Asked, readonly string[]]>([
    ['of an approval at the step that waits', rollouts({}, {}, {}), refused('approve', 'MOVED_ON'), wrongly('approve')],
    [
      'of a jump to a step that exists',
      rollouts({}),
      refused('jump', 'ACTION_REJECTED', { ...here, step: 2 }),
      wrongly('jump', 'ACTION_REJECTED'),
    ],
    ['of a promotion', rollouts({ state: 'StepUpgrade' }), refused('promote', 'MOVED_ON'), wrongly('promote')],
    ['of an abort, after a failure too', rollouts({ failure: {} }), refused('abort', 'MOVED_ON'), wrongly('abort')],
    [
      'of an abort of a release that is stuck',
      rollouts({ stalled: 'PodsStuck' }),
      refused('abort', 'ACTION_REJECTED'),
      wrongly('abort', 'ACTION_REJECTED'),
    ],
    ...['PolicyNotFound', 'PolicyInvalid'].map((stalled): [string, readonly RecordedWrite[], Asked, readonly string[]] => [
      `of an abort while the policy cannot be used (${stalled})`,
      withoutPolicy({ stalled }),
      refused('abort', 'ACTION_REJECTED'),
      wrongly('abort', 'ACTION_REJECTED'),
    ]),
    [
      'of a retry of a failed release',
      rollouts({ stalled: 'ReleaseFailed' }),
      refused('retry', 'ACTION_REJECTED'),
      wrongly('retry', 'ACTION_REJECTED'),
    ],
    [
      'of a retry of a failed release whose template was not replaced, while the controller has not read the spec',
      withoutPolicy({ stalled: 'ReleaseFailed' }).map((write) =>
        write.kind === 'Rollout' ? { ...write, o: { ...write.o, metadata: { generation: 2, annotations: {} } } } : write,
      ),
      refused('retry', 'ACTION_REJECTED'),
      wrongly('retry', 'ACTION_REJECTED'),
    ],
    ['of a pause', rollouts({ phase: 'Healthy' }), refused('pause', 'ACTION_REJECTED', {}), wrongly('pause', 'ACTION_REJECTED')],
    [
      'of a resume of a paused release',
      rollouts({ paused: true }),
      refused('resume', 'ACTION_REJECTED', {}),
      wrongly('resume', 'ACTION_REJECTED'),
    ],
    [
      'by the controller, of the action that was written',
      rollouts({}, { action: 'a' }, { action: 'a' }),
      refused('approve', 'MOVED_ON'),
      wrongly('approve'),
    ],
    [
      'for an action that has its answer',
      rollouts({ action: 'a', answered: 'a' }),
      refused('approve', 'ACTION_PENDING'),
      wrongly('approve', 'ACTION_PENDING'),
    ],
    [
      'of a jump as invalid, to a step that exists',
      rollouts({}),
      refused('jump', 'ACTION_INVALID', { ...here, step: 2 }),
      wrongly('jump', 'ACTION_INVALID'),
    ],
    [
      'of an action because the Rollout is missing, though it exists',
      rollouts({}),
      refused('promote', 'ROLLOUT_NOT_FOUND'),
      wrongly('promote', 'ROLLOUT_NOT_FOUND'),
    ],
    ['with a code that is not about the release', rollouts({}), refused('pause', 'NOT_BOUND', {}), wrongly('pause', 'NOT_BOUND')],
  ])('is found: %s (G7)', (_what, writes, asked, expected) => {
    expect(found(writes, asked)).toEqual(expected)
  })
})

describe('a refusal with a reason', () => {
  it.each<[string, readonly RecordedWrite[], Asked]>([
    ['the release moves on meanwhile', rollouts({}, {}, { step: 2 }), refused('approve', 'MOVED_ON')],
    ['the step does not wait', rollouts({ state: 'StepUpgrade' }), refused('approve', 'MOVED_ON')],
    ['the action names another revision', rollouts({}), refused('approve', 'MOVED_ON', { ...here, revision: 'v3' })],
    ['no release is under way', rollouts({ phase: 'Healthy' }), refused('promote', 'MOVED_ON')],
    ['the steps are over', rollouts({ finalisingStep: 'ResumeWorkload' }), refused('promote', 'ACTION_REJECTED')],
    ['the version has failed', rollouts({ failure: {} }), refused('promote', 'ACTION_REJECTED')],
    ['the DaemonSet that the Rollout names is missing', rollouts({ stalled: 'WorkloadNotFound' }), refused('abort', 'ACTION_REJECTED')],
    [
      'the policy is missing and the action is not an abort',
      rollouts({ stalled: 'PolicyNotFound' }),
      refused('approve', 'ACTION_REJECTED'),
    ],
    [
      'another template was applied meanwhile',
      withoutPolicy({ stalled: 'PodsStuck', template: 'v3' }),
      refused('promote', 'ACTION_REJECTED'),
    ],
    [
      'the version failed, and another template was applied meanwhile',
      withoutPolicy({ stalled: 'ReleaseFailed', template: 'v3' }),
      refused('retry', 'ACTION_REJECTED'),
    ],
    [
      'the controller has not read the spec yet',
      rollouts({}).map((write) => ({ ...write, o: { ...write.o, metadata: { generation: 2, annotations: {} } } })),
      refused('approve', 'ACTION_REJECTED'),
    ],
    ['the policy is missing and the revision was rolled back', withoutPolicy({ held: 'v2' }), refused('abort', 'ACTION_REJECTED')],
    ['the policy is missing and another template was applied', withoutPolicy({ template: 'v3' }), refused('abort', 'ACTION_REJECTED')],
    ['there is nothing to retry', rollouts({}), refused('retry', 'ACTION_REJECTED')],
    ['there is no such step', rollouts({}), refused('jump', 'ACTION_REJECTED', { ...here, step: 3 })],
    ['nothing is paused', rollouts({}), refused('resume', 'ACTION_REJECTED', {})],
    ['the Rollout is gone', rollouts({}, 'deleted'), refused('pause', 'MOVED_ON', {})],
    ['another action takes its place', rollouts({}, { action: 'a' }, { action: 'b' }), refused('promote', 'MOVED_ON')],
    ['another action waits for its answer', rollouts({ action: 'a' }), refused('approve', 'ACTION_PENDING')],
    ['the Rollout that is not found is gone', rollouts({}, 'deleted'), refused('approve', 'ROLLOUT_NOT_FOUND')],
    ['the step that the code calls invalid does not exist', rollouts({}), refused('jump', 'ACTION_INVALID', { ...here, step: 3 })],
  ])('is correct if %s', (_why, writes, asked) => {
    expect(found(writes, asked)).toEqual([])
  })
})

describe('an action without an answer', () => {
  it('is found after the last fault (G7)', () => {
    expect(found([], unanswered(13_000))).toEqual(['G7 the pause ask-1 was never answered: API_DEADLINE'])
  })

  it('is no violation in the storm, nor while a process of the API is frozen', () => {
    expect(found([], unanswered(9_000))).toEqual([])
    expect(found([], unanswered(11_500))).toEqual([])
  })
})
