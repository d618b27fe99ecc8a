import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { controlledBy, type ReleaseView } from './release-view.ts'

/** Reason for which the record of a release that is over is stopped, before the DaemonSet is given back. */
export const FINALIZED = 'Finalized'

/** The end was written: Tranche no longer controls the DaemonSet, and nothing is published or opened again. */
export function isFinalized(view: ReleaseView): boolean {
  const { release } = view
  if (release.metadata.deletionTimestamp !== undefined || release.spec.releasePlan.batchPartition !== undefined) return false
  // A rollback starts where the release before it was finished, with the same batches; that end is not its own.
  if (!isStatusOfRelease(release)) return false
  // F11: a DaemonSet that was given back has a stopped record.
  if (release.status?.flight !== undefined && release.status.flight.state !== 'stopped') return false
  return release.status?.phase === 'Completed' || isGivenBack(view)
}

/**
 * Whether the release has removed its keys. Keys that another client removed are put back. For example, a manifest that replaces the DaemonSet
 * removes them. Only the record tells both apart: where a failure or a pause has stopped it, the release is not over (G12).
 */
function isGivenBack({ release: { status }, daemonSet }: ReleaseView): boolean {
  if (status?.phase !== 'Finalizing' || daemonSet === undefined || controlledBy(daemonSet) !== undefined) return false
  return status.flight === undefined || isStoppedAtEnd(status.flight)
}

/** Whether the record is stopped because the release is over. */
export function isStoppedAtEnd({ state, holds }: Pick<FlightRecord, 'state' | 'holds'>): boolean {
  return state === 'stopped' && holds.some(({ reason }) => reason === FINALIZED)
}

/** Whether the last batch is open, and the status says that the release is finishing. */
export function isAtEnd({ spec, status }: BatchRelease): boolean {
  return spec.releasePlan.batchPartition === undefined && status?.phase === 'Finalizing'
}

/** Whether the status is of the release in the spec, not of the one before it. */
export function isStatusOfRelease({ spec, status }: BatchRelease): boolean {
  return (status?.observedRelease ?? '') === (spec.tranche?.release ?? '')
}
