import type { BatchRelease, WatchedNode } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import { isReleaseRevisionMissing, type ReleaseView, watchRelease } from '@tranche/planner'
import { CLOCK_SET_MS, judgedRelease, type MovedTimes, movedTimes, watchedLater } from '@tranche/verdict'
import { createLabelMemory, type LabelMemory } from './label-memory.ts'
import type { ReleaseReading } from './release-port.ts'

/** What this process remembers of its own writes, to save requests; nothing is decided by it that matters (G7). */
export interface ReleaseMemory {
  statusWrittenMs: number | null
  readonly labels: LabelMemory
  /** What the last touch that said neither way was answered with; null when every answer was clear. */
  unclear: string | null
  /** What was seen of nodes that are not well; null until the first look, when the status knows more. */
  watched: readonly WatchedNode[] | null
  /** When it was looked last, by the steady clock, and at which release; null: never. */
  looked: { readonly atMs: number; readonly release: string } | null
  /** Times of the status that were stamped before the API server's clock was set. */
  moved: MovedTimes
  /** What to add to the monotonic clock: see {@link followClock}. */
  epochMs: number
  /** Since when (monotonic) the ControllerRevision of the template has been missing, or the DaemonSet was touched for it; null: it is not. */
  revisionMissingSinceMs: number | null
  /** The API server refused the annotation that says paused, by more than a lost race. */
  pauseRefused: boolean
}

/** @returns what is remembered under this key, which is nothing at first */
export function memoryOf(memories: Map<string, ReleaseMemory>, key: ObjectKey, clock: Clock): ReleaseMemory {
  const memory = memories.get(keyText(key)) ?? {
    statusWrittenMs: null,
    labels: createLabelMemory(),
    unclear: null,
    watched: null,
    looked: null,
    moved: new Map(),
    epochMs: clock.nowMs() - clock.monotonicMs(),
    revisionMissingSinceMs: null,
    pauseRefused: false,
  }
  memories.set(keyText(key), memory)
  return memory
}

/**
 * Deadlines run by the monotonic clock. Where the API server's clock was set, what it stamps from then on is of another time: ours follows,
 * and what is remembered, and what the status says, moves with it, so that nothing has lasted longer or shorter by that.
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

/** What a pass decides by: what was read, with the clocks and what this process remembers, which it brings up to now. */
export function viewOf(reading: ReleaseReading, memory: ReleaseMemory, clock: Clock): ReleaseView {
  followClock(memory, clock, reading.release)
  const monotonicMs = clock.monotonicMs()
  const labelled = memory.labels.doneFor(reading.release.spec.releasePlan.rolloutID, reading.fleet, monotonicMs)
  const { statusWrittenMs, unclear, pauseRefused } = memory
  const view = {
    ...reading,
    statusWrittenMs,
    unclear,
    pauseRefused,
    labelled,
    nowMs: clock.nowMs(),
    monotonicMs,
    steadyMs: monotonicMs + memory.epochMs,
    movedTimes: memory.moved,
  }
  if (!isReleaseRevisionMissing(view)) memory.revisionMissingSinceMs = null
  else memory.revisionMissingSinceMs ??= monotonicMs
  const release = judgedRelease(reading.release)
  const lookedMs = memory.looked?.release === release ? memory.looked.atMs : undefined
  memory.watched = watchRelease(view, memory.watched ?? reading.release.status?.watchedNodes ?? [], lookedMs)
  memory.looked = { atMs: view.steadyMs, release }
  return { ...view, watched: memory.watched, revisionMissingSinceMs: memory.revisionMissingSinceMs }
}
