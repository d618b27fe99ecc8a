import type { HistoryReport, RolloutSummary } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { coverageOf } from '../src/pages/record/coverage.ts'
import { createHistoryReader, MOST_READS } from '../src/pages/record/history-reader.ts'
import { readingOrder } from '../src/pages/record/reading-order.ts'
import { entriesOf, lookOfResult, type RecordEntry } from '../src/pages/record/record-entry.ts'
import { csvOf, fileNameOf, jsonOf } from '../src/pages/record/record-export.ts'
import {
  fieldValueOf,
  filterRecord,
  momentOfField,
  type RecordFilter,
  recordFilterOf,
  recordQueryOf,
} from '../src/pages/record/record-filter.ts'
import { summary } from './builders.ts'

const at = '2026-11-26T02:00:00.000Z'

function entry(changes: Partial<RecordEntry> = {}): RecordEntry {
  const place = { namespace: 'demo', rollout: 'agent' }
  return {
    id: '1',
    at,
    ...place,
    kind: 'action',
    type: 'approve',
    what: 'approve',
    who: 'alice',
    why: '',
    result: '',
    detail: '',
    ...changes,
  }
}

describe('the entries of a history', () => {
  const empty: HistoryReport = { revisions: [], heldRevisions: [], actions: [], observedChanges: [] }
  const only = (history: Partial<HistoryReport>): RecordEntry | undefined =>
    entriesOf({ namespace: 'demo', name: 'agent' }, { ...empty, ...history })[0]
  const action = { id: '1', at, by: 'alice', via: 'rest' as const }

  it.each<[string, HistoryReport['actions'][number], Partial<RecordEntry>]>([
    [
      'of an approval has its step',
      { ...action, type: 'approve', expectedStep: 2 },
      { what: 'approve step 2', who: 'alice', kind: 'action' },
    ],
    ['of a jump has its target', { ...action, type: 'jump', expectedStep: 1, step: 3 }, { what: 'jump to step 3' }],
    ['of a full promotion says so', { ...action, type: 'promote', full: true }, { what: 'promote in full' }],
    ['of an undo has its revision', { ...action, type: 'undo', toRevision: '3' }, { what: 'undo to revision 3' }],
    ['has the address of its request', { ...action, type: 'pause', from: '10.0.0.1' }, { detail: 'by REST from 10.0.0.1' }],
    [
      'has the reason of a rejection',
      { ...action, type: 'retry', result: 'Refused', refusal: 'nothing failed' },
      { result: 'Refused', detail: 'nothing failed' },
    ],
  ])('%s', (_title, one, want) => {
    expect(only({ actions: [one] })).toMatchObject(want)
  })

  it('of a direct change names the program, not a user', () => {
    expect(only({ observedChanges: [{ id: '1', at, type: 'template', manager: 'argocd' }] })).toMatchObject({
      ...{ kind: 'change', type: 'template', what: 'new pod template', who: 'argocd', detail: 'written to the object directly' },
    })
  })

  it('of a release has version, result and end', () => {
    const release = {
      revision: '7f',
      number: 2,
      images: ['registry.example/agent:v2'],
      startedAt: at,
      endedAt: at,
      result: 'Completed' as const,
    }
    expect(only({ releases: [release] })).toMatchObject({
      ...{ kind: 'release', what: 'release of v2 (revision 2)', result: 'Completed', who: '', detail: `ended ${at}` },
    })
    expect(only({ releases: [{ revision: '7f', images: [], startedAt: at, result: 'Failed', failure: 'crashes' }] })).toMatchObject({
      ...{ what: 'release of 7f', why: 'crashes', detail: 'not over yet' },
    })
  })

  it('show a result of a later version as it is', () => {
    expect(lookOfResult('Refused')?.word).toBe('Rejected')
    expect(lookOfResult('Postponed')?.word).toBe('Postponed')
    expect(lookOfResult('')).toBeUndefined()
  })
})

describe('the filter of the record', () => {
  const none = recordFilterOf({})
  const entries = [
    entry({ id: 'old', at: '2026-11-20T00:00:00Z', who: 'Bob' }),
    entry({ id: 'new', at: '2026-11-26T01:30:00Z', type: 'pause' }),
    entry({ id: 'day', at: '2026-11-25T12:00:00Z', kind: 'release', type: 'release', who: '' }),
  ]
  const nowMs = Date.parse(at)

  it.each<[string, Partial<RecordFilter>, readonly string[]]>([
    ['everything, newest first', {}, ['new', 'day', 'old']],
    ['a user, in any case', { user: 'bob' }, ['old']],
    ['an action', { type: 'pause' }, ['new']],
    ['releases', { type: 'release' }, ['day']],
    ['the last hour', { span: '1h' }, ['new']],
    ['the last day', { span: '24h' }, ['new', 'day']],
    ['the last week', { span: '7d' }, ['new', 'day', 'old']],
    ['from a moment on', { span: 'between', from: '2026-11-25T12:00:00Z' }, ['new', 'day']],
    ['up to a moment', { span: 'between', to: '2026-11-25T12:00:00Z' }, ['day', 'old']],
    ['all while no bound is given', { span: 'between' }, ['new', 'day', 'old']],
  ])('shows %s', (_title, filter, want) => {
    expect(filterRecord(entries, { ...none, ...filter }, nowMs).map(({ id }) => id)).toEqual(want)
  })

  it.each<RecordFilter>([
    none,
    { ...none, rollout: 'demo/agent', user: 'alice', type: 'approve', span: '24h' },
    { ...none, span: 'between' },
    { ...none, span: 'between', from: '2026-11-25T12:00:00.000Z', to: '2026-11-26T12:00:00.000Z' },
  ])('comes back from the URL: %j', (filter) => {
    expect(recordFilterOf(recordQueryOf(filter))).toEqual(filter)
  })

  it('ignores values of a URL that it does not know', () => {
    expect(recordFilterOf({ action: 'explode', since: 'forever', from: 'yesterday' })).toEqual(none)
    expect(recordQueryOf(none)).toEqual({})
  })

  it('shows a moment in the zone of the browser, and reads it back', () => {
    expect(momentOfField(fieldValueOf(at))).toBe(at)
    expect(fieldValueOf('')).toBe('')
    expect(momentOfField('')).toBe('')
  })
})

describe('the rollouts to read', () => {
  const rollouts = new Map(
    [
      summary({ name: 'agent', createdAt: '2026-11-01T00:00:00Z' }),
      summary({
        name: 'agent-two',
        createdAt: '2026-11-02T00:00:00Z',
        step: { index: 1, count: 1, state: '', since: '2026-11-26T00:00:00Z' },
      }),
      summary({ name: 'proxy', namespace: 'edge', createdAt: '2026-11-03T00:00:00Z', releaseStartedAt: '2026-11-25T00:00:00Z' }),
    ].map((one): [string, RolloutSummary] => [`${one.namespace}/${one.name}`, one]),
  )

  it.each([
    ['all, the latest change first', '', ['demo/agent-two', 'edge/proxy', 'demo/agent']],
    ['those of a namespace', 'edge/', ['edge/proxy']],
    ['those with a text', 'AGENT', ['demo/agent-two', 'demo/agent']],
    ['only the one that is named in full', 'demo/agent', ['demo/agent']],
    ['one that the fleet does not have', 'other/agent', ['other/agent']],
    ['none if nothing matches', 'nothing', []],
    ['none if the text is no name', 'a/b/c', []],
  ])('are %s', (_title, text, want) => {
    expect(readingOrder(rollouts, text).map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(want)
  })
})

describe('reading histories', () => {
  const key = (name: string) => ({ namespace: 'demo', name })
  const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  /** A reader whose requests the test answers. */
  function started() {
    const asked = new Map<string, PromiseWithResolvers<readonly RecordEntry[]>>()
    const order: string[] = []
    let version = 'v1'
    const reader = createHistoryReader({
      read({ name }) {
        order.push(name)
        asked.set(name, Promise.withResolvers())
        return asked.get(name)!.promise
      },
      resourceVersionOf: () => version,
    })
    const answer = async (name: string): Promise<void> => {
      asked.get(name)?.resolve([entry({ id: name })])
      await turn()
    }
    const fail = async (name: string): Promise<void> => {
      asked.get(name)?.reject(new Error('forbidden'))
      await turn()
    }
    return { reader, order, answer, fail, setVersion: (next: string) => void (version = next) }
  }

  it('asks for at most four at a time, in order', async () => {
    const { reader, order, answer } = started()
    reader.want(['a', 'b', 'c', 'd', 'e', 'f'].map(key))
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect(order).toHaveLength(MOST_READS)
    expect(reader.snapshot().pending).toBe(6)
    await answer('c')
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(reader.snapshot().pending).toBe(5)
  })

  it('does not read the same history twice when the list changes', async () => {
    const { reader, order, answer } = started()
    reader.want(['a', 'b'].map(key))
    await answer('a')
    reader.want(['c', 'b', 'a'].map(key))
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('no longer reads what is no longer wanted', async () => {
    const { reader, order, answer } = started()
    reader.want(['a', 'b', 'c', 'd', 'e'].map(key))
    reader.want([key('f')])
    await answer('a')
    expect(order).toEqual(['a', 'b', 'c', 'd', 'f'])
  })

  it('starts nothing after a stop, and keeps what was read', async () => {
    const { reader, order, answer } = started()
    reader.want(['a', 'b', 'c', 'd', 'e'].map(key))
    reader.stop()
    await answer('a')
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect([...reader.snapshot().histories.keys()]).toEqual(['demo/a'])
  })

  it('keeps a failure, and reads again on request', async () => {
    const { reader, order, fail, answer } = started()
    reader.want([key('a')])
    await fail('a')
    expect(reader.snapshot().histories.get('demo/a')).toMatchObject({ entries: [], error: new Error('forbidden') })
    reader.again([key('a')])
    await answer('a')
    expect(order).toEqual(['a', 'a'])
    expect(reader.snapshot().histories.get('demo/a')?.error).toBeUndefined()
  })

  it('does not forget a repeated read when the list changes', async () => {
    const { reader, order, answer } = started()
    reader.want([key('a')])
    await answer('a')
    reader.want(['b', 'c', 'd', 'e', 'f'].map(key))
    reader.again([key('a')])
    reader.want([key('g')])
    await answer('b')
    await answer('c')
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'g'])
  })

  it('notifies its listeners of every answer, with the state before the read', async () => {
    const { reader, answer, setVersion } = started()
    let calls = 0
    const end = reader.subscribe(() => calls++)
    reader.want([key('a')])
    setVersion('v2')
    await answer('a')
    expect(calls).toBe(2)
    expect(reader.snapshot().histories.get('demo/a')?.resourceVersion).toBe('v1')
    end()
    reader.want([key('b')])
    expect(calls).toBe(2)
  })

  it('covers what was read, failed, changed since, or is left', async () => {
    const { reader, answer, fail } = started()
    reader.want(['a', 'b', 'c'].map(key))
    await answer('a')
    await answer('b')
    await fail('c')
    const rollouts = new Map([
      ['demo/a', summary({ resourceVersion: 'v1' })],
      ['demo/b', summary({ resourceVersion: 'v2' })],
    ])
    expect(coverageOf(['a', 'b', 'c', 'd'].map(key), reader.snapshot().histories, rollouts)).toMatchObject({
      ...{ read: [key('a'), key('b')], failed: [{ key: key('c') }], notRead: [key('d')], outdated: [key('b')] },
    })
  })
})

describe('the export of the record', () => {
  const whyIn = (why: string): string => {
    const row = csvOf([entry({ why, who: '', what: '' })])
      .split('\r\n')
      .slice(1)
      .join('\r\n')
    return row.slice(row.indexOf('"","",') + 6, row.lastIndexOf(',"","","1"'))
  }

  it.each([
    ['plain text', 'all is well', '"all is well"'],
    ['quotes', 'say "go"', '"say ""go"""'],
    ['commas and lines', 'a, b\nc', '"a, b\nc"'],
    ['a hyphen within the text', 'node-7 = slow', '"node-7 = slow"'],
    ['a formula', '=1+2', `"'=1+2"`],
    ['a call', '@SUM(A1)', `"'@SUM(A1)"`],
    ['a number with a sign', '-1', `"'-1"`],
    ['a plus', '+1', `"'+1"`],
    ['a formula in full width', '＝1+2', `"'＝1+2"`],
    ['a formula after spaces', '  =1', `"  '=1"`],
    ['a formula after a tab', '\t=1', `"\t'=1"`],
    ['a formula after an invisible character', '\u200e=1', `"\u200e'=1"`],
    ['a formula after a quote', '"=1', `"""'=1"`],
    ['a formula after a semicolon, which separates cells in some countries', 'a;=1', `"a;'=1"`],
    ['a formula in a further line', 'a\r\n=1', `"a\r\n'=1"`],
  ])('keeps a spreadsheet from running %s', (_title, why, want) => {
    expect(whyIn(why)).toBe(want)
  })

  it('has a heading and one line for each entry', () => {
    expect(csvOf([entry({ why: 'ok' })])).toBe(
      '\u{feff}at,namespace,rollout,kind,type,what,who,why,result,detail,id\r\n' +
        `"${at}","demo","agent","action","approve","approve","alice","ok","","","1"\r\n`,
    )
  })

  it('as JSON is unchanged, and says what it does not cover', () => {
    const scope = { exportedAt: at, filter: { user: 'alice' }, rolloutsRead: 2, rolloutsNotRead: 3 }
    expect(JSON.parse(jsonOf([entry({ why: '=1' })], scope))).toEqual({ ...scope, entries: [entry({ why: '=1' })] })
  })

  it('has a name with the time', () => {
    expect(fileNameOf(Date.parse(at), 'csv')).toBe('tranche-record-2026-11-26-0200.csv')
  })
})
