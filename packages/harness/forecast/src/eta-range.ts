import type { PodTimes } from './pod-times.ts'
import { createRandom, meanOf } from './statistics.ts'

/** What a release was, batch by batch, for the question how long another run of it would take. */
export interface EtaQuestion {
  /** Nodes taken in each batch, in order. */
  readonly batches: readonly (readonly string[])[]
  /** Nodes that may be down at a time (≥ 1). */
  readonly limit: number
  readonly times: PodTimes
  readonly minReadyMs: number
  /** From the beginning to the end, pauses included. */
  readonly wholeMs: number
}

/** Runs from which the range is read. */
const RUNS = 100
/** Of all runs, so many are shorter than the low end, and so many longer than the high one. */
const TAIL = 0.1
/** How much longer or shorter everything takes where no pod tells how long it takes to start. */
const UNKNOWN = 0.5
/** What whole seconds hide, in milliseconds for each pod. */
const COARSE_MS = 500
/** How far a stop that nothing tells may be off, in milliseconds for each pod. */
const STOP_OFF_MS = 1_000

/**
 * How long the release takes, from and to, in seconds: the run that was played, made shorter and longer by what drawing the start times
 * anew from the measured ones does to the time in which pods are replaced, and by what nothing tells. Pauses and soaks stay as they are.
 */
export function etaRange({ batches, limit, times, minReadyMs, wholeMs }: EtaQuestion): { readonly low: number; readonly high: number } {
  const { believed, stop } = times
  const perPodMs = stop.ms + minReadyMs
  const played = makespan(batches, limit, (node) => perPodMs + times.startMsOf(node))
  const random = createRandom(batches.length + limit)
  const drawFrom = (values: readonly number[]): number => values[Math.floor(random() * values.length)]!
  const run = (): number => {
    // The measured ones are a sample themselves: another one would have another mean.
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

/** @returns by how much every pod may be quicker or slower in the same way, which no drawing tells; milliseconds */
function offMs({ believed, stop, isCoarse, crowd }: PodTimes): { readonly less: number; readonly more: number } {
  const coarse = isCoarse ? COARSE_MS : 0
  if (believed.length === 0) return { less: coarse, more: coarse }
  const quickest = believed[Math.floor(TAIL * believed.length)]!
  const crowded = crowd === null ? 0 : meanOf(believed) - quickest
  const [stopLess, stopMore] = stop.source === 'ByDefault' ? [Math.min(STOP_OFF_MS, stop.ms), STOP_OFF_MS] : [0, 0]
  return { less: coarse + crowded + stopLess, more: coarse + stopMore }
}

/** How long batches take one after the other, where the next node is taken as soon as one of `limit` places is free. */
function makespan(batches: readonly (readonly string[])[], limit: number, msOf: (node: string) => number): number {
  let whole = 0
  for (const nodes of batches) {
    const places = new Float64Array(Math.max(1, Math.min(limit, nodes.length)))
    for (const node of nodes) takeFirstFree(places, msOf(node))
    whole += Math.max(0, ...places)
  }
  return whole
}

/** A heap with the place that is free first at its top. */
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

/** To a tenth. */
export function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10
}
