import { type Permit, WATCHED_NODES_MAX, type WatchedNode } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { parseTime, timeText } from '@tranche/kube-types'
import { badBefore } from './bad-before.ts'
import { isLostAfterUpdate } from './counted-nodes.ts'
import { downSinceMs, downTimeMs, stoppedBeforeMs, type Times } from './down-time.ts'
import { olderPods } from './stopped-time.ts'
import { findSuspects, type Suspect } from './suspects.ts'

/** Input for watching nodes. */
export interface WatchQuestion extends Times {
  readonly fleet: FleetView
  readonly revision: string
  readonly minReadyMs: number
  readonly monotonicMs: number
  /** Nodes whose failures count; undefined: every node. */
  readonly judged?: ReadonlySet<string> | undefined
  readonly permits: readonly Permit[]
  /** Recorded facts before this pass. */
  readonly watched: readonly WatchedNode[]
}

/** A node that took at least this many seconds to become available stays watched: the time counts if it loses its pod again. */
const SLOW_SECONDS = 60

/** An unhealthy state that lasts this long is kept in the status; most nodes recover sooner. */
const NOTABLE_MS = 10_000

/**
 * Updates the recorded facts about nodes that are or were unhealthy. Without these facts, flapping or a new pod would reset the
 * deadlines. Nodes that start normally leave no entry.
 *
 * @returns entries sorted by name
 */
export function watchNodes(question: WatchQuestion): readonly WatchedNode[] {
  const { fleet, revision, minReadyMs, monotonicMs, stopped, judged } = question
  const found = findSuspects(fleet, { revision, minReadyMs, monotonicMs, older: olderPods(stopped) })
  const suspects = judged === undefined ? found : found.filter(({ node }) => judged.has(node))
  if (suspects.length === 0 && question.watched.length === 0) return []
  const bad = badBefore(question)
  const seen = new Map(suspects.map((suspect) => [suspect.node, suspect]))
  const before = new Map(question.watched.map((entry) => [entry.node, withValidTimes(entry)]))
  const names = [...new Set([...before.keys(), ...seen.keys()])].sort()
  const after = names.flatMap((name) => {
    const suspect = seen.get(name)
    if (bad.has(name)) return suspect === undefined ? [] : toBaseline(suspect, before.get(name), question)
    const looked = suspect ?? wellSuspect(name, question)
    if (looked === undefined) return []
    const entry = afterObservation(looked, before.get(name), question)
    return isKept(entry, before.get(name), looked, question) ? [entry] : []
  })
  return bounded(after)
}

/**
 * Selects the entries for the status: nodes that are unhealthy for some time, or again, and nodes whose kubelets cannot see their pods (no `downSince`). While the release is stopped, all of
 * them, so that the stop can be subtracted. At most {@link WATCHED_NODES_MAX}.
 */
export function notableNodes(watched: readonly WatchedNode[], { nowMs, stopped }: Times): readonly WatchedNode[] {
  const isStopped = stopped?.since !== undefined
  const notable = watched.filter(
    ({ downSince, downSeconds = 0, restarts = 0, seen = 0 }) =>
      downSeconds > 0 ||
      restarts !== 0 ||
      seen !== 0 ||
      downSince === undefined ||
      isStopped ||
      nowMs - (parseTime(downSince) ?? nowMs) >= NOTABLE_MS,
  )
  return notable.length <= WATCHED_NODES_MAX ? notable : notable.toSorted(worstFirst).slice(0, WATCHED_NODES_MAX).sort(byName)
}

/** Moves the entries by `ms` after the clock was set, so that durations stay the same. Creation times of pods do not move. */
export function watchedLater(watched: readonly WatchedNode[], ms: number): readonly WatchedNode[] {
  const later = (time: string): string => {
    const atMs = parseTime(time)
    return atMs === null ? time : timeText(atMs + ms)
  }
  return watched.map((entry) => ({
    ...entry,
    ...(entry.uid === undefined && { since: later(entry.since) }),
    ...(entry.downSince !== undefined && { downSince: later(entry.downSince) }),
  }))
}

/** An entry whose start of its down time is no time has none: the present down time then starts as for a new entry. */
function withValidTimes(entry: WatchedNode): WatchedNode {
  const { downSince, stoppedSeconds: _stopped, ...rest } = entry
  return downSince === undefined || parseTime(downSince) !== null ? entry : rest
}

/**
 * The healthy node of an entry; undefined when it is gone, or runs another revision, or is not desired though it works: the entry then
 * ends. The taint of a node that is Ready again may go later.
 */
function wellSuspect(name: string, { fleet, revision }: WatchQuestion): Suspect | undefined {
  const node = nodeInView(fleet, name)
  const pod = node?.pods.find(({ terminating, hash }) => !terminating && hash === revision)
  if (node === undefined || pod === undefined || !(node.desired || isLostAfterUpdate(node, revision))) return undefined
  return { node: name, pod, isMissing: false, isDown: false, hasLostNode: false, restarts: 0 }
}

/** Restarts on a node that was unhealthy before its update count from its recovery. */
function toBaseline({ node, pod, restarts }: Suspect, before: WatchedNode | undefined, { nowMs }: WatchQuestion): readonly WatchedNode[] {
  if (pod === undefined || restarts === 0) return []
  // The same state gives the same entry: a new time would cause a status write in each pass.
  const since = before?.uid === pod.uid ? before.since : timeText(nowMs)
  return [{ node, since, uid: pod.uid, seen: restarts, ignoredRestarts: restarts }]
}

function afterObservation(suspect: Suspect, before: WatchedNode | undefined, question: WatchQuestion): WatchedNode {
  const known = before ?? { node: suspect.node, since: timeText(question.nowMs) }
  return { ...afterPod(suspect, known, question), ...afterDown(suspect, before, question) }
}

/** Present pod, its start, and the restarts of the earlier pods. */
function afterPod({ node, pod, endingUid, restarts }: Suspect, before: WatchedNode, { nowMs }: WatchQuestion): WatchedNode {
  const seen = before.seen ?? 0
  const earlier = before.restarts ?? 0
  const ignored = before.ignoredRestarts === undefined ? {} : { ignoredRestarts: before.ignoredRestarts }
  // While a pod terminates, no other can be created: that time does not count as time without a pod.
  if (endingUid !== undefined) {
    return endingUid === before.uid
      ? entryOf(before)
      : entryOf({ node, since: before.since, uid: endingUid, restarts: earlier + seen, ...ignored })
  }
  if (pod === undefined) {
    const since = before.uid === undefined ? before.since : timeText(nowMs)
    return entryOf({ node, since, restarts: earlier + seen, ...ignored })
  }
  if (pod.uid === before.uid) return entryOf({ ...before, seen: Math.max(seen, restarts) })
  return entryOf({ node, since: pod.createdAt, uid: pod.uid, restarts: earlier + seen, seen: restarts, ...ignored })
}

function entryOf({ node, since, uid, restarts = 0, seen = 0, ignoredRestarts = 0 }: WatchedNode): WatchedNode {
  return {
    node,
    since,
    ...(uid !== undefined && { uid }),
    ...(restarts !== 0 && { restarts }),
    ...(seen !== 0 && { seen }),
    ...(ignoredRestarts !== 0 && { ignoredRestarts }),
  }
}

type Down = Pick<WatchedNode, 'downSeconds' | 'downSince' | 'stoppedSeconds'>

/** Total time without an available pod, and the start of the present one; none while its kubelet cannot see the pod. Rounds in favour of the node. */
function afterDown(suspect: Suspect, before: WatchedNode | undefined, question: WatchQuestion): Down {
  const { downSeconds, downSince, stoppedSeconds } = before ?? {}
  const isCounted = suspect.isDown && suspect.unseenSinceMs === undefined
  if (isCounted && downSince !== undefined) {
    return { ...(downSeconds !== undefined && { downSeconds }), downSince, ...(stoppedSeconds !== undefined && { stoppedSeconds }) }
  }
  if (isCounted) {
    const sinceMs = downSinceMs(suspect, before, question)
    const stopped = Math.floor(stoppedBeforeMs(question, sinceMs) / 1000)
    return {
      ...(downSeconds !== undefined && { downSeconds }),
      downSince: timeText(sinceMs),
      ...(stopped > 0 && { stoppedSeconds: stopped }),
    }
  }
  if (downSince === undefined) return downSeconds === undefined ? {} : { downSeconds }
  const upMs = Math.max(parseTime(downSince) ?? 0, Math.min(question.nowMs, upSinceMs(suspect, question)))
  const total = Math.floor(downTimeMs({ ...suspect, isDown: true, unseenSinceMs: undefined }, before, { ...question, nowMs: upMs }) / 1000)
  return total > 0 ? { downSeconds: total } : {}
}

/** When a down time ends: the pod has become available, or a pod was created that its kubelet cannot see. */
function upSinceMs({ pod, unseenSinceMs }: Suspect, { nowMs, minReadyMs }: WatchQuestion): number {
  if (unseenSinceMs !== undefined) return unseenSinceMs
  const stampMs = parseTime(pod?.readyStamp)
  return stampMs === null ? nowMs : stampMs + minReadyMs
}

/** Whether to keep an entry: for a down node, for restarts and for down time, but not for a quick first start with a permit. */
function isKept(entry: WatchedNode, before: WatchedNode | undefined, suspect: Suspect, { permits }: WatchQuestion): boolean {
  const { downSeconds = 0, restarts = 0, seen = 0 } = entry
  if (suspect.isDown || restarts !== 0 || seen !== 0 || downSeconds >= SLOW_SECONDS) return true
  return downSeconds > 0 && !(isFirstStart(before, suspect) && permits.some(({ node }) => node === entry.node))
}

/** Whether the node was down before its pod was created; timestamps of pods are whole seconds. */
function isFirstStart(before: WatchedNode | undefined, { pod }: Suspect): boolean {
  if (before?.downSince === undefined || before.downSeconds !== undefined) return false
  const downMs = parseTime(before.downSince)
  const createdMs = parseTime(pod?.createdAt)
  return downMs !== null && createdMs !== null && downMs <= createdMs + 1000
}

/** Limits the entries; healthy nodes are dropped first. */
function bounded(watched: readonly WatchedNode[]): readonly WatchedNode[] {
  const well = watched.filter(({ downSince }) => downSince === undefined)
  if (well.length <= WATCHED_NODES_MAX) return watched
  const kept = new Set(well.toSorted(worstFirst).slice(0, WATCHED_NODES_MAX))
  return watched.filter((entry) => entry.downSince !== undefined || kept.has(entry))
}

/** Orders down nodes first, the longest down first; then the others by their recorded down time and restarts. */
function worstFirst(a: WatchedNode, b: WatchedNode): number {
  const aDown = a.downSince ?? '~'
  const bDown = b.downSince ?? '~'
  if (aDown !== bDown) return aDown < bDown ? -1 : 1
  return hardship(b) - hardship(a) || byName(a, b)
}

function hardship({ downSeconds = 0, restarts = 0, seen = 0, ignoredRestarts = 0 }: WatchedNode): number {
  return downSeconds + (restarts + seen - ignoredRestarts) * SLOW_SECONDS
}

function byName(a: WatchedNode, b: WatchedNode): number {
  return a.node < b.node ? -1 : a.node > b.node ? 1 : 0
}
