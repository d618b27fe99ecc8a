import type { BatchRelease, WatchedNode } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { deletablePod, type GroupView, isFree, isReleaseRevisionMissing, type ReleaseView, watchedNodesOf } from '@tranche/planner'
import { CLOCK_SET_MS, judgedRelease, type MovedTimes, movedTimes, watchedLater } from '@tranche/verdict'
import { createLabelMemory, type LabelMemory } from './label-memory.ts'
import { type KnownNodeList, nodeListFor } from './list-nodes.ts'
import type { ReleaseReading } from './release-port.ts'

/** Object of this uid that this process has seen in one state since a time (monotonic milliseconds). */
interface Sighting {
  readonly uid: string
  readonly sinceMs: number
}

/** What this process remembers of its own writes, to save requests; no guarantee depends on it (G7). */
export interface ReleaseMemory {
  statusWrittenMs: number | null
  readonly labels: LabelMemory
  /**
   * Versions of the BatchRelease from which the DaemonSet was last patched, and of the DaemonSet as stored then; null: not patched. `sentMs`:
   * when that patch was sent (monotonic).
   */
  patched: { readonly release: string; readonly daemonSet: string; readonly sentMs: number } | null
  /**
   * Version of the BatchRelease from which the finalizer was removed; null: it was not. A watch that shows the deletion last shows that version
   * once more.
   */
  finalizerRemovedFrom: string | null
  /** Response to the last inconclusive touch; null if every response was clear. */
  unclear: string | null
  /** Unhealthy nodes seen so far; null until the first look, when the status knows more. */
  watched: readonly WatchedNode[] | null
  /** Monotonic time of the last look, and its release; null: never. */
  looked: { readonly atMs: number; readonly release: string } | null
  /** Times of the status that were written before the API server's clock was set. */
  moved: MovedTimes
  /** Offset to add to the monotonic clock: see {@link followClock}. */
  epochMs: number
  /**
   * Monotonic time since which the ControllerRevision of the template has been missing, or at which the DaemonSet was touched for it; null:
   * not missing.
   */
  revisionMissingSinceMs: number | null
  /** Monotonic time since which the Lease of the group has had no holder; null: it has one. */
  groupFreeSinceMs: number | null
  /** Monotonic time before which a Lease that could not be given up is not written again. */
  leaveAgainMs: number
  /** Why this Lease could not be taken, and the monotonic time before which it is not tried again; null: it was taken, or never tried. */
  takeFailure: { readonly lease: string; readonly why: string; readonly againMs: number } | null
  /** Deletable pod, and since when it has been one (monotonic); null: there is none. */
  undeleted: Sighting | null
  /** The last live list of nodes, for a batch that seemed complete; null where none asks for it. */
  nodeList: KnownNodeList | null
  /** Deleted BatchRelease, and since when it has been seen deleted (monotonic); null: it is not deleted. */
  deleted: Sighting | null
  /** Whether the API server refused the paused annotation for a reason other than a lost race. */
  pauseRefused: boolean
  /** Last patch of the DaemonSet that the API server rejected, with its words, and since when (monotonic); null: none since the last success. */
  rejected: (NonNullable<ReleaseView['rejected']> & { readonly sinceMs: number }) | null
}

/** @returns the memory of this key, which is empty at first */
export function memoryOf(memories: Map<string, ReleaseMemory>, key: ObjectKey, clock: Clock): ReleaseMemory {
  const memory = memories.get(keyText(key)) ?? {
    statusWrittenMs: null,
    labels: createLabelMemory(),
    patched: null,
    finalizerRemovedFrom: null,
    unclear: null,
    watched: null,
    looked: null,
    moved: new Map(),
    epochMs: clock.nowMs() - clock.monotonicMs(),
    revisionMissingSinceMs: null,
    groupFreeSinceMs: null,
    leaveAgainMs: 0,
    takeFailure: null,
    undeleted: null,
    nodeList: null,
    deleted: null,
    pauseRefused: false,
    rejected: null,
  }
  memories.set(keyText(key), memory)
  return memory
}

/**
 * Shifts the remembered times when the API server's clock was set. Deadlines run by the monotonic clock, while new timestamps of the API
 * server use the new time. So memory and status times move with it, and no duration changes.
 */
function followClock(memory: ReleaseMemory, clock: Clock, { status }: BatchRelease): void {
  const differenceMs = clock.nowMs() - clock.monotonicMs() - memory.epochMs
  const stepMs = Math.abs(differenceMs) < CLOCK_SET_MS ? 0 : differenceMs
  memory.moved = movedTimes(memory.moved, status, stepMs)
  if (stepMs === 0) return
  memory.epochMs += stepMs
  if (memory.watched !== null) memory.watched = watchedLater(memory.watched, stepMs)
  if (memory.looked !== null) memory.looked = { ...memory.looked, atMs: memory.looked.atMs + stepMs }
}

/** View that a pass decides from: what was read, the clocks, and this process's memory, which it updates. */
export function viewOf(reading: ReleaseReading, memory: ReleaseMemory, clock: Clock): ReleaseView {
  followClock(memory, clock, reading.release)
  const monotonicMs = clock.monotonicMs()
  const labelled = memory.labels.doneFor(reading.release.spec.releasePlan.rolloutID, reading.fleet, monotonicMs)
  const { statusWrittenMs, unclear, pauseRefused, rejected } = memory
  const { metadata } = reading.release
  memory.undeleted = sightingOf(memory.undeleted, deletablePod({ ...reading, monotonicMs }), monotonicMs)
  memory.deleted = sightingOf(memory.deleted, metadata.deletionTimestamp === undefined ? undefined : metadata.uid, monotonicMs)
  const nodeList = nodeListFor(memory.nodeList, { ...reading, monotonicMs })
  memory.nodeList = nodeList ?? null
  const { undeleted, deleted } = memory
  const view = {
    ...reading,
    ...(undeleted !== null && { undeletedSinceMs: undeleted.sinceMs }),
    ...(deleted !== null && { deletedSinceMs: deleted.sinceMs }),
    ...(nodeList !== undefined && { nodeList }),
    group: groupView(reading, memory, monotonicMs),
    statusWrittenMs,
    unclear,
    pauseRefused,
    ...(rejected !== null && { rejected }),
    labelled,
    nowMs: clock.nowMs(),
    monotonicMs,
    steadyMs: monotonicMs + memory.epochMs,
    movedTimes: memory.moved,
  }
  if (!isReleaseRevisionMissing(view)) memory.revisionMissingSinceMs = null
  else memory.revisionMissingSinceMs ??= monotonicMs
  // Outdated definitions hide the watch data that are stored: nothing is known better than before.
  if (reading.schemaGap === undefined) watch(view, memory)
  return { ...view, watched: memory.watched ?? [], revisionMissingSinceMs: memory.revisionMissingSinceMs }
}

/** Updates what this process knows of the nodes of a release. */
function watch(view: Omit<ReleaseView, 'watched'> & { readonly steadyMs: number }, memory: ReleaseMemory): void {
  const release = judgedRelease(view.release)
  const lookedMs = memory.looked?.release === release ? memory.looked.atMs : undefined
  memory.watched = watchedNodesOf(view, memory.watched ?? view.release.status?.watchedNodes ?? [], lookedMs)
  memory.looked = { atMs: view.steadyMs, release }
}

/** @param uid of the object that is in the state now; undefined: none is */
function sightingOf(before: Sighting | null, uid: string | undefined, nowMs: number): Sighting | null {
  if (uid === undefined) return null
  return before?.uid === uid ? before : { uid, sinceMs: nowMs }
}

function groupView({ group }: ReleaseReading, memory: ReleaseMemory, monotonicMs: number): GroupView | undefined {
  if (group === undefined || group.refused !== null || !isFree(group.lease)) memory.groupFreeSinceMs = null
  else memory.groupFreeSinceMs ??= monotonicMs
  const { groupFreeSinceMs: sinceMs } = memory
  if (group === undefined) return undefined
  const { takeFailure } = memory
  const isHeldOff = takeFailure?.lease === group.name && monotonicMs < takeFailure.againMs
  return {
    ...group,
    freeForMs: sinceMs === null ? null : monotonicMs - sinceMs,
    leaveFailed: monotonicMs < memory.leaveAgainMs,
    takeFailure: isHeldOff ? takeFailure.why : undefined,
  }
}
