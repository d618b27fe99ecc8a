import { type BatchRelease, isGroupWait } from '@tranche/api-schema'
import type { ReleaseView } from '../view/release-view.ts'
import { isAfterEnd, knownFailure } from '@tranche/verdict'
import { isAtEnd, isStatusOfRelease } from '../view/is-finalized.ts'
import { groupNameOf, type GroupView, isFree, isHeldBy, isLeaving } from '../view/group-view.ts'

/** How long (ms) a free Lease waits for the first release in line before any other release may take it. */
const PATIENCE_MS = 30_000

/** G13: whether the release may open its record: it is in no group, or holds the Lease of its group and does not give it up. */
export function mayOpen({ release, group }: Pick<ReleaseView, 'release' | 'group'>): boolean {
  if (groupNameOf(release) === undefined) return true
  if (group === undefined || group.refused !== null || group.name !== group.wanted) return false
  return isHeldBy(group.lease, release) && !isLeaving(group.lease)
}

/** Whether nothing of the release can go down, or is down: its record is stopped and every node has settled. */
export function isQuiet({ status }: BatchRelease): boolean {
  const record = status?.flight
  return record === undefined || (record.state === 'stopped' && record.permits.length === 0)
}

/**
 * Whether the release is over but for nodes left behind, and is stopped, so that it needs no group until they return. It stays so while it is
 * stopped for another reason: once it has given its group up, it takes no node down before it has the group again. A node left that has
 * failed counts as left behind, too.
 */
export function isResting(release: BatchRelease): boolean {
  const { status } = release
  if (status?.flight?.state !== 'stopped') return false
  return (
    status.waiting?.reason === 'NodesLeft' || (status.groupLease === undefined && wasLastBatchReady(release)) || hasFailedAtLeft(release)
  )
}

/** Whether a failure after the end has stopped the release, and no node of it is in flight but those on which it failed. */
function hasFailedAtLeft(release: BatchRelease): boolean {
  const failure = knownFailure(release)
  if (!isAfterEnd(release) || failure?.stops !== true) return false
  return (release.status?.flight?.permits ?? []).every(({ node }) => failure.nodes.includes(node))
}

/** Whether the last batch was ready, and no node left has begun an update since: a stop does not change that. */
export function wasLastBatchReady(release: BatchRelease): boolean {
  return isAtEnd(release) && isStatusOfRelease(release) && release.status?.canaryStatus?.batchState === 'Ready'
}

/** Whether the release is stopped because its DaemonSet does not exist: then no node of it can come back, and nothing of it can be deleted. */
export function lacksWorkload({ status }: BatchRelease): boolean {
  return status?.flight?.state === 'stopped' && status.waiting?.reason === 'WorkloadNotFound'
}

/**
 * G13: whether the Lease may pass from this release to another one, by a live read of the release. The record is stopped, and each node is
 * available again, left behind, without a DaemonSet, or carried over to the next release of the DaemonSet by a deletion.
 */
export function mayLeaveGroup(release: BatchRelease, wanted: string | null, lease: string): boolean {
  if (wanted !== lease || isQuiet(release) || lacksWorkload(release)) return true
  return release.status?.flight?.state === 'stopped' && (release.metadata.deletionTimestamp !== undefined || isResting(release))
}

/**
 * The release that goes before this one; null where this one is the first. Releases with nodes in flight come first, then rollbacks, then the
 * one that has waited longest. Only fairness depends on it: a first release that does not take the Lease delays the others by half a minute.
 * One that controls its DaemonSet and has nodes in flight delays them until these are available again, unless it has given the group up.
 */
export function nextInLine({ release, group }: ReleaseView): BatchRelease | null {
  if (group === undefined) return null
  const isPatient = (group.freeForMs ?? 0) < PATIENCE_MS
  const own = placeOf(release)
  const ahead = group.members.flatMap(({ release: member, isInCharge }) => {
    if (member.metadata.deletionTimestamp !== undefined) return []
    const isWaiting = isGroupWait(member.status?.waiting?.reason)
    const isBefore = isInFlight(member) ? isPatient || (isInCharge && !hasGivenUp(member)) : isPatient && isWaiting
    return isBefore && comesBefore(placeOf(member), own) ? [member] : []
  })
  return ahead.toSorted((a, b) => (comesBefore(placeOf(a), placeOf(b)) ? -1 : 1))[0] ?? null
}

/**
 * Whether the release has no Lease, asks for none, and is stopped before it begins. Its nodes in flight are those that the release before it left
 * behind. One that has begun may have got its group later, with nodes of its own in flight.
 */
function hasGivenUp({ status }: BatchRelease): boolean {
  const isBegun = status?.phase !== 'Preparing'
  return !isBegun && status.flight?.state === 'stopped' && status.groupLease === undefined && !isGroupWait(status.waiting?.reason)
}

/** Reason of a stop while a release waits for its group. @see groupWaitReasons for those of `status.waiting` */
export const GROUP_BUSY = 'GroupBusy'

function isInFlight(release: BatchRelease): boolean {
  return !isQuiet(release) && !isResting(release) && !lacksWorkload(release)
}

function placeOf(release: BatchRelease): readonly [number, string, string] {
  const { canaryRevision, stableRevision } = release.spec.tranche ?? {}
  const isRollback = canaryRevision !== undefined && canaryRevision === stableRevision
  const { waiting } = release.status ?? {}
  const since = waiting != null && isGroupWait(waiting.reason) ? waiting.since : '~'
  return [isInFlight(release) ? 0 : isRollback ? 1 : 2, since, keyOfRelease(release)]
}

/** Namespace and name, separated by a slash. */
export function keyOfRelease({ metadata: { namespace = '', name } }: BatchRelease): string {
  return `${namespace}/${name}`
}

function comesBefore(a: readonly [number, string, string], b: readonly [number, string, string]): boolean {
  if (a[0] !== b[0]) return a[0] < b[0]
  return a[1] === b[1] ? a[2] < b[2] : a[1] < b[1]
}

/** Whether the Lease can be taken now, as far as this process sees: it has no holder, or this release, which gives it up. */
export function canTakeGroup(release: BatchRelease, { lease }: GroupView): boolean {
  return isFree(lease) || (isHeldBy(lease, release) && isLeaving(lease))
}
