import type { Receiver, RolloutStatus } from '@tranche/api-schema'
import { withNotifications } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aReceiver, aRollout, aStatus, T0 } from './statuses.ts'

const pausing = { before: aStatus('StepUpgrade'), after: aStatus('StepPaused') }

describe('the notifications of a status write', () => {
  const failure = { reason: 'ReleaseFailed', message: '1 of 3 nodes failed', nodes: Array.from({ length: 12 }, (_, at) => `node-${at}`) }
  const held = { revision: 'new', digest: 'd', reason: 'Failed', at: '2026-01-01T00:00:00Z' } as const
  const cases: Record<string, { before: RolloutStatus | undefined; after: RolloutStatus; want: readonly string[] }> = {
    'report a release that starts': {
      before: aStatus('Completed', { reason: 'Completed' }),
      after: aStatus('BeforeStepUpgrade', { reason: 'Initializing' }),
      want: ['ReleaseStarted'],
    },
    'report a step that pauses': { ...pausing, want: ['StepPaused'] },
    'report a release that is over': {
      before: aStatus('Completed', { reason: 'Finalising' }),
      after: aStatus('Completed', { reason: 'Completed' }),
      want: ['ReleaseCompleted'],
    },
    'report a rollback that is over': {
      before: aStatus('Completed', { reason: 'Cancelling' }),
      after: { ...aStatus('Completed', { reason: 'Completed' }), rollbackFrom: 'new' },
      want: ['RollbackCompleted'],
    },
    'report a version that failed': {
      before: aStatus('StepUpgrade'),
      after: aStatus('StepUpgrade', { stalled: 'ReleaseFailed' }),
      want: ['ReleaseFailed'],
    },
    'report a version that failed and is rolled back': {
      before: aStatus('StepUpgrade'),
      after: { ...aStatus('StepUpgrade'), heldRevisions: [held], failure },
      want: ['ReleaseFailed'],
    },
    'report an inconclusive analysis': {
      before: aStatus('StepUpgrade'),
      after: aStatus('StepUpgrade', { stalled: 'AnalysisInconclusive' }),
      want: ['AnalysisInconclusive'],
    },
    'report any other stall reason': { before: undefined, after: aStatus('StepUpgrade', { stalled: 'BudgetZero' }), want: ['Stalled'] },
    'do not report changed counts': {
      before: aStatus('StepPaused'),
      after: { ...aStatus('StepPaused'), message: 'else' },
      want: [],
    },
    'do not report a requested pause': {
      before: aStatus('StepUpgrade'),
      after: aStatus('StepUpgrade', { reason: 'Paused' }),
      want: [],
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { before, after, want }) => {
    expect(report(before, after).notifications?.map(({ event }) => event) ?? []).toEqual(want)
  })

  it('name the time, the revision, the step, and at most ten nodes', () => {
    const { notifications } = report(aStatus('StepUpgrade'), { ...aStatus('StepUpgrade', { step: 2 }), heldRevisions: [held], failure })
    expect(notifications).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        receiver: 'a',
        event: 'ReleaseFailed',
        message: 'revision new failed: 1 of 3 nodes failed; it is rolled back',
        at: '2026-01-01T00:00:00.000Z',
        revision: 'new',
        step: 2,
        nodes: failure.nodes.slice(0, 10),
      },
    ])
  })

  it('go to each subscribed receiver, after its pending ones', () => {
    const waiting = { id: '1', receiver: 'z', event: 'Stalled', message: '', at: '2026-01-01T00:00:00Z' } as const
    const receivers = [aReceiver('a', { events: ['Stalled'] }), aReceiver('b', { events: ['StepPaused'] }), aReceiver('c')]
    const { notifications } = report(pausing.before, { ...pausing.after, notifications: [waiting] }, { receivers })
    expect(notifications?.map(({ receiver }) => receiver)).toEqual(['z', 'b', 'c'])
  })

  it('are cut at the maximum length', () => {
    const { notifications } = report(pausing.before, { ...pausing.after, message: 'x'.repeat(5_000) })
    expect(notifications?.[0]?.message.length).toBe(1_024)
  })
})

describe('the id of a notification', () => {
  const idsOf = (options: Options): readonly string[] => report(pausing.before, pausing.after, options).notifications!.map(({ id }) => id)

  it('is the same however often the same state is decided again', () => {
    expect(idsOf({ nowMs: T0 + 60_000 })).toEqual(idsOf({}))
  })

  it('differs for another receiver, and for the same event on another version of the Rollout', () => {
    const receivers = [aReceiver('a'), aReceiver('b')]
    expect(new Set([...idsOf({ receivers }), ...idsOf({ receivers, resourceVersion: '8' })]).size).toBe(4)
  })
})

describe('reminders', () => {
  const minutes = 60_000
  const every30 = aReceiver('a', { remindAfter: '30m' })
  const cases: Record<
    string,
    { status: RolloutStatus; receivers?: readonly Receiver[]; afterMs: number; want: readonly string[]; nextMs: number | null }
  > = {
    'are sent while a step waits for approval': { status: aStatus('StepPaused'), afterMs: 30 * minutes, want: ['a'], nextMs: 30 * minutes },
    'are not sent before their time': { status: aStatus('StepPaused'), afterMs: 20 * minutes, want: [], nextMs: 10 * minutes },
    'are not sent for a step that the clock ends': {
      status: aStatus('StepPaused', { step: 2 }),
      afterMs: 90 * minutes,
      want: [],
      nextMs: null,
    },
    'are not sent while no person is waited for': { status: aStatus('StepUpgrade'), afterMs: 90 * minutes, want: [], nextMs: null },
    'are sent while the Rollout is stalled': {
      status: aStatus('StepUpgrade', { stalled: 'ReleaseFailed' }),
      afterMs: 30 * minutes,
      want: ['a'],
      nextMs: 30 * minutes,
    },
    'are sent while it is paused on purpose': {
      status: aStatus('StepUpgrade', { reason: 'Paused' }),
      afterMs: 31 * minutes,
      want: ['a'],
      nextMs: 29 * minutes,
    },
    'are sent while it waits for a right that a person must give': {
      status: { ...aStatus('StepUpgrade'), waitingFor: waits('DrainNotAllowed') },
      afterMs: 30 * minutes,
      want: ['a'],
      nextMs: 30 * minutes,
    },
    'are not sent while it waits for what may end by itself': {
      status: { ...aStatus('StepUpgrade'), waitingFor: waits('NoRoom') },
      afterMs: 30 * minutes,
      want: [],
      nextMs: null,
    },
    'are not sent for a right after the release': {
      status: { ...aStatus('Completed', { reason: 'Completed' }), waitingFor: waits('DrainNotAllowed') },
      afterMs: 30 * minutes,
      want: [],
      nextMs: null,
    },
    'are sent once for the hours in which no controller ran': {
      status: aStatus('StepPaused'),
      afterMs: 200 * minutes,
      want: ['a'],
      nextMs: 10 * minutes,
    },
    'are sent again when the interval has passed again': {
      status: { ...aStatus('StepPaused'), remindedAt: at(30 * minutes) },
      afterMs: 60 * minutes,
      want: ['a'],
      nextMs: 30 * minutes,
    },
    'are sent once per interval': {
      status: { ...aStatus('StepPaused'), remindedAt: at(30 * minutes) },
      afterMs: 59 * minutes,
      want: [],
      nextMs: 1 * minutes,
    },
    'count from the start of this wait, whatever was sent in another': {
      status: { ...aStatus('StepPaused'), remindedAt: at(-60 * minutes) },
      afterMs: 29 * minutes,
      want: [],
      nextMs: 1 * minutes,
    },
    'are sent to each receiver at its own interval': {
      status: { ...aStatus('StepPaused'), remindedAt: at(50 * minutes) },
      receivers: [aReceiver('b', { remindAfter: '1h' }), aReceiver('c', { remindAfter: '50m' })],
      afterMs: 60 * minutes,
      want: ['b'],
      nextMs: 40 * minutes,
    },
    'are not sent to a receiver that does not subscribe to them': {
      status: aStatus('StepPaused'),
      receivers: [aReceiver('b'), aReceiver('c', { remindAfter: '1m', events: ['StepPaused'] })],
      afterMs: 60 * minutes,
      want: [],
      nextMs: null,
    },
    'are at least a minute apart': {
      status: aStatus('StepPaused'),
      receivers: [aReceiver('a', { remindAfter: '1ms' })],
      afterMs: 59_000,
      want: [],
      nextMs: 1_000,
    },
    'are not sent by a clock that was set back': { status: aStatus('StepPaused'), afterMs: -60 * minutes, want: [], nextMs: 90 * minutes },
  }

  it.each(Object.entries(cases))('%s', (_name, { status, receivers = [every30], afterMs, want, nextMs }) => {
    const reported = withNotifications(status, { rollout: aRollout(status), receivers, nowMs: T0 + afterMs })
    expect(reported.status.notifications?.map(({ receiver, event }) => event === 'Reminder' && receiver) ?? []).toEqual(want)
    expect(reported.recheckAfterMs).toBe(nextMs)
    if (want.length > 0) expect(reported.status.remindedAt).toBe(at(afterMs))
  })

  it('state since when it waits', () => {
    const status = aStatus('StepPaused')
    const reported = withNotifications(status, { rollout: aRollout(status), receivers: [every30], nowMs: T0 + 30 * minutes })
    expect(reported.status.notifications?.[0]?.message).toBe('waiting for a person since 2026-01-01T00:00:00.000Z: step 1 is StepPaused')
  })

  it('do not pile up for a receiver that has not taken the last one, and end with the wait', () => {
    const first = withNotifications(aStatus('StepPaused'), {
      rollout: aRollout(aStatus('StepPaused')),
      receivers: [every30],
      nowMs: T0 + 30 * minutes,
    })
    const second = withNotifications(first.status, { rollout: aRollout(first.status), receivers: [every30], nowMs: T0 + 60 * minutes })
    expect(second.status.notifications).toEqual(first.status.notifications)
    expect(second.status.remindedAt).toBe(at(60 * minutes))
    const going = { ...aStatus('StepReady'), remindedAt: at(60 * minutes) }
    expect(
      withNotifications(going, { rollout: aRollout(second.status), receivers: [every30], nowMs: T0 }).status.remindedAt,
    ).toBeUndefined()
  })
})

interface Options {
  readonly receivers?: readonly Receiver[]
  readonly nowMs?: number
  readonly resourceVersion?: string
}

function report(
  before: RolloutStatus | undefined,
  after: RolloutStatus,
  { receivers = [aReceiver('a')], nowMs = T0, resourceVersion = '7' }: Options = {},
): RolloutStatus {
  return withNotifications(after, { rollout: aRollout(before, resourceVersion), receivers, nowMs }).status
}

function at(ms: number): string {
  return new Date(T0 + ms).toISOString()
}

function waits(reason: string): NonNullable<RolloutStatus['waitingFor']> {
  return { reason, message: 'held', nodes: ['node-1'], since: new Date(T0).toISOString() }
}
