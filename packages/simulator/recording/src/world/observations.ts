import type { RecordedDelivery } from '../recorded-delivery.ts'
import type { RecordedWrite } from '../recorded-write.ts'

/** A write that made a difference, and to whose watch it is told. */
export interface Cause {
  readonly t: number
  readonly rv: number
  readonly of: 'pods' | 'nodes' | 'daemonsets' | 'batchreleases' | 'releasepolicies' | 'rollouts'
}

/** Who decided something, and when at the earliest: what was sent to their watch later is not held against them. */
export interface Decision {
  readonly actor: string
  readonly atMs: number
}

/** A time in which an actor stood still, or had something decided and not yet sent. Epoch milliseconds. */
export interface Stall {
  readonly actor: string
  readonly fromMs: number
  readonly toMs: number
}

/** What actors can have seen of the cluster. */
export interface Observations {
  /** @returns when the write was decided, at the earliest */
  decisionOf(write: RecordedWrite): Decision
  /** Whether whoever decided must have known of the write. */
  hasSeen(decision: Decision, cause: Cause): boolean
  /** @returns when the watch of an actor first told of the write, epoch milliseconds; Infinity where it never did */
  deliveredAtMs(actor: string, cause: Cause): number
  /**
   * @returns up to which versions the watches of a resource may have told whoever decided, the least that they must have
   * first; undefined where nobody recorded it
   */
  positions(decision: Decision, of: Cause['of']): readonly number[] | undefined
}

/** How late something may be. */
export interface ObservationsOptions {
  readonly deliveries: readonly RecordedDelivery[]
  /** How late watches may be where no deliveries were recorded, and processes after a delivery where some were. */
  readonly watchLagMs: number
  readonly reactionMs: number
  readonly stalls: readonly Stall[]
}

/** Knows what was delivered to whom; where no delivery to an actor was recorded, a write is known after `watchLagMs`. */
export function createObservations({ deliveries, watchLagMs, reactionMs, stalls }: ObservationsOptions): Observations {
  const tracks = toTracks(deliveries)

  // The latest first: what was held back twice was decided before the first time.
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

/** Deliveries of one resource to one actor: `rvs` never falls. */
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

/** How many deliveries came before a moment: one at the very moment may have come too late. */
function countBefore({ times }: Track, atMs: number): number {
  return countBelow(times, atMs)
}

/** @param numbers never falling */
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
