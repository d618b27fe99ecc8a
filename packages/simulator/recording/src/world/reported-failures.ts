import type { RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRelease, RecordedRollout } from './stops.ts'

/** Versions that users read as failed, and that nothing may have excused since. */
export interface ReportedFailures {
  /** Follows a write of a Rollout, a BatchRelease or a ReleasePolicy. */
  follow(write: RecordedWrite, isOurs: boolean): void
  /**
   * @param rollout `namespace/name`
   * @returns the revision that its status has called failed, without any other write of a user, for long enough that each process knows it;
   *   undefined otherwise
   */
  revisionAt(rollout: string, nowMs: number): string | undefined
}

/** Time (ms) after which each process that runs knows a failure. */
const KNOWN_AFTER_MS = 10_000

/** Starts without a failure. */
export function createReportedFailures(): ReportedFailures {
  /** Rollout → revision, and since when its status has called it failed. */
  const failed = new Map<string, { readonly revision: string; readonly t: number }>()
  /** Rollouts whose BatchRelease stops, and lifts no failure by itself. */
  const stopped = new Set<string>()

  function followRollout({ t, namespace, o }: RecordedWrite, isOurs: boolean): void {
    const { metadata, status } = o as unknown as RecordedRollout
    const id = `${namespace}/${metadata.name}`
    const revision = status?.canaryStatus?.canaryRevision
    const isFailed = status?.conditions?.some((one) => one.type === 'Stalled' && one.reason === 'ReleaseFailed' && one.status === 'True')
    const known = failed.get(id)
    if (!isOurs || isFailed !== true || revision === undefined || status?.failure?.reason !== 'ReleaseFailed') failed.delete(id)
    else if (known?.revision !== revision) failed.set(id, { revision, t })
  }

  function followRelease({ namespace, type, o }: RecordedWrite): void {
    const { metadata, spec, status } = o as unknown as RecordedRelease
    const id = `${namespace}/${metadata?.name}`
    const isStopped = type !== 'DELETED' && status?.failure?.stops === true && spec?.tranche?.failure?.autoResume === undefined
    if (isStopped) stopped.add(id)
    else stopped.delete(id)
  }

  return {
    follow(write, isOurs) {
      if (write.kind === 'Rollout') followRollout(write, isOurs)
      else if (write.kind === 'BatchRelease') followRelease(write)
      else if (write.kind === 'ReleasePolicy') failed.clear()
    },
    revisionAt(rollout, nowMs) {
      const known = failed.get(rollout)
      return known !== undefined && stopped.has(rollout) && nowMs - known.t >= KNOWN_AFTER_MS ? known.revision : undefined
    },
  }
}
