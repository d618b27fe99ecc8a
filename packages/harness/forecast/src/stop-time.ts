import { countBelow, type PodStart } from './pod-starts.ts'
import { meanOf, medianOf } from './statistics.ts'

/** Inputs for measuring how long pods take to stop. */
export interface StopQuestion {
  /** Pods that replaced another one on their node. */
  readonly starts: readonly PodStart[]
  /** Maximum number of nodes that a release may have down at a time (≥ 1). */
  readonly limit: number
  /** Milliseconds for which a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Upper bound of the stop time, in milliseconds. */
  readonly longestMs: number
}

/** Number of refilled slots that suffices. */
const ENOUGH = 5
/** Relative difference from which a release is assumed to have used another limit. */
const NEAR = 0.2
/** A gap this much longer than twice the median, in milliseconds, was caused by something else, such as a pause during a batch. */
const PAUSE_MS = 2_000
/** Milliseconds by which whole seconds may make a very short stop look negative. */
const BELOW_MS = 500
/** Time from one step to the next in the copy of the cluster: the measured times already contain it. */
const REACTION_MS = 30

/**
 * Time from a pod's delete request to the creation of its replacement. No pod shows the stop of its predecessor. But in a batch that keeps
 * `limit` nodes down, the first available pod makes room for the next. So the gap from Ready to the creation of the pod `limit` positions
 * later is the stop of a pod in between. Whole seconds cut both times alike, so the mean of many gaps resolves fractions of a second.
 *
 * @returns milliseconds (≥ 0); undefined when too few pods came in batches that kept the limit
 */
export function measureStop({ starts, limit, minReadyMs, longestMs }: StopQuestion): number | undefined {
  const batches = [...Map.groupBy(starts, ({ batch }) => batch).values()]
  const gaps = batches.flatMap((batch) => gapsOf(batch, limit))
  const usual = medianOf(gaps) ?? 0
  const near = gaps.filter((gap) => gap <= 2 * Math.max(0, usual) + PAUSE_MS)
  if (near.length < ENOUGH) return undefined
  const ms = meanOf(near) - minReadyMs - REACTION_MS
  return ms < -BELOW_MS || ms > longestMs ? undefined : Math.max(0, ms)
}

/** @returns gaps between a Ready pod of the batch and the pod in its slot; empty when the batch did not keep the limit */
function gapsOf(batch: readonly PodStart[], limit: number): readonly number[] {
  const created = batch.map(({ createdMs }) => createdMs).toSorted((a, b) => a - b)
  const ready = batch.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)
  const places = placesOf(created, ready[0]!, limit)
  if (Math.abs(places - limit) > NEAR * limit) return []
  return created.slice(places).map((createdMs, at) => createdMs - ready[at]!)
}

/**
 * @returns number of nodes that were down before the first was up again. Whole seconds leave a few uncertain; these count in favour of the
 *   limit
 */
function placesOf(created: readonly number[], firstReadyMs: number, limit: number): number {
  const least = Math.max(1, countBelow(created, firstReadyMs))
  const most = Math.max(1, countBelow(created, firstReadyMs + 1))
  return Math.min(Math.max(limit, least), most)
}
