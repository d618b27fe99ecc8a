import type { Clock } from '@tranche/clock'
import { type DrainedPermit, type EvictionRefusal, isSamePermit } from '@tranche/drain'

/** A node, and the permit for which it is drained. */
export interface DrainOfNode {
  readonly node: string
  readonly drained: DrainedPermit
}

/** A drain in progress. */
export interface DrainProgress {
  readonly permit: DrainedPermit['permit']
  /** Monotonic time of its first attempt. */
  readonly sinceMs: number
  /** Evictions that the API server refused in the latest attempt. */
  readonly refusals: readonly EvictionRefusal[]
  /** Delay until the next attempt. */
  readonly againMs: number
}

/** Drains of this process. A forgotten one gets its whole time once more; nothing else depends on it. */
export interface DrainMemory {
  /** @returns the drain for this permit, or a new one */
  progressOf(drain: DrainOfNode): DrainProgress
  /** Keeps the result of an attempt. The next one comes after twice the delay. */
  attempted(drain: DrainOfNode, progress: DrainProgress): void
  ended(drain: DrainOfNode): void
  /** Lets the node rest after a drain that was given up. */
  gaveUp(drain: DrainOfNode, restMs: number, message: string): void
  /** @returns why the drain of a resting node was given up; null if the node does not rest */
  restsSince(node: string, releaseUid: string): string | null
}

/** Delays between attempts, in milliseconds: each is twice the one before. */
const FIRST_AGAIN_MS = 2_000
const LONGEST_AGAIN_MS = 15_000

/** Maximum number of nodes in each part of the memory. */
const MOST_NODES = 2_000

/** Creates an empty memory. */
export function createDrainMemory(clock: Clock): DrainMemory {
  const drains = new Map<string, DrainProgress>()
  const rests = new Map<string, { readonly untilMs: number; readonly message: string }>()

  return {
    progressOf(drain) {
      const { podUid, podResourceVersion } = drain.drained.permit
      const before = drains.get(keyOf(drain))
      if (before !== undefined && isSamePermit(before.permit, drain.drained.permit)) return before
      const fresh = { permit: { podUid, podResourceVersion }, sinceMs: clock.monotonicMs(), refusals: [], againMs: FIRST_AGAIN_MS }
      setBounded(drains, keyOf(drain), fresh)
      return fresh
    },
    attempted(drain, progress) {
      setBounded(drains, keyOf(drain), { ...progress, againMs: Math.min(LONGEST_AGAIN_MS, 2 * progress.againMs) })
    },
    ended: (drain) => void drains.delete(keyOf(drain)),
    gaveUp(drain, restMs, message) {
      drains.delete(keyOf(drain))
      setBounded(rests, keyOf(drain), { untilMs: clock.monotonicMs() + restMs, message })
    },
    restsSince(node, releaseUid) {
      const key = keyText(node, releaseUid)
      const rest = rests.get(key)
      if (rest !== undefined && clock.monotonicMs() < rest.untilMs) return rest.message
      rests.delete(key)
      return null
    },
  }
}

function setBounded<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= MOST_NODES && !map.has(key)) map.clear()
  map.set(key, value)
}

function keyOf({ node, drained: { release } }: DrainOfNode): string {
  return keyText(node, release.uid)
}

function keyText(node: string, releaseUid: string): string {
  return `${node}/${releaseUid}`
}
