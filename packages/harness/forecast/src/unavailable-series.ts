import type { Forecast } from '@tranche/api-schema'
import { toSeconds } from './eta-range.ts'
import type { AvailabilityChange } from './timeline.ts'

/** Number of unavailable nodes from a moment on. */
export type UnavailablePoint = Forecast['unavailable'][number]

/** Maximum number of points in a forecast. */
export const POINTS_MAX = 200
/** Resolution of the times of a forecast, in milliseconds. */
const FINEST_MS = 100

/**
 * The number of unavailable nodes over time: the first point is at 0, and each later one is a change. Above {@link POINTS_MAX}, changes that
 * are close together become one; of those, the greatest number is kept, and the last.
 *
 * @param atStart unavailable nodes at the start
 */
export function unavailableSeries(changes: readonly AvailabilityChange[], atStart: number): readonly UnavailablePoint[] {
  const levels = levelsOf(changes, atStart)
  for (let widthMs = FINEST_MS; ; widthMs *= 2) {
    const points = mergeLevels(levels, atStart, widthMs)
    if (points.length <= POINTS_MAX) return points
  }
}

/** Number of unavailable nodes after a change. */
interface Level {
  readonly atMs: number
  readonly nodes: number
}

/** At the same moment, nodes that become available count first. */
function levelsOf(changes: readonly AvailabilityChange[], atStart: number): readonly Level[] {
  let nodes = atStart
  return changes
    .toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)
    .map(({ atMs, by }) => {
      nodes += by
      return { atMs, nodes }
    })
}

function mergeLevels(levels: readonly Level[], atStart: number, widthMs: number): readonly UnavailablePoint[] {
  const points: UnavailablePoint[] = [{ atSeconds: 0, nodes: Math.max(0, atStart) }]
  const add = ({ atMs, nodes }: Level): void => {
    const point = { atSeconds: toSeconds(atMs), nodes: Math.max(0, nodes) }
    if (point.nodes !== points.at(-1)!.nodes) points.push(point)
  }
  for (const near of Map.groupBy(levels, ({ atMs }) => Math.floor(atMs / widthMs)).values()) {
    const last = near.at(-1)!
    const highest = near.reduce((most, level) => (level.nodes > most.nodes ? level : most))
    if (highest.nodes > Math.max(last.nodes, points.at(-1)!.nodes)) add(highest)
    add(last)
  }
  return points
}
