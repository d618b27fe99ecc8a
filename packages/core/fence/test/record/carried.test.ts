import type { FlightRecord, Permit } from '@tranche/api-schema'
import {
  type Carried,
  carriedText,
  carryOver,
  createRecord,
  inheritPermits,
  MAX_CARRIED_LENGTH,
  MAX_LIMIT,
  parseCarried,
} from '@tranche/fence'
import { newerResourceVersion } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const allowance = { workloadUid: 'daemonset', generation: 2, revision: 'new', size: 9, partition: 0, limit: 2 }
const permitFor = (node: string, podUid = `pod-${node}`): Permit => ({ node, podUid, podResourceVersion: '10' })
const recordWith = (permits: readonly Permit[], watermark = '20'): FlightRecord => ({ ...createRecord(allowance, watermark), permits })
const carriedOf = (record: FlightRecord): Carried => carryOver(record) ?? { workloadUid: '', watermark: '', permits: [] }

describe('permits carried over from a stopped record (F11)', () => {
  it('are not needed if everything has settled', () => {
    expect(carryOver(recordWith([]))).toBeNull()
  })

  it('are one per node, the last one', () => {
    const carried = carryOver(recordWith([permitFor('a', 'first'), permitFor('b'), permitFor('a', 'second')]))
    expect(carried).toEqual({ workloadUid: 'daemonset', watermark: '20', permits: [permitFor('b'), permitFor('a', 'second')] })
  })

  it('are read back as written, whatever the names', () => {
    const text = fc.string({ minLength: 1, maxLength: 40 })
    const version = fc.nat().map(String)
    const permit = fc.record({ node: text, podUid: text, podResourceVersion: version })
    const permits = fc.array(
      fc.oneof(
        permit,
        permit.map((one) => ({ ...one, wasBad: true as const })),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(permits, version, text, (list, least, workloadUid) => {
        const watermark = list.map(({ podResourceVersion }) => podResourceVersion).reduce(newerResourceVersion, least)
        const carried = { workloadUid, watermark, permits: list }
        expect(parseCarried(carriedText(carried) ?? '')).toEqual(carried)
      }),
    )
  })

  it('fit for the maximum number of nodes in flight, and are rejected above the size of an annotation', () => {
    const many = (nameLength: number): Carried => ({
      workloadUid: '7ee2d3a2-54e7-4cd4-8a4e-0e3d0c6a2a3b',
      watermark: '123456789012',
      permits: Array.from({ length: MAX_LIMIT }, (_, at) => ({
        node: String(at).padStart(nameLength, 'n'),
        podUid: '7ee2d3a2-54e7-4cd4-8a4e-0e3d0c6a2a3b',
        podResourceVersion: '123456789012',
      })),
    })
    expect(carriedText(many(63))?.length).toBeLessThan(MAX_CARRIED_LENGTH)
    expect(carriedText(many(253))).toBeNull()
  })

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"workload":"w","watermark":"x","permits":[]}',
    '{"workload":"w","watermark":"1","permits":{}}',
    '{"watermark":"1","permits":[]}',
    '{"workload":7,"watermark":"1","permits":[]}',
    '{"workload":"w","watermark":1,"permits":[]}',
    '{"workload":"w","permits":[]}',
  ])('are not read from a foreign text: %s', (text) => {
    expect(parseCarried(text)).toBeNull()
  })

  it('exclude invalid permits and those newer than the watermark, which would never settle (F2)', () => {
    const list =
      '[["a","pod-a","10"],["b"],["c","pod-c",10],["d","pod-d","x"],["e","pod-e","11"],["f","10","10","bad","more"],[7,"pod-g","10"],7]'
    const text = `{"workload":"w","watermark":"10","permits":${list}}`
    expect(parseCarried(text)).toEqual({ workloadUid: 'w', watermark: '10', permits: [permitFor('a')] })
  })

  it('record whether the node was bad before; an unknown value is ignored', () => {
    const list = '[["a","pod-a","10","bad"],["b","pod-b","10","other"],["c","pod-c","10"]]'
    expect(parseCarried(`{"workload":"w","watermark":"10","permits":${list}}`)?.permits).toEqual([
      { ...permitFor('a'), wasBad: true },
      permitFor('b'),
      permitFor('c'),
    ])
  })
})

describe('a record that inherits (F11)', () => {
  it('puts the carried permits before its own, and rests on the higher watermark', () => {
    const carried = carriedOf(recordWith([permitFor('a'), permitFor('b')], '30'))
    expect(inheritPermits(recordWith([permitFor('c')], '20'), carried)).toEqual({
      ...recordWith([permitFor('a'), permitFor('b'), permitFor('c')], '30'),
      seq: 2,
    })
    expect(inheritPermits(recordWith([], '40'), carried)?.watermark).toBe('40')
  })

  it('needs no write where it has them already', () => {
    expect(inheritPermits(recordWith([permitFor('a'), permitFor('c')]), carriedOf(recordWith([permitFor('a')])))).toBeNull()
  })

  it('adds only the missing ones', () => {
    const carried = carriedOf(recordWith([permitFor('a'), permitFor('b')]))
    expect(inheritPermits(recordWith([permitFor('b')]), carried)?.permits).toEqual([permitFor('a'), permitFor('b')])
  })
})
