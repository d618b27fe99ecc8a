import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { begunAt } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations, parseTime, timeText } from '@tranche/kube-types'
import { judgedRelease } from '@tranche/verdict'
import { begunWhenFrozen } from './progress/frozen-watch.ts'
import { controlledBy, isInCharge, type ReleaseView } from './view/release-view.ts'

/**
 * A start is put this much earlier (ms). Creation times of pods are whole seconds, and servers of one cluster differ. A pod of the release that
 * seems older than its release would give its place in the batch to another node.
 */
const CLOCK_DOUBT_MS = 5_000

/**
 * G3: when the release of this revision began. A BatchRelease that nodes left keep, or that another template edits, begins another release than
 * the one before. It begins when it was first seen, not when a pause or a group lets it start: nodes in flight may get its version meanwhile.
 * Control-info has its start before the record opens, so that no crash between these two writes moves it.
 *
 * @returns RFC 3339 by the clock of the API server; undefined for an object that is not stored
 */
export function startOfRelease(
  { release, nowMs }: Pick<ReleaseView, 'release' | 'nowMs'>,
  daemonSet: DaemonSet,
  revision: string,
): string | undefined {
  const record = release.status?.flight
  if (record === undefined || record.revision === revision) return begunAt(release)
  return timeText(Math.min(begunBeforeMs(daemonSet, revision) ?? firstSeenMs(release) - CLOCK_DOUBT_MS, nowMs - CLOCK_DOUBT_MS))
}

/** F11, G3: the record to open for this revision. It says when the release began, if that is another release than the record's. */
export function recordOfRelease(
  view: ReleaseView,
  daemonSet: DaemonSet,
  { record, revision }: { readonly record: FlightRecord; readonly revision: string },
): FlightRecord {
  return record.revision === revision ? record : { ...record, begunAt: startOfRelease(view, daemonSet, revision) }
}

/**
 * F11: the start that a BatchRelease adopts for the release of this revision: that of a frozen release, of an earlier BatchRelease, or of its
 * own record, which was lost.
 *
 * @returns RFC 3339; null where there is nothing to adopt
 */
export function startToInherit(
  { release }: Pick<ReleaseView, 'release'>,
  daemonSet: DaemonSet,
  { record, revision }: { readonly record: FlightRecord; readonly revision: string },
): string | null {
  const sinceMs = begunBeforeMs(daemonSet, revision)
  if (sinceMs === null) return null
  const ownMs = parseTime(begunAt(release)) ?? 0
  const mayBeLost = isInCharge({ release }, daemonSet) && record.begunAt === undefined && record.revision === revision
  return sinceMs < ownMs || (mayBeLost && sinceMs > ownMs) ? timeText(sinceMs) : null
}

/** When a status first named this release, in epoch milliseconds; Infinity where none does. */
function firstSeenMs(release: BatchRelease): number {
  const { stoppedTime } = release.status ?? {}
  const seenMs = stoppedTime?.release === judgedRelease(release) ? parseTime(stoppedTime.startedAt) : null
  return seenMs === null ? Number.POSITIVE_INFINITY : Math.max(seenMs, CLOCK_DOUBT_MS)
}

/** Start of the release of this revision, as frozen or published, in epoch milliseconds from 1970 on; null where nothing says it. */
function begunBeforeMs(daemonSet: DaemonSet, revision: string): number | null {
  const sinceMs = parseTime(begunWhenFrozen(daemonSet, revision) ?? begunWhenPublished(daemonSet, revision))
  return sinceMs === null ? null : Math.max(0, sinceMs)
}

/** When the release began that was published last; undefined where it was of another revision, or nothing says it. */
function begunWhenPublished(daemonSet: DaemonSet, revision: string): string | undefined {
  return daemonSet.metadata.annotations?.[daemonSetAnnotations.canaryRevision] === revision ? controlledBy(daemonSet)?.begunAt : undefined
}
