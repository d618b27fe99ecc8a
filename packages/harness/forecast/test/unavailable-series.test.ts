import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AvailabilityChange } from '../src/timeline.ts'
import { POINTS_MAX, unavailableSeries } from '../src/unavailable-series.ts'

const down = (atMs: number): AvailabilityChange => ({ atMs, by: 1 })
const up = (atMs: number): AvailabilityChange => ({ atMs, by: -1 })

describe('the unavailable nodes over time', () => {
  it.each<[string, readonly AvailabilityChange[], number, string]>([
    ['are one point if nothing changes', [], 2, '0:2'],
    ['change when a node goes down and comes back', [down(1_000), up(5_000)], 0, '0:0 1:1 5:0'],
    ['are in order, whatever the order of the changes', [up(5_000), down(1_000)], 0, '0:0 1:1 5:0'],
    ['do not change when one node replaces another', [down(1_000), up(5_000), down(5_000), up(9_000)], 0, '0:0 1:1 9:0'],
    ['keep a peak within one tenth of a second', [down(1_000), down(1_010), up(1_050), up(2_000)], 0, '0:0 1:2 1.1:1 2:0'],
    ['are never negative', [up(1_000), down(2_000), down(3_000)], 0, '0:0 3:1'],
  ])('%s', (_title, changes, atStart, want) => {
    expect(
      unavailableSeries(changes, atStart)
        .map(({ atSeconds, nodes }) => `${atSeconds}:${nodes}`)
        .join(' '),
    ).toBe(want)
  })

  it('have at most 200 points, in order, with the true peak and the true end, for any changes', () => {
    const lives = fc.array(fc.tuple(fc.nat(3_600_000), fc.nat(60_000)), { maxLength: 1_000 })
    fc.assert(
      fc.property(lives, fc.nat(20), (spans, atStart) => {
        const changes = spans.flatMap(([from, length]) => [down(from), up(from + length)])
        const points = unavailableSeries(changes, atStart)
        const sorted = changes.toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)
        let nodes = atStart
        const peak = sorted.reduce((most, { by }) => Math.max(most, (nodes += by)), atStart)
        expect(points.length).toBeLessThanOrEqual(POINTS_MAX)
        expect(points[0]).toEqual({ atSeconds: 0, nodes: atStart })
        expect(Math.max(...points.map((point) => point.nodes))).toBe(peak)
        expect(points.at(-1)!.nodes).toBe(atStart)
        expect(points.every((point, at) => at === 0 || point.atSeconds >= points[at - 1]!.atSeconds)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
