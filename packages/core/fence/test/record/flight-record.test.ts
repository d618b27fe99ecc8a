import type { FlightRecord, Permit } from '@tranche/api-schema'
import {
  type Allowance,
  changePermits,
  createRecord,
  eraseTouched,
  openRecord,
  permitId,
  permitSlack,
  recordPatch,
  revokeRecord,
  widenRecord,
  withHolds,
} from '@tranche/fence'
import { aRecord } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const [a, b, c] = ['a', 'b', 'c'].map(permitOf) as [Permit, Permit, Permit]
const allowance: Allowance = { workloadUid: 'another', generation: 5, revision: 'newer', size: 5, partition: 4, limit: 9 }

describe('createRecord', () => {
  it('allows nothing until it is opened, and rests on the watermark of the live list', () => {
    expect(createRecord(allowance, '77')).toEqual({
      ...allowance,
      epoch: 1,
      seq: 1,
      state: 'stopped',
      holds: [],
      watermark: '77',
      permits: [],
    })
  })
})

describe('changePermits', () => {
  const record = aRecord({ seq: 7, epoch: 3, watermark: '50', permits: [a, b] })

  it('removes permits, appends new ones, and keeps the order of the rest', () => {
    expect(changePermits(record, { remove: [a], append: [c], restsOn: [] }).permits).toEqual([b, c])
  })

  it('raises seq and changes nothing else', () => {
    expect(changePermits(record, { remove: [], append: [], restsOn: [] })).toEqual({ ...record, seq: 8 })
  })

  it('removes only the named version of a pod', () => {
    const reborn = { ...a, podResourceVersion: '11' }
    const twice = changePermits(aRecord({ permits: [a, reborn] }), { remove: [a], append: [], restsOn: [] })
    expect(twice.permits).toEqual([reborn])
  })

  it.each([
    ['raises the watermark to the highest version it rests on', ['51', '60', '55'], '60'],
    ['never lowers the watermark', ['49', '9'], '50'],
    ['compares versions as numbers', ['100'], '100'],
    ['keeps the watermark where the change rests on nothing', [], '50'],
  ])('%s (F2)', (_name, restsOn, watermark) => {
    expect(changePermits(record, { remove: [a], append: [], restsOn }).watermark).toBe(watermark)
  })
})

describe('revokeRecord', () => {
  it('starts a new epoch, so that every append in flight fails, and keeps the permits (F8)', () => {
    const open = aRecord({ permits: [a], epoch: 3, seq: 7 })
    const holds = [{ reason: 'Paused', id: '4' }]
    expect(revokeRecord(open, holds)).toEqual({ ...open, state: 'voiding', epoch: 4, seq: 8, holds })
  })
})

describe('eraseTouched', () => {
  const revoking = aRecord({ state: 'voiding', permits: [a, b], watermark: '50' })

  it('stops a `voiding` record once every pod has answered', () => {
    expect(eraseTouched(revoking, [a], ['60'], true)).toEqual({ ...revoking, seq: 8, state: 'stopped', watermark: '60', permits: [b] })
  })

  it('leaves a record `voiding` while an answer is missing', () => {
    expect(eraseTouched(revoking, [a], ['60'], false)).toMatchObject({ state: 'voiding', permits: [b] })
  })

  it('keeps an open record open: there it withdraws', () => {
    expect(eraseTouched(aRecord({ permits: [a, b] }), [a, b], [], true)).toMatchObject({ state: 'open', permits: [] })
  })
})

describe('withHolds', () => {
  it('changes the reasons and nothing else', () => {
    const stopped = aRecord({ state: 'stopped', holds: [{ reason: 'Paused', id: '1' }] })
    expect(withHolds(stopped, [])).toEqual({ ...stopped, seq: 8, holds: [] })
  })
})

describe('openRecord', () => {
  it('allows the wanted allowance in a new epoch, without holds, and keeps unsettled permits (F11)', () => {
    const stopped = aRecord({ state: 'stopped', holds: [{ reason: 'Paused', id: '1' }], permits: [a], watermark: '50' })
    expect(openRecord(stopped, allowance, '50')).toEqual({
      ...allowance,
      state: 'open',
      holds: [],
      epoch: 4,
      seq: 8,
      watermark: '50',
      permits: [a],
    })
  })

  it.each([
    ['raises the watermark to the version that the opener has seen', '1200', '1200'],
    ['never lowers the watermark', '9', '50'],
  ])('%s (F2)', (_name, seen, watermark) => {
    expect(openRecord(aRecord({ state: 'stopped', watermark: '50' }), allowance, seen).watermark).toBe(watermark)
  })
})

describe('widenRecord', () => {
  it('allows more in the same epoch, so that an append in flight fails by seq alone (F9)', () => {
    const open = aRecord({ permits: [a], watermark: '50' })
    expect(widenRecord(open, allowance)).toEqual({ ...open, ...allowance, epoch: 3, seq: 8 })
  })
})

describe('permitSlack', () => {
  it.each([
    [1, 8],
    [64, 8],
    [65, 9],
    [1000, 125],
  ])('of limit %i is %i', (limit, slack) => {
    expect(permitSlack(limit)).toBe(slack)
  })
})

describe('permitId', () => {
  it('distinguishes two versions of one pod', () => {
    expect(permitId(a)).not.toBe(permitId({ ...a, podResourceVersion: '11' }))
  })
})

describe('recordPatch', () => {
  const metadata = { uid: 'release', resourceVersion: '9' }
  const after: FlightRecord = aRecord({ seq: 8 })

  it('tests the uid, the epoch and the seq that were read, and replaces the whole record', () => {
    expect(recordPatch({ metadata, status: { flight: aRecord({ epoch: 3, seq: 7 }) } }, after)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'release' },
      { op: 'test', path: '/status/flight/epoch', value: 3 },
      { op: 'test', path: '/status/flight/seq', value: 7 },
      { op: 'replace', path: '/status/flight', value: after },
    ])
  })

  it('tests the resourceVersion for the first record, which has no seq', () => {
    expect(recordPatch({ metadata, status: {} }, after)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'release' },
      { op: 'test', path: '/metadata/resourceVersion', value: '9' },
      { op: 'add', path: '/status/flight', value: after },
    ])
  })

  it('creates the status first where there is none', () => {
    expect(recordPatch({ metadata }, after).slice(2)).toEqual([
      { op: 'add', path: '/status', value: {} },
      { op: 'add', path: '/status/flight', value: after },
    ])
  })
})

function permitOf(node: string): Permit {
  return { node, podUid: `pod-${node}`, podResourceVersion: '10' }
}
