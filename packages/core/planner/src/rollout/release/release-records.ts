import { RELEASES_MAX, type ReleaseRecord, type ReleaseResult, type RolloutStatus } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { partsOfReleaseId } from './release-id.ts'

/** Maximum length of a stored failure text, in characters. */
const LONGEST_TEXT = 256

/**
 * Releases that a status records, newest last. A release starts with each released template, unless that is blocked. It ends when the next
 * status says that it is over, or that another template is released. A rollback is the end of the release that it rolls back, not a release
 * itself.
 *
 * @param before the stored status
 * @param next the next status without its records
 * @returns undefined before the first release
 */
export function nextReleases(before: RolloutStatus | undefined, next: RolloutStatus, nowMs: number): readonly ReleaseRecord[] | undefined {
  const at = new Date(nowMs).toISOString()
  const records = before?.releases ?? []
  const latest = records.at(-1)
  const open = latest === undefined || latest.result !== undefined ? undefined : withFailure(latest, next)
  const released = releasedBy(next)
  const started = released === undefined || isBlocked(next, released) ? [] : [{ revision: released, startedAt: at }]
  if (open === undefined) return started.length === 0 ? before?.releases : [...records, ...started].slice(-RELEASES_MAX)
  const earlier = records.slice(0, -1)
  if (released === open.revision || isGoing(next)) return [...earlier, open]
  if (released === undefined) return [...earlier, ended(open, endOf(next), at)]
  const overtaken = ended(open, open.failure === undefined ? 'Superseded' : 'Failed', at)
  return [...earlier, overtaken, ...started].slice(-RELEASES_MAX)
}

/** Whether the revision is blocked: it is not released, nor is the end of its return to the stable one the end of a release. */
function isBlocked({ heldRevisions = [] }: RolloutStatus, released: string): boolean {
  return heldRevisions.some(({ revision }) => revision === released)
}

/** Whether the Rollout is being disabled or deleted, and its release is ended first. */
function isGoing({ phase }: RolloutStatus): boolean {
  return phase === 'Disabling' || phase === 'Terminating'
}

/** Revision whose release is in progress; during a rollback the one that is rolled back. */
function releasedBy({ phase, canaryStatus, rollbackFrom }: RolloutStatus): string | undefined {
  return phase === 'Progressing' ? (rollbackFrom ?? canaryStatus?.canaryRevision) || undefined : undefined
}

/** Result of a release by its `Succeeded` condition, even where the Rollout is disabled later; a stopped release has none. */
function endOf({ conditions = [] }: RolloutStatus): ReleaseResult {
  const succeeded = conditions.find(({ type }) => type === 'Succeeded')?.status
  if (succeeded === undefined) return 'Stopped'
  return succeeded === 'False' ? 'RolledBack' : 'Completed'
}

/**
 * The failure that stopped the release, in its last form before the rollback: more nodes may fail after the first. The status drops the
 * failure before it describes what comes next.
 */
function withFailure(record: ReleaseRecord, { failure, rollbackFrom }: RolloutStatus): ReleaseRecord {
  if (record.failure !== undefined && rollbackFrom !== undefined) return record
  if (failure?.stops !== true || partsOfReleaseId(failure.release).revision !== record.revision) return record
  return { ...record, failure: clipText(failure.message, LONGEST_TEXT) }
}

/** A version that reached every node did not fail. */
function ended({ failure, ...record }: ReleaseRecord, result: ReleaseResult, at: string): ReleaseRecord {
  return { ...record, endedAt: at, result, ...(failure !== undefined && result !== 'Completed' && { failure }) }
}
