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
  it.each<[sentence: string, counted: number, uid: string, hidden: readonly string[] | null | undefined]>([
    ['says which of its nodes the view lacks', 6, 'daemonset', ['x']],
    ['is kept where the DaemonSet controller counts fewer than then', 5, 'daemonset', ['x']],
    ['says nothing where the DaemonSet controller counts more than then', 7, 'daemonset', null],
    ['is forgotten once the view has all nodes', 4, 'daemonset', undefined],
    ['is forgotten with its DaemonSet', 6, 'another', undefined],
  ])('%s', (_sentence, counted, uid, hidden) => {
    const clock = new FakeClock()
    const memory = memoryOf(new Map(), { namespace: 'demo', name: 'agent' }, clock)
    const reading = aReading({ state: 'open' })
    const shown = reading.fleet.nodes.map(({ name }) => name)
    memory.nodeList = { uid, counted: shown.length + 2, hidden: [shown[0] ?? '', 'x'], againMs: 30_000 }
    const status = { ...reading.daemonSet?.status, desiredNumberScheduled: shown.length - 4 + counted }
    const view = viewOf({ ...reading, daemonSet: reading.daemonSet && { ...reading.daemonSet, status } }, memory, clock)
    expect([view.nodeList?.hidden, memory.nodeList?.hidden]).toEqual([hidden, hidden])
  })
})
