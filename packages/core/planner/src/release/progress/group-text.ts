import type { BatchRelease, GroupWaitReason } from '@tranche/api-schema'
import { rolloutOf } from '@tranche/kube-types'
import { groupHolderOf, groupNameOf, isFree, isHeldBy } from '../view/group-view.ts'
import type { ReleaseView } from '../view/release-view.ts'
import { canTakeGroup, keyOfRelease, nextInLine } from './group-rules.ts'

/** Why a release waits for its group, and what ends the wait. */
export interface GroupWait {
  readonly reason: GroupWaitReason
  readonly message: string
}

/** Why the release waits for its group. */
export function groupWait(view: ReleaseView): GroupWait {
  const { release, group } = view
  const named = `group ${groupNameOf(release) ?? ''}`
  if (group === undefined) return busy(`${named}: its Lease has not been read yet`)
  if (group.refused !== null)
    return { reason: group.refused.reason, message: `${named} (downtime.group of the policy): ${group.refused.message}` }
  if (group.name !== group.wanted) return busy(`${named}: leaving the former group first`)
  const { lease } = group
  if (group.takeFailure !== undefined && canTakeGroup(release, group) && nextInLine(view) === null)
    return notTaken(named, group.takeFailure)
  if (isHeldBy(lease, release)) return busy(`${named}: taking its Lease again`)
  if (isFree(lease)) return busy(freeText(named, nextInLine(view)))
  const holder = groupHolderOf(lease)
  if (holder === null) {
    const message = `${named} is held by "${lease?.spec?.holderIdentity ?? ''}", which is no release; if it has ended, delete the Lease ${group.name}`
    return { reason: 'GroupLocked', message }
  }
  const name = group.holder === undefined ? `the release ${holder.namespace}/${holder.name}, which is gone` : titleOf(group.holder.release)
  return busy(`${named} releases one DaemonSet at a time; waiting for ${name}${stateText(group.holder?.release)}`)
}

function notTaken(named: string, why: string): GroupWait {
  const fix = 'the controller tries again by itself; if this lasts, fix what the message names (rights: docs/operations/permissions.md)'
  return { reason: 'GroupFailed', message: `${named} (downtime.group of the policy): its Lease cannot be taken: ${why}; ${fix}` }
}

function busy(message: string): GroupWait {
  return { reason: 'GroupBusy', message }
}

/** @param first the release that goes before this one; null where there is none */
function freeText(named: string, first: BatchRelease | null): string {
  if (first === null) return `${named}: taking its Lease`
  return `${named} releases one DaemonSet at a time; ${titleOf(first)} comes first${stateText(first)}`
}

function titleOf(release: BatchRelease): string {
  const owner = rolloutOf(release)
  const key = keyOfRelease(release)
  return owner === undefined ? `BatchRelease ${key}` : `Rollout ${key}`
}

/** What a person may have to decide about the other release. */
function stateText(release: BatchRelease | undefined): string {
  if (release === undefined) return ''
  const { canaryStatus } = release.status ?? {}
  if (release.status?.failure?.stops === true) return ', which has failed and waits for a decision'
  if (release.spec.releasePlan.batchPartition === undefined || canaryStatus?.batchState !== 'Ready') return ''
  return ', whose step is done and whose next step has not begun'
}
