import type { BatchRelease, StoppedTime, WatchedNode } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, rolloutOf } from '@tranche/kube-types'
import {
  firstObservationOf,
  isAfterEnd,
  judgedNodes,
  judgedRelease,
  judgeRelease,
  type Judgement,
  stoppedTimeAfter,
  watchNodes,
  withMovedTimes,
} from '@tranche/verdict'
import { failedDueNodes, isOfLostPod } from '@tranche/fence'
import { isOlderThanAnother } from '../view/discover-revisions.ts'
import { frozenWatch } from './frozen-watch.ts'
import { carriedOn } from '../view/carried-on.ts'
import { isFinalized } from '../view/is-finalized.ts'
import { isInCharge, type ReleaseView } from '../view/release-view.ts'

/** Judgement of the release now; null while nothing is being released, and once the release is over. */
export function judgementOf(view: ReleaseView): Judgement | null {
  const known = judgements.get(view)
  if (known !== undefined) return known
  const judgement = judged(view)
  judgements.set(view, judgement)
  return judgement
}

/** A view never changes, and one pass asks several times. */
const judgements = new WeakMap<ReleaseView, Judgement | null>()

function judged(view: ReleaseView): Judgement | null {
  const { daemonSet } = view
  if (daemonSet === undefined || !isJudged(view, daemonSet)) return null
  const availability = availabilityOf(daemonSet, view)
  const notReadyDue = failedDueNodes({ ...view, ...availability })
  return judgeRelease({
    ...view,
    release: byTheClock(view),
    nowMs: steadyMs(view),
    ...availability,
    stopped: stoppedSoFar(view),
    notReadyDue,
  })
}

/**
 * Watch data of nodes that are not well, updated by the present view. A pass computes it before it plans.
 *
 * @param before the earlier watch data; after a restart, that of the status
 * @param lookedMs when this process last judged this release, on the view's steady clock; undefined: never
 */
export function watchedNodesOf(
  view: Omit<ReleaseView, 'watched'>,
  before: readonly WatchedNode[],
  lookedMs?: number,
): readonly WatchedNode[] {
  const { daemonSet, release } = view
  const revision = judgedRevision(release)
  if (revision === undefined) return []
  const full = { ...view, watched: before }
  const isOfRelease = release.status?.stoppedTime?.release === judgedRelease(release)
  const known = isOfRelease ? before : []
  if (daemonSet === undefined || release.metadata.deletionTimestamp !== undefined) return known
  // It applies until this release is published and judged itself.
  const watched = frozenWatch(daemonSet, revision)?.nodes ?? known
  if (!isJudged(full, daemonSet)) return isFinalized(full) ? [] : watched
  return watchNodes({
    ...full,
    nowMs: steadyMs(view),
    ...availabilityOf(daemonSet, view),
    revision,
    judged: judgedNodes(release),
    permits: release.status?.flight?.permits ?? [],
    watched,
    stopped: stoppedSoFar(view),
    lookedMs,
  })
}

/**
 * How long the release has been stopped, by its status. Without a status of this release: from now on, or from the start of
 * the release of the same revision that was frozen.
 */
export function stoppedSoFar(view: Omit<ReleaseView, 'watched'>): StoppedTime {
  const release = judgedRelease(view.release)
  const { stoppedTime } = byTheClock(view).status ?? {}
  if (stoppedTime?.release === release) return stoppedTime
  const revision = judgedRevision(view.release)
  const frozen = view.daemonSet === undefined ? null : frozenWatch(view.daemonSet, revision)
  return frozen === null ? firstObservation(view, revision) : { ...frozen.stopped, release }
}

/** The BatchRelease with its status times converted to the API server's present clock (F14). */
function byTheClock(view: Pick<ReleaseView, 'release' | 'movedTimes'>): BatchRelease {
  const status = statusByTheClock(view)
  return status === view.release.status || status === undefined ? view.release : { ...view.release, status }
}

/** @returns the status with its times converted to the API server's present clock (F14) */
export function statusByTheClock({ release: { status }, movedTimes }: Pick<ReleaseView, 'release' | 'movedTimes'>): BatchRelease['status'] {
  return movedTimes === undefined || status === undefined ? status : withMovedTimes(status, movedTimes)
}

function firstObservation(view: Omit<ReleaseView, 'watched'>, revision: string | undefined): StoppedTime {
  const { daemonSet, release, revisions, fleet } = view
  const name = judgedRelease(release)
  if (daemonSet === undefined || revision === undefined) return stoppedTimeAfter(undefined, name, false, steadyMs(view))
  // Nodes that a release left had old pods when it ended: each of their pods of the revision is newer.
  const wasThereBefore = !isAfterEnd(release) && isOlderThanAnother(revisions, revision)
  // A release that was deleted may have left nodes in flight that the record does not have yet (F11).
  const inFlight = [...(carriedOn(daemonSet)?.permits ?? []), ...(release.status?.flight?.permits ?? [])]
  const permits = inFlight.filter((permit) => !isOfLostPod(permit))
  const availability = availabilityOf(daemonSet, view)
  return firstObservationOf(name, { fleet, revision, ...availability, wasThereBefore, permits, nowMs: steadyMs(view) })
}

function judgedRevision({ spec, status }: ReleaseView['release']): string | undefined {
  return spec.tranche?.canaryRevision ?? status?.flight?.revision
}

/** The time by which deadlines are measured. */
export function steadyMs(view: Pick<ReleaseView, 'nowMs' | 'steadyMs'>): number {
  return view.steadyMs ?? view.nowMs
}

/**
 * A Rollout's release is over once `in-progressing` is gone. Then only nodes are judged that it left, as soon as the spec names
 * them.
 */
function isJudged(view: ReleaseView, daemonSet: DaemonSet): boolean {
  const { release } = view
  const isRunning = release.metadata.deletionTimestamp === undefined && isInCharge(view, daemonSet) && !isFinalized(view)
  return isRunning && !isEndOf(release, daemonSet)
}

function isEndOf(release: BatchRelease, { metadata }: DaemonSet): boolean {
  return rolloutOf(release) !== undefined && !isAfterEnd(release) && !(daemonSetAnnotations.inProgressing in (metadata.annotations ?? {}))
}

function availabilityOf(
  { spec }: DaemonSet,
  { monotonicMs }: Pick<ReleaseView, 'monotonicMs'>,
): { minReadyMs: number; monotonicMs: number } {
  return { minReadyMs: (spec.minReadySeconds ?? 0) * 1000, monotonicMs }
}
