import { type FleetNode, type ObservationTime, toFleetNode } from '@tranche/fleet'
import { aNode } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const at = (monotonicMs: number): ObservationTime => ({ nowMs: 1_700_000_000_000, monotonicMs })
const [earlier, later] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z']
const ready = aNode('a')
const silent = (notReadySince = earlier) => aNode('a', { ready: false, answers: false, notReadySince })
const notReady = (notReadySince = earlier) => aNode('a', { ready: false, notReadySince })

describe('the time at which this process saw a node become NotReady', () => {
  it.each<[string, readonly ReturnType<typeof aNode>[], number | undefined]>([
    ['is that of its first look at it since it was Ready', [ready, silent(), silent()], 1],
    ['is unknown where it never saw the node Ready', [silent(), silent()], undefined],
    ['is that of a change of its condition, where the node answers again', [silent(), notReady(later)], 1],
    ['is that of a change of its condition, where it was Ready in between', [ready, silent(), silent(later)], 2],
    ['is unknown while it is Ready', [ready, silent(), ready], undefined],
    [
      'is unknown where it is another node of the same name',
      [ready, { ...silent(), metadata: { ...silent().metadata, uid: 'other' } }],
      undefined,
    ],
  ])('%s', (_name, looks, want) => {
    const last = looks.reduce<FleetNode | undefined>((before, node, count) => toFleetNode(node, before, at(count)), undefined)
    expect(last?.unreadyFromMs).toBe(want)
  })
})
