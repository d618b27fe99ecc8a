import type { NodeCheck, Preparation, Preparations } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { createNodeReadings, type NodeReadings } from '../src/node-readings.ts'

const NODE = { node: 'a' }
const BLOCKED: NodeCheck = { kind: 'blocked', reason: 'ImagePull', message: 'the image is missing' }
const PENDING: NodeCheck = { kind: 'pending', againInMs: 60_000 }

describe('the delay after which a blocked node is checked again', () => {
  it('doubles from 15 seconds up to five minutes', () => {
    const readings = createNodeReadings()
    expect(Array.from({ length: 6 }, () => delayAfter(readings, BLOCKED))).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 300_000])
  })

  it('doubles also where a preparation takes its time before it fails again', () => {
    const readings = createNodeReadings()
    const delays = [delayAfter(readings, BLOCKED)]
    for (let attempt = 0; attempt < 3; attempt++) {
      readings.add(NODE, 'ahead', PENDING, 0)
      // The reading is forgotten once the state of what was begun has changed.
      readings.of('v2', preparedAs('begun'), 0)
      expect(readings.of('v2', preparedAs('failed'), 0).has('a')).toBe(false)
      delays.push(delayAfter(readings, BLOCKED))
    }
    expect(delays).toEqual([15_000, 30_000, 60_000, 120_000])
  })

  it('doubles also where the preparation succeeds and another check blocks the node again', () => {
    const readings = createNodeReadings()
    const first = delayAfter(readings, BLOCKED)
    readings.add(NODE, 'ahead', { kind: 'ready', for: 'ahead' }, 0)
    expect([first, delayAfter(readings, BLOCKED)]).toEqual([15_000, 30_000])
  })

  it.each(['permit', 'deletion'] as const)('begins again once the node was ready for a %s', (purpose) => {
    const readings = createNodeReadings()
    delayAfter(readings, BLOCKED)
    readings.add(NODE, purpose, { kind: 'ready', for: purpose }, 0)
    expect(delayAfter(readings, BLOCKED)).toBe(15_000)
  })

  it('begins again for another revision or policy', () => {
    const readings = createNodeReadings()
    delayAfter(readings, BLOCKED)
    readings.of('v3', undefined, 0)
    expect(delayAfter(readings, BLOCKED, 'v3')).toBe(15_000)
  })

  it('is that of the check, where it names one', () => {
    const readings = createNodeReadings()
    expect(delayAfter(readings, { ...BLOCKED, againInMs: 7_000 })).toBe(7_000)
  })
})

function delayAfter(readings: NodeReadings, check: NodeCheck, asked = 'v2'): number | undefined {
  readings.of(asked, undefined, 0)
  readings.add(NODE, 'ahead', check, 1_000)
  const againAtMs = readings.of(asked, undefined, 1_000).get('a')?.againAtMs
  return againAtMs === undefined ? undefined : againAtMs - 1_000
}

function preparedAs(state: Preparation['state']): Preparations {
  return new Map([['a', [{ node: 'a', check: 'prePull', state, isAhead: true, isStale: false, changesAtMs: null }]]])
}
