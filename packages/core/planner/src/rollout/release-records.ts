import { RELEASES_MAX, type ReleaseRecord, type ReleaseResult, type RolloutStatus } from '@tranche/api-schema'
import { partsOfReleaseId } from './release-spec.ts'

/** Longest text that is kept of a failure, in characters. */
const LONGEST_TEXT = 256

/**
 * The releases that a status remembers, newest last: one begins with each template that is released, and ends when the status next says
 * that it is over, or that another template is released. A rollback is the end of the release that it rolls back, and no release itself.
 *
 * @param before the status that stands
 * @param next what the status is about to say beside this
 * @returns undefined where there was none yet
 */
export function nextReleases(before: RolloutStatus | undefined, next: RolloutStatus, nowMs: number): readonly ReleaseRecord[] | undefined {
  const at = new Date(nowMs).toISOString()
  const records = before?.releases ?? []
  const latest = records.at(-1)
  const open = latest === undefined || latest.result !== undefined ? undefined : withFailure(latest, next)
  const released = releasedBy(next)
  if (open === undefined)
    return released === undefined ? before?.releases : [...records, { revision: released, startedAt: at }].slice(-RELEASES_MAX)
  const earlier = records.slice(0, -1)
  if (released === open.revision || isGoing(next)) return [...earlier, open]
  if (released === undefined) return [...earlier, ended(open, endOf(next), at)]
  const overtaken = ended(open, open.failure === undefined ? 'Superseded' : 'Failed', at)
  return [...earlier, overtaken, { revision: released, startedAt: at }].slice(-RELEASES_MAX)
}

/** The Rollout is being disabled or deleted, and its release is ended first. */
function isGoing({ phase }: RolloutStatus): boolean {
  return phase === 'Disabling' || phase === 'Terminating'
}

/** The revision whose release is under way; in a rollback the one that is rolled back. */
function releasedBy({ phase, canaryStatus, rollbackFrom }: RolloutStatus): string | undefined {
  return phase === 'Progressing' ? (rollbackFrom ?? canaryStatus?.canaryRevision) || undefined : undefined
}

/** A release that has ended says so in `Succeeded`, also where the Rollout is disabled after it; one that was stopped does not. */
function endOf({ conditions = [] }: RolloutStatus): ReleaseResult {
  const succeeded = conditions.find(({ type }) => type === 'Succeeded')?.status
  if (succeeded === undefined) return 'Stopped'
  return succeeded === 'False' ? 'RolledBack' : 'Completed'
}

/**
 * The failure that stopped it, as it was last before the rollback: more nodes may fail after the first. The status forgets the failure
 * before it says what comes next.
 */
function withFailure(record: ReleaseRecord, { failure, rollbackFrom }: RolloutStatus): ReleaseRecord {
  if (record.failure !== undefined && rollbackFrom !== undefined) return record
  if (failure?.stops !== true || partsOfReleaseId(failure.release).revision !== record.revision) return record
  return { ...record, failure: failure.message.slice(0, LONGEST_TEXT) }
}

/** A version that came to every node after all did not fail. */
function ended({ failure, ...record }: ReleaseRecord, result: ReleaseResult, at: string): ReleaseRecord {
  return { ...record, endedAt: at, result, ...(failure !== undefined && result !== 'Completed' && { failure }) }
}
