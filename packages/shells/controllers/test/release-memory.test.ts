import { FakeClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { memoryOf, type ReleaseMemory, viewOf } from '../src/release-memory.ts'
import { aReading } from './recording-port.ts'

it('keeps what is known of unhealthy nodes while definitions hide the watch data (F11, G12)', () => {
  const clock = new FakeClock()
  const memories = new Map<string, ReleaseMemory>()
  const memory = memoryOf(memories, { namespace: 'demo', name: 'agent' }, clock)
  const watchedNodes = [{ node: 'a', since: '2023-11-14T21:30:00.000Z', uid: 'pod-a', restarts: 1, seen: 4, ignoredRestarts: 4 }]
  const reading = aReading({ state: 'stopped' })
  const { release } = reading
  const deleted = { ...release.metadata, deletionTimestamp: '2023-11-14T22:00:00Z' }
  const stoppedTime = { release: release.spec.tranche?.release ?? '', startedAt: '2023-11-14T21:00:00.000Z', seconds: 0 }
  const stored = { ...release, metadata: deleted, status: { ...release.status, stoppedTime, watchedNodes } }
  const watchedIn = (status: typeof release.status, schemaGap?: string): unknown =>
    viewOf({ ...reading, release: { ...stored, status }, schemaGap }, memory, clock).watched
  expect(watchedIn({}, 'outdated')).toEqual([])
  expect(watchedIn(stored.status)).toEqual(watchedNodes)
  expect(watchedIn({}, 'outdated')).toEqual(watchedNodes)
  expect(watchedIn(stored.status)).toEqual(watchedNodes)
})

it.each<[sentence: string, lease: string, afterMs: number, why: string | undefined]>([
  ['says why a Lease could not be taken', 'tranche-group.a', 9_999, 'exceeded quota'],
  ['does not once it may be tried again', 'tranche-group.a', 10_000, undefined],
  ['does not for the Lease of another group, after a change of the policy', 'tranche-group.b', 0, undefined],
])('%s', (_sentence, lease, afterMs, why) => {
  const clock = new FakeClock()
  const memory = memoryOf(new Map(), { namespace: 'demo', name: 'agent' }, clock)
  memory.takeFailure = { lease: 'tranche-group.a', why: 'exceeded quota', againMs: clock.monotonicMs() + 10_000 }
  clock.advance(afterMs)
  const group = { wanted: lease, name: lease, lease: null, holder: undefined, members: [], refused: null }
  expect(viewOf({ ...aReading({ state: 'stopped' }), group }, memory, clock).group?.takeFailure).toBe(why)
})

describe('a live list of nodes', () => {
  const said = (unseen: readonly string[], ...counts: readonly number[]): unknown => answerOf({ unseen, counts })

  it.each<[sentence: string, answer: unknown, unseen: readonly string[] | null | undefined]>([
    ['says which of its nodes the view lacks', said(['x'], 2), ['x']],
    ['is kept where the DaemonSet controller counts fewer than then', said(['x'], 1), ['x']],
    ['says nothing where the DaemonSet controller counts more than then', said(['x'], 3), null],
    ['says nothing where the count has fallen and risen again', said([], 1, 2), null],
    ['is forgotten once the view has all nodes', said(['x'], 0), undefined],
    ['is forgotten with its DaemonSet', answerOf({ unseen: ['x'], counts: [2], uid: 'another' }), undefined],
    ['says for 30 seconds that the view has all', answerOf({ unseen: [], counts: [2], afterMs: 29_999 }), []],
    ['says nothing after that', answerOf({ unseen: [], counts: [2], afterMs: 30_000 }), null],
  ])('%s', (_sentence, answer, unseen) => {
    expect(answer).toEqual(unseen)
  })
})

/**
 * What a list that was read at a count of two more than the view has says later.
 *
 * @param counts how many nodes more than the view the DaemonSet controller counted since
 */
function answerOf({ unseen, counts, uid = 'daemonset', afterMs = 0 }: Listed): readonly string[] | null | undefined {
  const clock = new FakeClock()
  const memory = memoryOf(new Map(), { namespace: 'demo', name: 'agent' }, clock)
  const reading = aReading({ state: 'open' })
  const shown = reading.fleet.nodes.map(({ name }) => name)
  const listed = unseen.length === 0 ? [] : [shown[0] ?? '', ...unseen]
  memory.nodeList = { uid, counted: shown.length + 2, unseen: listed, againMs: clock.monotonicMs() + 30_000 }
  clock.advance(afterMs)
  const answers = counts.map((more) => {
    const status = { ...reading.daemonSet?.status, desiredNumberScheduled: shown.length + more }
    const view = viewOf({ ...reading, daemonSet: reading.daemonSet && { ...reading.daemonSet, status } }, memory, clock)
    expect(memory.nodeList?.unseen).toEqual(view.nodeList?.unseen)
    return view.nodeList?.unseen
  })
  return answers.at(-1)
}

interface Listed {
  readonly unseen: readonly string[]
  readonly counts: readonly number[]
  readonly uid?: string
  readonly afterMs?: number
}
