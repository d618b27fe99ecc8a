import type { FlightRecord } from '@tranche/api-schema'
import { createRecord, isSameDecision } from '@tranche/fence'
import { describe, expect, it } from 'vitest'

const allowance = { workloadUid: 'daemonset', generation: 2, revision: 'new', size: 9, partition: 1, limit: 2 }
const record: FlightRecord = { ...createRecord(allowance, '20'), holds: [{ reason: 'Paused', id: '1' }] }

describe('two passes decide (F9)', () => {
  it.each<[string, Partial<FlightRecord>]>([
    ['nothing else', {}],
    ['another watermark', { watermark: '30' }],
    ['other permits', { permits: [{ node: 'a', podUid: 'a', podResourceVersion: '1' }] }],
    ['a later write', { seq: 9 }],
  ])('the same with %s', (_what, change) => {
    expect(isSameDecision(record, { ...record, ...change })).toBe(true)
  })

  it.each<[string, Partial<FlightRecord>]>([
    ['state', { state: 'open' }],
    ['epoch', { epoch: 7 }],
    ['hold', { holds: [{ reason: 'Paused', id: '2' }] }],
    ['number of holds', { holds: [] }],
    ['DaemonSet', { workloadUid: 'other' }],
    ['generation', { generation: 3 }],
    ['revision', { revision: 'newer' }],
    ['size', { size: 10 }],
    ['partition', { partition: 0 }],
    ['limit', { limit: 3 }],
    ['scope', { scope: 'other' }],
  ])('differently with another %s', (_what, change) => {
    expect(isSameDecision(record, { ...record, ...change })).toBe(false)
  })
})
