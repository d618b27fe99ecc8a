import { DOWNTIME_WINDOW_MS, type Downtime, downtimeMs, DOWNTIMES_KEPT, keptDowntimes, belowLimitAtMs } from '@tranche/drain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const DAY = DOWNTIME_WINDOW_MS
const NOW_MS = Date.parse('2026-01-02T00:00:00Z')
const MINUTE = 60_000

/** Minutes relative to now. */
const from = (fromMinutes: number, toMinutes: number): Downtime => ({
  fromMs: NOW_MS + fromMinutes * MINUTE,
  toMs: NOW_MS + toMinutes * MINUTE,
})

describe('the downtime in a day', () => {
  it.each<[string, readonly Downtime[], number]>([
    ['is nothing without a deletion', [], 0],
    ['is the sum of the times', [from(-60, -50), from(-20, -15)], 15],
    ['counts what overlaps once', [from(-60, -50), from(-55, -45), from(-52, -51)], 15],
    ['counts only what lies in the last 24 hours', [from(-24 * 60 - 10, -24 * 60 + 5), from(-3_000, -2_900)], 5],
    ['does not count what lies in the future', [from(-5, 10), from(20, 30)], 5],
  ])('%s', (_name, downtimes, minutes) => {
    expect(downtimeMs(downtimes, NOW_MS)).toBe(minutes * MINUTE)
  })
})

describe('the downtime of a node is below the limit', () => {
  it.each<[string, readonly Downtime[], number]>([
    ['now, while less than allowed counts', [from(-60, -51)], 0],
    ['once exactly as much as allowed counts no more', [from(-60, -50)], 23 * 60],
    ['once enough of the newest has left the window', [from(-100, -90), from(-60, -45)], 23 * 60 + 5],
    ['once enough of an older one has left the window', [from(-100, -90), from(-60, -52)], 24 * 60 - 92],
  ])('%s', (_name, downtimes, minutes) => {
    const atMs = belowLimitAtMs(downtimes, 10 * MINUTE, NOW_MS)
    expect(atMs).toBe(NOW_MS + minutes * MINUTE + (minutes === 0 ? 0 : 1))
  })

  it('from the first millisecond at which less than allowed counts', () => {
    fc.assert(
      fc.property(fc.array(someDowntime(), { maxLength: 12 }), fc.integer({ min: 1, max: DAY / 2 }), (downtimes, allowedMs) => {
        const atMs = belowLimitAtMs(downtimes, allowedMs, NOW_MS)
        const isSpent = downtimeMs(downtimes, NOW_MS) >= allowedMs
        // At that time, each downtime is over.
        const past = downtimes.map(({ fromMs, toMs }) => ({ fromMs: Math.min(fromMs, NOW_MS), toMs: Math.min(toMs, NOW_MS) }))
        expect(downtimeMs(past, atMs)).toBeLessThan(allowedMs)
        if (isSpent) expect(downtimeMs(past, atMs - 1)).toBeGreaterThanOrEqual(allowedMs)
        else expect(atMs).toBe(NOW_MS)
      }),
    )
  })
})

describe('the downtimes that are kept', () => {
  it('are those of the last 24 hours, in order and apart', () => {
    expect(keptDowntimes([from(-20, -10), from(-2_000, -24 * 60), from(-60, -50), from(-55, -45)], NOW_MS)).toEqual([
      from(-60, -45),
      from(-20, -10),
    ])
  })

  it('are bounded, and count for no less and no shorter than before', () => {
    const many = fc.array(someDowntime(5 * MINUTE), { minLength: DOWNTIMES_KEPT, maxLength: 3 * DOWNTIMES_KEPT })
    fc.assert(
      fc.property(many, fc.integer({ min: 0, max: DAY }), (downtimes, laterMs) => {
        const past = downtimes.filter(({ toMs }) => toMs <= NOW_MS)
        const kept = keptDowntimes(past, NOW_MS)
        expect(kept.length).toBeLessThanOrEqual(DOWNTIMES_KEPT)
        expect(kept.every(({ fromMs, toMs }) => fromMs <= toMs)).toBe(true)
        expect(downtimeMs(kept, NOW_MS + laterMs)).toBeGreaterThanOrEqual(downtimeMs(past, NOW_MS + laterMs))
        const sumMs = kept.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
        expect(sumMs).toBeLessThanOrEqual(2 * DAY)
      }),
    )
  })
})

function someDowntime(longestMs = 60 * MINUTE): fc.Arbitrary<Downtime> {
  const start = fc.integer({ min: -DAY - 3_600_000, max: 600_000 })
  return fc.record({ start, ms: fc.integer({ min: 0, max: longestMs }) }).map(({ start, ms }) => ({
    fromMs: NOW_MS + start,
    toMs: NOW_MS + start + ms,
  }))
}
