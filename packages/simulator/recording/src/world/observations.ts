import type { RecordedDelivery } from '../record/recorded-delivery.ts'
import type { RecordedWrite } from '../record/recorded-write.ts'

/** Write that changed something, and the watch that delivers it. */
export interface Cause {
  readonly t: number
  readonly rv: number
  readonly of: 'pods' | 'nodes' | 'daemonsets' | 'batchreleases' | 'releasepolicies' | 'rollouts'
}

/** Actor of a decision, and its earliest possible time. Events sent to its watch later are not held against it. */
export interface Decision {
  readonly actor: string
  readonly atMs: number
}

/** Interval in which an actor was frozen, or had decided something without sending it. Epoch milliseconds. */
export interface Stall {
  readonly actor: string
  readonly fromMs: number
  readonly toMs: number
}

/** A request that had no answer, or an error. */
export interface FailedRequest {
  readonly actor: string
  /** Epoch milliseconds when the actor learnt of it. */
  readonly atMs: number
  readonly method: string
  /** With the query. */
  readonly path: string
}

/** What actors can have seen of the cluster. */
export interface Observations {
  /** @returns earliest time at which the write may have been decided */
  decisionOf(write: RecordedWrite): Decision
  /** Whether the deciding process must have known of the write. */
  hasSeen(decision: Decision, cause: Cause): boolean
  /** @returns epoch milliseconds at which the watch of an actor first reported the write; Infinity when it never did */
  deliveredAtMs(actor: string, cause: Cause): number
  /** Whether a list took the watch of an actor past both writes: it then saw what the later one left, and nothing in between. */
  hasSkipped(actor: string, from: Cause, toRv: number): boolean
  /**
   * @returns versions up to which the watches of a resource may have reported to the deciding process, the lowest certain one first;
   *   undefined when no deliveries were recorded
   */
  positions(decision: Decision, of: Cause['of']): readonly number[] | undefined
}

/** Permitted delays, in milliseconds. */
export interface ObservationsOptions {
  readonly deliveries: readonly RecordedDelivery[]
  /** Delay of watches when no deliveries were recorded, and of processes after a delivery when some were. */
  readonly watchLagMs: number
  readonly reactionMs: number
  readonly stalls: readonly Stall[]
}

/** Reads deliveries to actors. Without recorded deliveries to an actor, it knows of a write after `watchLagMs`. */
export function createObservations({ deliveries, watchLagMs, reactionMs, stalls }: ObservationsOptions): Observations {
  const tracks = toTracks(deliveries)

  // Latest first: a write delayed twice was decided before the first delay.
  const backwards = stalls.toSorted((a, b) => b.fromMs - a.fromMs)

  function positions({ actor, atMs }: Decision, of: Cause['of']): readonly number[] | undefined {
    const track = tracks.get(`${actor} ${of}`)
    if (track === undefined) return undefined
    const from = countBefore(track, atMs - reactionMs)
    const found = [track.rvs[from - 1] ?? 0]
    for (let at = from; at < track.times.length && track.times[at]! <= atMs; at++)
      if (track.rvs[at] !== found.at(-1)) found.push(track.rvs[at]!)
    return found
  }

  return {
    positions,
    deliveredAtMs(actor, { of, rv, t }) {
      const track = tracks.get(`${actor} ${of}`)
      return track === undefined ? t + watchLagMs : (track.times[countBelow(track.rvs, rv)] ?? Number.POSITIVE_INFINITY)
    },
    hasSkipped(actor, { of, rv }, toRv) {
      const track = tracks.get(`${actor} ${of}`)
      return track !== undefined && (track.rvs[countBelow(track.rvs, rv)] ?? 0) >= toRv
    },
    decisionOf({ actor = '', sent, t }) {
      let atMs = sent ?? t
      for (const stall of backwards)
        if (stall.actor === actor && stall.fromMs <= atMs && atMs <= stall.toMs) atMs = Math.min(atMs, stall.fromMs)
      return { actor, atMs }
    },
    hasSeen(decision, cause) {
      const track = tracks.get(`${decision.actor} ${cause.of}`)
      if (track === undefined) return cause.t <= decision.atMs - watchLagMs
      return cause.rv <= (track.rvs[countBefore(track, decision.atMs - reactionMs) - 1] ?? 0)
    },
  }
}

/** Deliveries of one resource to one actor; `rvs` never decreases. */
interface Track {
  readonly times: number[]
  readonly rvs: number[]
}

function toTracks(deliveries: readonly RecordedDelivery[]): ReadonlyMap<string, Track> {
  const tracks = new Map<string, Track>()
  for (const { t, to, of, rv } of deliveries) {
    const key = `${to} ${of}`
    const track = tracks.get(key) ?? { times: [], rvs: [] }
    tracks.set(key, track)
    track.times.push(t)
    track.rvs.push(Math.max(rv, track.rvs.at(-1) ?? 0))
  }
  return tracks
}

/** Number of deliveries before a moment, without those at the moment itself, which may be too late. */
function countBefore({ times }: Track, atMs: number): number {
  return countBelow(times, atMs)
}

/** @param numbers in ascending order */
function countBelow(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}
