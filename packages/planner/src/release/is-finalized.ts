import { controlledBy, type ReleaseView } from './release-view.ts'

/** The end was written: the DaemonSet is no longer ours, and nothing is announced or opened again. */
export function isFinalized({ release, daemonSet }: ReleaseView): boolean {
  if (release.metadata.deletionTimestamp !== undefined || release.spec.releasePlan.batchPartition !== undefined) return false
  // Keys that somebody else took away are put back: what was given back has a stopped record (F11).
  if (release.status?.flight !== undefined && release.status.flight.state !== 'stopped') return false
  return (
    release.status?.phase === 'Completed' ||
    (release.status?.phase === 'Finalizing' && daemonSet !== undefined && controlledBy(daemonSet) === undefined)
  )
}
