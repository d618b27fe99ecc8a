import type { StoppedTime, WatchedNode } from '@tranche/api-schema'
import type { FleetPod } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import { CLOCK_SET_MS } from './moved-times.ts'
import type { Suspect } from './suspects.ts'

/** Times that deadlines depend on. */
export interface Times {
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** How long this release was stopped; undefined before its first observation. */
  readonly stopped: StoppedTime | undefined
  /** Epoch milliseconds of the last pass of this process, which recorded the nodes that were down; undefined before the first. */
  readonly lookedMs?: number | undefined
}

/** An unwatched time longer than this may include stops that this process did not observe. */
const UNWATCHED_MS = 10_000

/** @returns milliseconds for which the release was stopped until `atMs`, as far as the present or last stop shows */
export function stoppedMs({ stopped }: Times, atMs: number): number {
  if (stopped === undefined) return 0
  return stopped.seconds * 1000 + Math.max(0, atMs - (parseTime(stopped.since) ?? Number.POSITIVE_INFINITY))
}

/** Pods of a release may be created this long before the first observation of the release. */
const MADE_FOR_IT_MS = 60_000

/**
 * Time since which a node whose present down time is not recorded has had no available pod: the last Ready transition of its pod, else its
 * creation. A node whose kubelet could not see its pod until now has the whole deadline for it.
 *
 * A timestamp from long before the release comes from a wrong clock or another release; the time then starts now. When the clock of
 * the API server lags, the result may be too early, but never before the last pass, in which the node was healthy.
 */
export function downSinceMs({ pod }: Suspect, watched: WatchedNode | undefined, { nowMs, stopped, lookedMs }: Times): number {
  if (pod === undefined || wasUnseen(pod, watched)) return nowMs
  const stampMs = stampMsOf(pod)
  if (stampMs === null) return nowMs
  const latestMs = Math.max(stampMs, lookedMs ?? Number.NEGATIVE_INFINITY)
  const earliestMs = (stopped === undefined ? null : startMsOf(stopped)) ?? Number.NEGATIVE_INFINITY
  return latestMs < earliestMs - MADE_FOR_IT_MS ? nowMs : Math.min(latestMs, nowMs)
}

/** Whether its kubelet could not see the pod when the node was last watched: every other down node has a recorded start. */
function wasUnseen({ uid, acknowledged }: FleetPod, watched: WatchedNode | undefined): boolean {
  return watched?.uid === uid && watched.downSince === undefined && !acknowledged
}

/** Parsed times of values that never change: a pass asks for each of them once per node that is down. */
const stamps = new WeakMap<NonNullable<Suspect['pod']> | StoppedTime, number | null>()

function stampMsOf(pod: NonNullable<Suspect['pod']>): number | null {
  return stampOnce(pod, pod.readyStamp ?? pod.createdAt)
}

function startMsOf(stopped: StoppedTime): number | null {
  return stampOnce(stopped, stopped.startedAt)
}

function stampOnce(of: NonNullable<Suspect['pod']> | StoppedTime, text: string): number | null {
  const known = stamps.get(of)
  if (known !== undefined) return known
  const ms = parseTime(text)
  stamps.set(of, ms)
  return ms
}

/** How long the release had been stopped at `sinceMs`; if that is long ago and unwatched, every stop counts as later. */
export function stoppedBeforeMs(times: Times, sinceMs: number): number {
  return times.nowMs - sinceMs > UNWATCHED_MS ? 0 : stoppedMs(times, sinceMs)
}

/**
 * @param watched recorded facts about the node
 * @returns milliseconds since its update for which the node had no available pod, its kubelet could see the pod, and the release was not stopped
 */
export function downTimeMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  return (watched?.downSeconds ?? 0) * 1000 + runningMs(suspect, watched, times)
}

/** Milliseconds of {@link downTimeMs} since the node was last well, or its kubelet could not see the pod. */
function runningMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  if (!suspect.isDown || suspect.unseenSinceMs !== undefined) return 0
  const knownMs = parseTime(watched?.downSince)
  const sinceMs = knownMs ?? downSinceMs(suspect, watched, times)
  const stoppedAtMs = knownMs === null ? stoppedBeforeMs(times, sinceMs) : (watched?.stoppedSeconds ?? 0) * 1000
  return Math.max(0, times.nowMs - sinceMs - Math.max(0, stoppedMs(times, times.nowMs) - stoppedAtMs))
}

/**
 * A pod whose creation lies ahead was created before the clock of the API server was set back.
 *
 * @returns milliseconds that its present pod, or its lack of a pod, has lasted, without stops and without time in which its kubelet could not see the pod
 */
export function sameStateMs(suspect: Suspect, watched: WatchedNode | undefined, times: Times): number {
  const createdMs = suspect.pod === undefined ? sinceOf(watched, times.nowMs) : (parseTime(suspect.pod.createdAt) ?? times.nowMs)
  const lastedMs = times.nowMs - createdMs
  const isSetBack = suspect.pod !== undefined && lastedMs <= -CLOCK_SET_MS
  return Math.min(runningMs(suspect, watched, times), isSetBack ? Number.POSITIVE_INFINITY : Math.max(0, lastedMs))
}

function sinceOf(watched: WatchedNode | undefined, nowMs: number): number {
  return watched === undefined || watched.uid !== undefined ? nowMs : (parseTime(watched.since) ?? nowMs)
}
