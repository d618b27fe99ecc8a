import type { StoppedTime, WatchedNode } from '@tranche/api-schema'
import type { Suspect } from './suspects.ts'

/** How time bears on deadlines. */
export interface Times {
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** For how long this release was stopped; undefined while it has not been seen before. */
  readonly stopped: StoppedTime | undefined
  /** When it was looked last, epoch milliseconds: what was down then is remembered. Undefined: never, or by others. */
  readonly lookedMs?: number | undefined
}

/** What began longer ago than this without being watched may have seen stops that we know nothing of. */
const UNWATCHED_MS = 10_000

/** @returns milliseconds for which the release was stopped until `atMs`, as far as the stop that lasts, or was the last, tells */
export function stoppedMs({ stopped }: Times, atMs: number): number {
  if (stopped === undefined) return 0
  const sinceMs = stopped.since === undefined ? Number.POSITIVE_INFINITY : Date.parse(stopped.since)
  return stopped.seconds * 1000 + Math.max(0, atMs - sinceMs || 0)
}

/** What a release brings may be there so long before anybody has seen the release. */
const MADE_FOR_IT_MS = 60_000

/**
 * Since when a node that nobody watched has had no available pod, as far as its pod tells: its last change to or from Ready,
 * else its creation. A stamp from long before the release is of a clock that goes wrong, or says nothing of this release, and
 * then it counts from now on. Where the clock of the API server lags by less than the release is old, it may be too early, but never before
 * the last look, at which the node was well.
 */
export function downSinceMs({ pod }: Suspect, { nowMs, stopped, lookedMs }: Times): number {
  if (pod === undefined) return nowMs
  const stampMs = Math.max(Date.parse(pod.readyStamp ?? pod.createdAt), lookedMs ?? Number.NEGATIVE_INFINITY)
  const earliestMs = Date.parse(stopped?.startedAt ?? '') - MADE_FOR_IT_MS
  return Number.isNaN(stampMs) || stampMs < earliestMs ? nowMs : Math.min(stampMs, nowMs)
}

/** For how long the release had been stopped at `sinceMs`; where that is long ago and nobody watched, every stop counts as later. */
export function stoppedBeforeMs(times: Times, sinceMs: number): number {
  return times.nowMs - sinceMs > UNWATCHED_MS ? 0 : stoppedMs(times, sinceMs)
}

/**
 * @param watched what is remembered of the node
 * @returns milliseconds since its update for which the node had no available pod and the release was not stopped
 */
export function downTimeMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  const beforeMs = (watched?.downSeconds ?? 0) * 1000
  if (!suspect.isDown) return beforeMs
  return beforeMs + runningMs(suspect, watched, times)
}

function runningMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  const isKnown = watched?.downSince !== undefined
  const sinceMs = isKnown ? Date.parse(watched.downSince) : downSinceMs(suspect, times)
  const stoppedAtMs = isKnown ? (watched.stoppedSeconds ?? 0) * 1000 : stoppedBeforeMs(times, sinceMs)
  return Math.max(0, times.nowMs - sinceMs - Math.max(0, stoppedMs(times, times.nowMs) - stoppedAtMs))
}

/** @returns milliseconds for which its present pod, or none, has been there, stops not counted; never more than {@link downTimeMs} */
export function sameStateMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  const createdMs = suspect.pod === undefined ? sinceOf(watched, times.nowMs) : Date.parse(suspect.pod.createdAt)
  return Math.min(downTimeMs(suspect, watched, times), Math.max(0, times.nowMs - createdMs || 0))
}

function sinceOf(watched: WatchedNode | undefined, nowMs: number): number {
  return watched === undefined || watched.uid !== undefined ? nowMs : Date.parse(watched.since)
}
