import type { BatchRelease } from '@tranche/api-schema'
import { controlledBy, type ReleaseView } from './release-view.ts'

/** The end was written: the DaemonSet is no longer ours, and nothing is announced or opened again. */
export function isFinalized({ release, daemonSet }: ReleaseView): boolean {
  if (release.metadata.deletionTimestamp !== undefined || release.spec.releasePlan.batchPartition !== undefined) return false
  // A rollback begins where the release before it was finished, with the same batches: what was finished is not this one.
  if (!isStatusOfRelease(release)) return false
  // Keys that somebody else took away are put back: what was given back has a stopped record (F11).
  if (release.status?.flight !== undefined && release.status.flight.state !== 'stopped') return false
  return (
    release.status?.phase === 'Completed' ||
    (release.status?.phase === 'Finalizing' && daemonSet !== undefined && controlledBy(daemonSet) === undefined)
  )
}

/** The status speaks of the release that the spec means, and not of the one before it. */
export function isStatusOfRelease({ spec, status }: BatchRelease): boolean {
  return (status?.observedRelease ?? '') === (spec.tranche?.release ?? '')
}
