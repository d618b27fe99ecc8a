import type { Forecast } from '@tranche/api-schema'
import { timeSpanText } from '../../format/duration.ts'

/** A stretch of time in thousandths of the whole timeline. */
export interface Stretch {
  readonly x: number
  readonly width: number
}

/** One batch on the timeline. Times are seconds from the moment of the forecast. */
export interface TimelineRow {
  readonly index: number
  readonly nodes: number
  readonly startSeconds: number
  /** Null: the batch never becomes ready. */
  readonly readySeconds: number | null
  /** Pause after the batch in words; empty if the next one begins at once. */
  readonly after: string
  readonly work: Stretch
  /** Pause after the batch; null without one. */
  readonly pause: Stretch | null
}

/** A forecast as a timeline. */
export interface PlanTimeline {
  /** Length in seconds. */
  readonly wholeSeconds: number
  readonly rows: readonly TimelineRow[]
}

/** Stretches stay visible beside much longer ones. */
const LEAST_WIDTH = 4

/** @param wholeSeconds length of the timeline; plans side by side share the longer one. @returns the batches as stretches of time */
export function timelineOf({ batches }: Forecast, wholeSeconds: number): PlanTimeline {
  const stretch = (from: number, to: number): Stretch => {
    const x = Math.min(1_000 - LEAST_WIDTH, (from / wholeSeconds) * 1_000)
    return { x, width: Math.min(1_000 - x, Math.max(LEAST_WIDTH, ((to - from) / wholeSeconds) * 1_000)) }
  }
  const rows = batches.map(({ index, nodes, startSeconds, endSeconds, pause }, at): TimelineRow => {
    const pauseEnd = batches[at + 1]?.startSeconds ?? wholeSeconds
    return {
      index,
      nodes,
      startSeconds,
      readySeconds: endSeconds,
      after: endSeconds === null ? '' : afterText(pause),
      work: stretch(startSeconds, endSeconds ?? wholeSeconds),
      pause: pause === undefined || endSeconds === null || pauseEnd <= endSeconds ? null : stretch(endSeconds, pauseEnd),
    }
  })
  return { wholeSeconds, rows }
}

/** @returns the length of a forecast in seconds, at least one; up to the last known moment if it does not end */
export function lengthOf({ batches, etaSeconds, unavailable }: Forecast): number {
  const moments = batches.flatMap(({ startSeconds, endSeconds, pause }) => [startSeconds, (endSeconds ?? 0) + secondsOf(pause)])
  return Math.max(1, etaSeconds?.high ?? 0, unavailable.at(-1)?.atSeconds ?? 0, ...moments)
}

function secondsOf(pause: string | undefined): number {
  return pause === undefined || pause === 'person' ? 0 : Number.parseInt(pause, 10)
}

/** @param pause as the forecast has it: `person`, or seconds such as `600s` */
function afterText(pause: string | undefined): string {
  if (pause === undefined) return ''
  return pause === 'person' ? 'a person approves' : `pause of ${timeSpanText(secondsOf(pause) * 1_000)}`
}

/** @returns `4m 05s`, or `4m 05s to 6m 00s` */
export function rangeText({ low, high }: NonNullable<Forecast['etaSeconds']>): string {
  const [from, to] = [timeSpanText(low * 1_000), timeSpanText(high * 1_000)]
  return from === to ? from : `${from} to ${to}`
}
