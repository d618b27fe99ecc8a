import type { HistoryReport, RecordedAction } from '@tranche/api-schema'
import { actionTypes, observedChangeTypes } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { resultLook } from '../src/format/result-look.ts'
import { actionTitle, releaseName, historyTimeline } from '../src/pages/rollout/history/timeline.ts'

const at = (second: number): string => new Date(Date.parse('2026-11-26T00:00:00Z') + second * 1000).toISOString()

function history(changes: Partial<HistoryReport> = {}): HistoryReport {
  return { revisions: [], heldRevisions: [], actions: [], observedChanges: [], ...changes }
}

function action(changes: Partial<HistoryReport['actions'][number]> = {}): HistoryReport['actions'][number] {
  return { id: 'a1', type: 'approve', by: 'alice', at: at(0), via: 'rest', ...changes }
}

const release = { revision: 'abc', number: 2, images: ['registry.example/agent:v2'], startedAt: at(10), result: 'Completed' as const }

describe('the timeline', () => {
  it('merges everything, newest first, and what has no time last', () => {
    const entries = historyTimeline(
      history({
        releases: [{ ...release, endedAt: at(70) }],
        actions: [action({ at: at(30) })],
        observedChanges: [{ id: 'c1', type: 'template', manager: 'kubectl-patch', at: at(9) }],
        heldRevisions: [{ digest: 'd1', revision: 'old' }],
      }),
    )
    expect(entries.map(({ title }) => title)).toEqual([
      'Release of v2 (revision 2) ended',
      'Approve',
      'Release of v2 (revision 2) started',
      'Pod template changed',
      'Revision old blocked',
    ])
  })

  it('compares times, not texts: the API server writes whole seconds, the controller milliseconds', () => {
    const entries = historyTimeline(
      history({ actions: [action({ id: 'early', at: '2026-11-26T00:00:00Z' }), action({ id: 'late', at: '2026-11-26T00:00:00.500Z' })] }),
    )
    expect(entries.map(({ id }) => id)).toEqual(['late', 'early'])
  })

  it('has one entry of a release that runs, and its end with the duration afterwards', () => {
    expect(historyTimeline(history({ releases: [{ ...release, result: 'Failed', failure: 'node n1 crashes' }] }))).toMatchObject([
      { at: at(10), title: 'Release of v2 (revision 2) started', look: { word: 'Failed' }, why: 'node n1 crashes' },
    ])
    const [end] = historyTimeline(history({ releases: [{ ...release, endedAt: at(255) }] }))
    expect(end).toMatchObject({ look: { word: 'Completed' }, detail: 'after 4m 05s' })
  })

  it('says which config a release changed, unless it failed', () => {
    const changedConfig = ['ConfigMap agent']
    const whyOf = (failure?: string) => historyTimeline(history({ releases: [{ ...release, changedConfig, ...(failure && { failure }) }] }))
    expect([whyOf(), whyOf('node n1 crashes')].map(([entry]) => entry?.why)).toEqual(['changed ConfigMap agent', 'node n1 crashes'])
  })

  it('gives every entry an id of its own', () => {
    const entries = historyTimeline(
      history({
        releases: [
          { ...release, endedAt: at(70) },
          { ...release, startedAt: at(100), endedAt: at(170) },
        ],
        actions: [action(), action({ id: 'a2' })],
        heldRevisions: [{ digest: 'd1' }, { digest: 'd2' }],
      }),
    )
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  })

  it('is empty without a release', () => {
    expect(historyTimeline(history())).toEqual([])
  })
})

describe('an action in the history', () => {
  it.each<[Partial<RecordedAction>, string]>([
    [{ type: 'approve', expectedStep: 2 }, 'Approve step 2'],
    [{ type: 'approve' }, 'Approve'],
    [{ type: 'jump', step: 3, expectedStep: 1 }, 'Jump to step 3'],
    [{ type: 'promote', full: true }, 'Promote without soak and analysis'],
    [{ type: 'promote', full: false }, 'Promote'],
    [{ type: 'undo', toRevision: '4' }, 'Undo to revision 4'],
    [{ type: 'abort', expectedStep: 2 }, 'Abort'],
  ])('%o is %s', (changes, title) => {
    expect(actionTitle(action(changes))).toBe(title)
  })

  it.each([
    ['where it came from', { from: '10.0.0.7' }, { detail: 'over the REST API from 10.0.0.7' }],
    ['that it came from the command line', { via: 'cli' as const }, { detail: 'with the command line' }],
    [
      'why it was rejected',
      { result: 'Refused' as const, refusal: 'the step is over' },
      { look: { word: 'Rejected' }, detail: 'over the REST API; rejected: the step is over' },
    ],
    ['who and why', { by: 'bob', reason: 'looks well' }, { who: 'bob', why: 'looks well' }],
    ['no result while there is none', {}, { look: undefined }],
  ])('says %s', (_case, changes, entry) => {
    expect(historyTimeline(history({ actions: [action(changes)] }))).toMatchObject([entry])
  })

  it('has a name for every type, as a direct change has', () => {
    const titles = [
      ...actionTypes.map((type) => actionTitle(action({ type }))),
      ...observedChangeTypes.map((type) => historyTimeline(history({ observedChanges: [{ id: type, type, at: at(0) }] }))[0]?.title),
    ]
    expect(titles.filter((title) => title === undefined || title.includes('undefined'))).toEqual([])
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe('a blocked revision in the history', () => {
  it.each([
    [
      { reason: 'Aborted' as const, reverted: true },
      { why: 'its release was rolled back', detail: 'the stable template was restored' },
    ],
    [
      { reason: 'Failed' as const, reverts: 2, reverted: true },
      { why: 'its release failed', detail: 'it was applied again, and the stable template was restored 2 times' },
    ],
    [{}, { why: undefined, detail: undefined }],
  ])('%o says why, and what followed', (changes, entry) => {
    expect(historyTimeline(history({ heldRevisions: [{ digest: 'd', ...changes }] }))).toMatchObject([entry])
  })
})

describe('a release in the history', () => {
  it.each([
    [release, 'v2 (revision 2)'],
    [{ revision: 'abc', images: [] }, 'revision abc'],
    [{ revision: 'abc', number: 3, images: ['a:v2', 'b:v7'] }, 'v2, v7 (revision 3)'],
  ])('%o has a name', (named, text) => {
    expect(releaseName(named)).toBe(text)
  })

  it('shows a result of a newer server by its name', () => {
    expect(resultLook('Expired').word).toBe('Expired')
  })
})
