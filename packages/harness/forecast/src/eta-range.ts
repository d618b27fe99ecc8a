import type { PodTimes } from './pod-times.ts'
import { createSequence, meanOf } from './statistics.ts'

/** Batches of a simulated release, as the basis for the duration of another run. */
export interface EtaQuestion {
  /** Number of nodes per batch, in order. */
  readonly batches: readonly (readonly string[])[]
  /** Maximum number of nodes down at a time (≥ 1). */
  readonly limit: number
  readonly times: PodTimes
  readonly minReadyMs: number
  /** Milliseconds from start to end, including pauses. */
  readonly wholeMs: number
}

/** Number of resampled runs that the range is based on. */
const RUNS = 100
/** Share of all runs below the low end, and above the high end. */
const TAIL = 0.1
/** Relative uncertainty when no pod shows how long it takes to start. */
const UNKNOWN = 0.5
/** Uncertainty from rounding to whole seconds, in milliseconds per pod. */
const COARSE_MS = 500
/** Uncertainty of an unmeasured stop time, in milliseconds per pod. */
const STOP_OFF_MS = 1_000

/**
 * Range of the release's duration in seconds. Shortens and lengthens the simulated run by resampling the measured start times, and by the
 * unmeasured uncertainties. Pauses and soaks stay unchanged.
 */
export function etaRange({ batches, limit, times, minReadyMs, wholeMs }: EtaQuestion): { readonly low: number; readonly high: number } {
  const { believed, stop } = times
  const perPodMs = stop.ms + minReadyMs
  const played = makespan(batches, limit, (node) => perPodMs + times.startMsOf(node))
  const random = createSequence(batches.length + limit)
  const drawFrom = (values: readonly number[]): number => values[Math.floor(random() * values.length)]!
  const run = (): number => {
    // The measured times are a sample themselves: another sample would have another mean.
    const sample = believed.map(() => drawFrom(believed))
    return makespan(batches, limit, () => perPodMs + drawFrom(sample))
  }
  const drawn =
    believed.length === 0 ? [played * (1 - UNKNOWN), played * (1 + UNKNOWN)] : Array.from({ length: RUNS }, run).toSorted((a, b) => a - b)
  const off = offMs(times)
  const at = (part: number): number => drawn[Math.round(part * (drawn.length - 1))] ?? played
  const low = wholeMs + Math.min(0, at(TAIL) - played) - makespan(batches, limit, () => off.less)
  const high = wholeMs + Math.max(0, at(1 - TAIL) - played) + makespan(batches, limit, () => off.more)
  return { low: toSeconds(Math.max(0, low)), high: toSeconds(high) }
}

/** @returns milliseconds by which all pods may be faster or slower together, which resampling does not show */
function offMs({ believed, stop, isCoarse, crowd }: PodTimes): { readonly less: number; readonly more: number } {
  const coarse = isCoarse ? COARSE_MS : 0
  if (believed.length === 0) return { less: coarse, more: coarse }
  const quickest = believed[Math.floor(TAIL * believed.length)]!
  const crowded = crowd === null ? 0 : meanOf(believed) - quickest
  const [stopLess, stopMore] = stop.source === 'ByDefault' ? [Math.min(STOP_OFF_MS, stop.ms), STOP_OFF_MS] : [0, 0]
  return { less: coarse + crowded + stopLess, more: coarse + stopMore }
}

/** Total duration of all batches, in sequence. The next node starts as soon as one of `limit` slots is free. */
function makespan(batches: readonly (readonly string[])[], limit: number, msOf: (node: string) => number): number {
  let whole = 0
  for (const nodes of batches) {
    const places = new Float64Array(Math.max(1, Math.min(limit, nodes.length)))
    for (const node of nodes) takeFirstFree(places, msOf(node))
    whole += Math.max(0, ...places)
  }
  return whole
}

/** Binary heap with the earliest free slot on top. */
function takeFirstFree(places: Float64Array, ms: number): void {
  const freeAt = places[0]! + ms
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= places.length) break
    if (child + 1 < places.length && places[child + 1]! < places[child]!) child++
    if (places[child]! >= freeAt) break
    places[at] = places[child]!
    at = child
  }
  places[at] = freeAt
}

/** Rounds to one decimal. */
export function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10
}
