import type { BatchRelease } from '@tranche/api-schema'
import { controlledBy, type ReleaseView } from './release-view.ts'

/** The end was written: Tranche no longer controls the DaemonSet, and nothing is published or opened again. */
export function isFinalized({ release, daemonSet }: ReleaseView): boolean {
  if (release.metadata.deletionTimestamp !== undefined || release.spec.releasePlan.batchPartition !== undefined) return false
  // A rollback starts where the release before it was finished, with the same batches; that end is not its own.
  if (!isStatusOfRelease(release)) return false
  // Keys that another client removed are put back: a DaemonSet that was given back has a stopped record (F11).
  if (release.status?.flight !== undefined && release.status.flight.state !== 'stopped') return false
  return (
    release.status?.phase === 'Completed' ||
    (release.status?.phase === 'Finalizing' && daemonSet !== undefined && controlledBy(daemonSet) === undefined)
  )
}

/** Whether the status is of the release in the spec, not of the one before it. */
export function isStatusOfRelease({ spec, status }: BatchRelease): boolean {
  return (status?.observedRelease ?? '') === (spec.tranche?.release ?? '')
}
