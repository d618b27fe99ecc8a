import type { BlockedReason, DrainRules } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { DrainedPermit, EvictionRefusal } from '@tranche/drain'
import { isSameJson } from '@tranche/kube-types'

/** A node, and the permit for which it is drained. */
export interface DrainOfNode {
  readonly node: string
  readonly drained: DrainedPermit
}

/** Why a drain was given up. */
export interface DrainEnd {
  /** `DrainBlocked`: consumers did not leave. `DrainTaken`: another release drains the node. */
  readonly reason: Extract<BlockedReason, 'DrainBlocked' | 'DrainTaken'>
  readonly message: string
}

/** A node that rests after a drain that was given up. */
export interface DrainRest extends DrainEnd {
  /** Time until the rest ends, in milliseconds. */
  readonly restMs: number
}

/** A drain in progress. */
export interface DrainProgress {
  readonly permit: DrainedPermit['permit']
  /** Monotonic time of its latest attempt. */
  readonly atMs: number
  /** When the drain began, in epoch milliseconds of this process. Later by the time that does not count. */
  readonly sinceMs: number
  /** Time for which the pod of the permit has been drained for. */
  readonly spentMs: number
  /** Latest refusals of evictions, the oldest first. */
  readonly refusals: readonly EvictionRefusal[]
  /** Delay until the next attempt. */
  readonly againMs: number
  /** Whether it was reported that the node is updated although consumers are on it. */
  readonly isReported: boolean
  /** Whether a user made the node schedulable in mid-drain: another permit for the pod does not cordon it. */
  readonly isYielded: boolean
}

/** Drains of this process. A forgotten one gets its whole time once more, and may be cordoned once more; nothing else depends on it. */
export interface DrainMemory {
  /**
   * Begins an attempt. A permit whose pod has changed meanwhile (F5) has the time of the one before it: a pod that changes again and again
   * would else be drained for ever. Within half a minute, it also leaves schedulable what a user made so.
   */
  progressOf(drain: DrainOfNode): DrainProgress
  /** Keeps the result of an attempt. The next one comes after twice the delay. */
  attempted(drain: DrainOfNode, progress: DrainProgress): void
  ended(drain: DrainOfNode): void
  /** Lets the node rest after a drain that was given up. */
  gaveUp(drain: DrainOfNode, given: GivenUp): void
  /**
   * Reports whether a node rests. Other rules than those of its drain end the rest.
   *
   * @returns why the drain was given up, and what is left of the rest; null if the node does not rest
   */
  whyResting(node: string, releaseUid: string, rules: DrainRules): DrainRest | null
}

/** A drain that was given up. */
export interface GivenUp {
  /** Rules by which it was given up. */
  readonly rules: DrainRules
  /** How long (ms) the node rests. */
  readonly restMs: number
  readonly end: DrainEnd
}

/** Delays between attempts, in milliseconds: each is twice the one before. */
const FIRST_AGAIN_MS = 2_000
const LONGEST_AGAIN_MS = 15_000

/** Maximum time between two permits that counts, in milliseconds: while the node has no permit it is schedulable. */
const LONGEST_GAP_MS = 30_000

/** Maximum number of nodes in each part of the memory. */
const MOST_NODES = 2_000

/** Creates an empty memory. */
export function createDrainMemory(clock: Clock): DrainMemory {
  const drains = new Map<string, DrainProgress>()
  const rests = new Map<string, GivenUp & { readonly untilMs: number }>()

  return {
    progressOf(drain) {
      const { podUid, podResourceVersion } = drain.drained.permit
      const permit = { podUid, podResourceVersion }
      const next = nextProgress(drains.get(keyOf(drain)), permit, { atMs: clock.monotonicMs(), nowMs: clock.nowMs() })
      setBounded(drains, keyOf(drain), next)
      return next
    },
    attempted(drain, progress) {
      setBounded(drains, keyOf(drain), { ...progress, againMs: Math.min(LONGEST_AGAIN_MS, 2 * progress.againMs) })
    },
    ended: (drain) => void drains.delete(keyOf(drain)),
    gaveUp(drain, given) {
      drains.delete(keyOf(drain))
      setBounded(rests, keyOf(drain), { ...given, untilMs: clock.monotonicMs() + given.restMs })
    },
    whyResting(node, releaseUid, rules) {
      const key = keyText(node, releaseUid)
      const rest = rests.get(key)
      const nowMs = clock.monotonicMs()
      if (rest !== undefined && nowMs < rest.untilMs && isSameJson(rest.rules, rules)) return { ...rest.end, restMs: rest.untilMs - nowMs }
      rests.delete(key)
      return null
    },
  }
}

interface AttemptTimes {
  /** Monotonic. */
  readonly atMs: number
  /** Epoch milliseconds. */
  readonly nowMs: number
}

function nextProgress(before: DrainProgress | undefined, permit: DrainProgress['permit'], { atMs, nowMs }: AttemptTimes): DrainProgress {
  if (before?.permit.podUid !== permit.podUid)
    return { permit, atMs, sinceMs: nowMs, spentMs: 0, refusals: [], againMs: FIRST_AGAIN_MS, isReported: false, isYielded: false }
  const passedMs = atMs - before.atMs
  if (before.permit.podResourceVersion === permit.podResourceVersion) return { ...before, atMs, spentMs: before.spentMs + passedMs }
  const countedMs = Math.min(LONGEST_GAP_MS, passedMs)
  const sinceMs = before.sinceMs + passedMs - countedMs
  const isYielded = before.isYielded && passedMs <= LONGEST_GAP_MS
  return { ...before, permit, atMs, sinceMs, spentMs: before.spentMs + countedMs, againMs: FIRST_AGAIN_MS, isYielded }
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
