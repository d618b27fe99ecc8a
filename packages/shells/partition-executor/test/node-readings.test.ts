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

describe('a node that cannot be checked', () => {
  const question = { node: 'a', permit: { node: 'a', podUid: 'p1', podResourceVersion: '7' } }
  const waits = { reason: 'Draining', message: 'drains' } as const
  const WHY = { reason: 'CheckFailed', message: 'cannot check the node' } as const

  it.each<[sentence: string, before: NodeCheck | null, failedAtMs: readonly number[], kind: NodeCheck['kind'], againAtMs: number]>([
    ['is blocked', null, [1_000], 'blocked', 16_000],
    ['is blocked where nothing was under way on it', { kind: 'ready', for: 'deletion' }, [1_000], 'blocked', 16_000],
    ['keeps what was under way on it, and is asked again soon', { ...PENDING, waits }, [1_000], 'pending', 6_000],
    ['keeps that for a minute', { ...PENDING, waits }, [1_000, 60_999], 'pending', 65_999],
    ['keeps that also where it was not asked about for long', { ...PENDING, waits }, [400_000], 'pending', 405_000],
    ['is blocked after a minute in which each question failed', { ...PENDING, waits }, [1_000, 30_000, 61_000], 'blocked', 76_000],
  ])('%s', (_sentence, before, failedAtMs, kind, againAtMs) => {
    const readings = createNodeReadings()
    if (before !== null) readings.add(question, 'deletion', before, 0)
    for (const atMs of failedAtMs) readings.failed(question, 'deletion', WHY, atMs)
    expect(readings.of(undefined, undefined, 0).get('a')).toMatchObject({ check: { kind }, againAtMs })
  })

  it.each<[sentence: string, permit: typeof question.permit | undefined, kind: NodeCheck['kind']]>([
    ['keeps what was under way also where a watch has shown a change of it since', question.permit, 'pending'],
    ['is blocked for another permit', { ...question.permit, podResourceVersion: '8' }, 'blocked'],
    ['is blocked without a permit', undefined, 'blocked'],
  ])('%s', (_sentence, permit, kind) => {
    const readings = createNodeReadings()
    readings.of('v2', preparedAs('begun'), 0)
    readings.add(question, 'deletion', PENDING, 0)
    readings.of('v2', preparedAs('begun'), 0)
    expect(readings.of('v2', preparedAs('ready'), 0).has('a')).toBe(false)
    readings.failed({ node: 'a', permit }, 'deletion', WHY, 1_000)
    expect(readings.of('v2', preparedAs('ready'), 1_000).get('a')?.check.kind).toBe(kind)
  })

  it('has its whole minute again after an answer', () => {
    const readings = createNodeReadings()
    readings.add(question, 'deletion', PENDING, 0)
    readings.failed(question, 'deletion', WHY, 1_000)
    readings.add(question, 'deletion', PENDING, 50_000)
    for (const atMs of [62_000, 120_000]) readings.failed(question, 'deletion', WHY, atMs)
    expect(readings.of(undefined, undefined, 0).get('a')?.check.kind).toBe('pending')
  })

  it('is blocked for another revision or policy', () => {
    const readings = createNodeReadings()
    readings.of('v2', undefined, 0)
    readings.add(question, 'deletion', PENDING, 0)
    readings.of('v3', undefined, 0)
    readings.failed(question, 'deletion', WHY, 1_000)
    expect(readings.of('v3', undefined, 1_000).get('a')?.check.kind).toBe('blocked')
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
