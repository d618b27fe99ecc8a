import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { revokeRecord } from '@tranche/fence'
import type { BatchReleasePlan } from './view/batch-release-plan.ts'
import { isFinalized } from './view/is-finalized.ts'
import { isInCharge, type ReleaseView } from './view/release-view.ts'
import { isAfterEnd } from '@tranche/verdict'
import { judgementOf } from './progress/judgement.ts'
import { restsInGroup } from './progress/needs-group.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import { canTakeGroup, GROUP_BUSY, wasLastBatchReady, isQuiet, isResting, lacksWorkload, nextInLine } from './progress/group-rules.ts'
import { groupHolderOf, type GroupView, isFree, isHeldBy, isLeaving } from './view/group-view.ts'

/** How often (ms) a waiting release reads the Lease again: other programs may change it. */
const GROUP_RECHECK_MS = 5_000

/** When (ms) a release that waits for its group, or could not give it up, is planned again; Infinity for any other. */
export function groupRecheckMs({ group }: ReleaseView, wanted: Wanted): number {
  return isBusy(wanted) || group?.leaveFailed === true ? GROUP_RECHECK_MS : Number.POSITIVE_INFINITY
}

/** Whether the release waits for its group, and for nothing else. */
export function isBusy(wanted: Wanted): boolean {
  return wanted.kind === 'stop' && wanted.holds[0]?.reason === GROUP_BUSY
}

/** G13: closes the record of a release that waits for nodes left behind, so that another release of the group can begin. */
export function planGroupRest({ release }: ReleaseView, record: FlightRecord | undefined): BatchReleasePlan | null {
  if (record?.state !== 'open') return null
  const hold = { reason: 'NodesLeft', id: release.metadata.uid }
  return { kind: 'writeRecord', why: 'stop', record: revokeRecord(record, [hold]), confirm: false }
}

/** G13: gives the group up. It comes before the finalizer is removed, so that no Lease stays. */
export function planGroupLeave(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const { release, group } = view
  if (group === undefined || group.leaveFailed === true || !isToLeave(view, group, wanted)) return null
  // F8: a stop waits for nothing, not even for a write of the Lease.
  if (wanted.kind === 'stop' && !isStopped(release)) return null
  if (group.refused === null && isHeldBy(group.lease, release)) return { kind: 'freeGroup', lease: group.name }
  return release.status?.groupLease === undefined ? null : { kind: 'writeStatus', status: { groupLease: null } }
}

function isToLeave(view: ReleaseView, group: GroupView, wanted: Wanted): boolean {
  const { release, daemonSet } = view
  if (group.wanted !== group.name || isFinalized(view)) return true
  if (release.metadata.deletionTimestamp !== undefined && !isInCharge(view, daemonSet)) return true
  // F11: a record that was lost may have had nodes in flight.
  if (wanted.kind === 'stop') return !isBusy(wanted) && !isFailed(view, wanted) && needsGroupNoMore(view, group) && !isRecordLost(view)
  return wanted.kind === 'allow' && release.status?.flight?.state === 'stopped' && restsInGroup(view, wanted.progress)
}

function isStopped({ status }: BatchRelease): boolean {
  return status?.flight === undefined || status.flight.state === 'stopped'
}

/** Without the Lease, a release that is over has nothing down but nodes left behind. */
function needsGroupNoMore({ release, daemonSet }: ReleaseView, { lease, refused }: GroupView): boolean {
  if (isQuiet(release) || isResting(release) || (daemonSet === undefined && lacksWorkload(release))) return true
  return refused === null && !isHeldBy(lease, release) && wasLastBatchReady(release)
}

/** G13: takes the Lease when it is free and this release is the first in line; ends the hold of a release that is gone or in no group. */
export function planGroupTake(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const { release, group } = view
  if (group === undefined || group.refused !== null || !isBusy(wanted)) return null
  // The status first says which Lease it is, so that it is given up again after a crash.
  if (group.wanted === null || release.status?.groupLease !== group.wanted) return null
  if (canTakeGroup(release, group))
    return nextInLine(view) === null && group.takeFailure === undefined ? { kind: 'takeGroup', lease: group.name } : null
  return group.leaveFailed !== true && isAbandoned(group) ? { kind: 'freeGroup', lease: group.name } : null
}

/** Whether the Lease names a release that is gone, has another group, or gives the group up. */
function isAbandoned({ lease, holder, name }: GroupView): boolean {
  if (isFree(lease) || groupHolderOf(lease) === null) return false
  return holder === undefined || holder.wanted !== name || isLeaving(lease)
}

function isRecordLost(view: ReleaseView): boolean {
  const { release, daemonSet } = view
  return release.status?.flight === undefined && isInCharge(view, daemonSet)
}

/** A failed release keeps the group: it may have to be rolled back, and its nodes are not well. After its end nothing is rolled back. */
function isFailed(view: ReleaseView, { holds }: Wanted & { kind: 'stop' }): boolean {
  const stops = judgementOf(view)?.stops ?? null
  return stops !== null && stops.reason === holds[0]?.reason && !isAfterEnd(view.release)
}
