import type { Forecast } from '@tranche/api-schema'
import { countText, timeSpanText } from '../../format/duration.ts'

/** The unavailable nodes of a forecast over time. The lists are parallel. */
export interface UnavailableCurve {
  /** Seconds from the forecast, in order; the last one is the end of the chart. */
  readonly seconds: readonly number[]
  /** Number of unavailable nodes from each moment on. */
  readonly nodes: readonly number[]
  readonly limit: number
  /** Greatest value of the vertical axis. */
  readonly top: number
  /** Length of the time axis in seconds. */
  readonly wholeSeconds: number
}

/** Empty part of the vertical axis above everything, as a part of its length: the text of the limit is there. */
const MARGIN = 0.2

/** @param wholeSeconds length of the time axis; plans side by side share it. @returns null if no node is ever unavailable */
export function curveOf({ unavailable, maxUnavailable: limit }: Forecast, wholeSeconds: number): UnavailableCurve | null {
  const most = Math.max(0, ...unavailable.map(({ nodes }) => nodes))
  if (most === 0) return null
  const last = unavailable.at(-1)!
  const end = last.atSeconds < wholeSeconds ? [{ atSeconds: wholeSeconds, nodes: last.nodes }] : []
  const points = [...unavailable, ...end]
  return {
    seconds: points.map(({ atSeconds }) => atSeconds),
    nodes: points.map(({ nodes }) => nodes),
    limit,
    top: Math.max(most, limit) * (1 + MARGIN),
    wholeSeconds: Math.max(wholeSeconds, last.atSeconds),
  }
}

/** @returns the curve in words: its start, its peak and the limit, and its end */
export function curveText({ unavailable, maxUnavailable }: Forecast): string {
  const first = unavailable[0]?.nodes ?? 0
  const peak = unavailable.reduce((most, point) => (point.nodes > most.nodes ? point : most), { atSeconds: 0, nodes: 0 })
  const last = unavailable.at(-1) ?? peak
  return [
    `Unavailable nodes over time: ${first} at the start`,
    `at most ${peak.nodes}, first after ${timeSpanText(peak.atSeconds * 1_000)}`,
    `${last.nodes} from ${timeSpanText(last.atSeconds * 1_000)} on`,
    `${countText(maxUnavailable, 'node')} allowed`,
  ].join('; ')
}
