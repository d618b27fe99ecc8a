import type { BatchRelease } from '@tranche/api-schema'
import { rolloutOf } from '@tranche/kube-types'
import { groupHolderOf, groupNameOf, isFree, isHeldBy } from '../view/group-view.ts'
import type { ReleaseView } from '../view/release-view.ts'
import { keyOfRelease, nextInLine } from './group-rules.ts'

/** Why the release waits for its group, and what ends the wait. */
export function busyText(view: ReleaseView): string {
  const { release, group } = view
  const named = `group ${groupNameOf(release) ?? ''}`
  if (group === undefined) return `${named}: its Lease has not been read yet`
  if (group.refused !== null) return `${named} (downtime.group of the policy): ${group.refused}`
  if (group.name !== group.wanted) return `${named}: leaving the former group first`
  const { lease } = group
  if (isHeldBy(lease, release)) return `${named}: taking its Lease again`
  if (isFree(lease)) return freeText(named, nextInLine(view))
  const holder = groupHolderOf(lease)
  if (holder === null)
    return `${named} is held by "${lease?.spec?.holderIdentity ?? ''}", which is no release; if it has ended, delete the Lease ${group.name}`
  const name = group.holder === undefined ? `the release ${holder.namespace}/${holder.name}, which is gone` : titleOf(group.holder.release)
  return `${named} releases one DaemonSet at a time; waiting for ${name}${stateText(group.holder?.release)}`
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
