import { countBelow, type PodStart } from './pod-starts.ts'
import { meanOf, medianOf } from './statistics.ts'

/** What tells how long pods take to stop. */
export interface StopQuestion {
  /** Pods that took the place of another on their node. */
  readonly starts: readonly PodStart[]
  /** Nodes that a release may have down at a time (≥ 1). */
  readonly limit: number
  /** A pod counts as available after so long. */
  readonly minReadyMs: number
  /** No pod takes longer to stop. */
  readonly longestMs: number
}

/** So many places that were taken again are enough. */
const ENOUGH = 5
/** A release kept another limit than the one asked about, where it differs by more than this part. */
const NEAR = 0.2
/** A place that stood empty for so much longer than twice the usual was waiting for something else: a pause in the midst of a batch. */
const PAUSE_MS = 2_000
/** Whole seconds may make a stop of next to nothing look as if it took less than that, by so much. */
const BELOW_MS = 500
/** From one step to the next, in the copy of the cluster: what was measured holds it already. */
const REACTION_MS = 30

/**
 * How long a pod takes from the request to delete it until a new one is there. No pod tells of the one before it; but in a batch that keeps
 * `limit` nodes down, the pod that becomes available first makes room for the next: from Ready to the creation of the pod `limit` places
 * later is the stop of the one in between. Whole seconds cut both moments alike, so that the mean of many tells what is less than a second.
 *
 * @returns milliseconds (≥ 0); undefined where too few pods came in batches that kept the limit
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

/** @returns how long each place stood empty that a pod of the batch left to another; none where the batch did not keep the limit */
function gapsOf(batch: readonly PodStart[], limit: number): readonly number[] {
  const created = batch.map(({ createdMs }) => createdMs).toSorted((a, b) => a - b)
  const ready = batch.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)
  const places = placesOf(created, ready[0]!, limit)
  if (Math.abs(places - limit) > NEAR * limit) return []
  return created.slice(places).map((createdMs, at) => createdMs - ready[at]!)
}

/** @returns how many nodes were down before the first was up again: whole seconds leave a few in doubt, which count as the limit has it */
function placesOf(created: readonly number[], firstReadyMs: number, limit: number): number {
  const least = Math.max(1, countBelow(created, firstReadyMs))
  const most = Math.max(1, countBelow(created, firstReadyMs + 1))
  return Math.min(Math.max(limit, least), most)
}
