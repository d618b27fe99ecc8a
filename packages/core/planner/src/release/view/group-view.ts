import type { BatchRelease, GroupWaitReason } from '@tranche/api-schema'
import type { Lease } from '@tranche/kube-types'

/** What one pass has read about the group of a release (G13). */
export interface GroupView {
  /** Lease of the group that the policy names; null without a group. */
  readonly wanted: string | null
  /** Why the Leases of groups cannot be used, and the fix; null where they can. */
  readonly refused: GroupRefusal | null
  /** Name of the Lease that was read: the one in the status, else the wanted one. */
  readonly name: string
  /** The Lease; null where it does not exist, or was not read. */
  readonly lease: Lease | null
  /** The BatchRelease that the Lease names, by the watch; undefined where the watch has none with its uid. */
  readonly holder: GroupMember | undefined
  /** The other releases whose policies name the same group. */
  readonly members: readonly OtherMember[]
  /** Milliseconds for which this process has seen the Lease without a holder; null while it has one. */
  readonly freeForMs: number | null
  /** Whether the Lease could not be given up a short time ago. Nothing else waits for it: without its holder, another release frees it. */
  readonly leaveFailed?: boolean
  /** Why the Lease could not be taken a short time ago; undefined where it was, or may be tried now. */
  readonly takeFailure?: string | undefined
}

/** Why the Leases of groups cannot be used, and the fix. */
export interface GroupRefusal {
  readonly reason: Extract<GroupWaitReason, 'GroupNotAllowed' | 'GroupFailed'>
  readonly message: string
}

/** Another release of a group. */
export interface OtherMember {
  readonly release: BatchRelease
  /** Whether its DaemonSet is controlled by it: only then can it have taken nodes down. Its status is written by more than the controller. */
  readonly isInCharge: boolean
}

/** A release and the group that it belongs to now. */
export interface GroupMember {
  readonly release: BatchRelease
  /** Lease of the group that its policy names; null without a group. */
  readonly wanted: string | null
}

/** A release as the Lease of a group names it. */
export interface GroupHolder {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Annotation on the Lease of a group whose holder gives it up: the holder may not open its record any more. */
export const LEAVING_ANNOTATION = 'tranche.dev/leaving'

/**
 * Name of the Lease of a group. Namespaces are no part of the name where the installation lets them share their groups. A group has no dot in
 * its name, so the two kinds never collide.
 */
export function groupLeaseName(group: string, namespace: string, isShared: boolean): string {
  return isShared ? `tranche-group.${group}` : `tranche-group.${namespace}.${group}`
}

/**
 * Whether a text can be the name of the Lease of a group. A status may name any text, and one that is no name of an object would make every
 * read of it fail.
 */
export function isGroupLeaseName(name: string): boolean {
  return LEASE_NAME.test(name)
}

/** A group, or a namespace and a group: each is a label of RFC 1123. */
const LEASE_NAME = /^tranche-group(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){1,2}$/

/** The group of a release by its policy; undefined without one. */
export function groupNameOf({ spec }: BatchRelease): string | undefined {
  return spec.tranche?.downtime?.group
}

/** `holderIdentity` of a Lease that a release holds. */
export function holderText({ metadata: { namespace = '', name, uid } }: BatchRelease): string {
  return `${namespace}/${name}/${uid}`
}

/** The release that a Lease names; null where it has no holder, or one that is no release. */
export function groupHolderOf(lease: Lease | null): GroupHolder | null {
  const [namespace = '', name = '', uid = '', ...more] = (lease?.spec?.holderIdentity ?? '').split('/')
  return namespace === '' || name === '' || uid === '' || more.length > 0 ? null : { namespace, name, uid }
}

/** Whether a Lease names no holder. */
export function isFree(lease: Lease | null): boolean {
  return (lease?.spec?.holderIdentity ?? '') === ''
}

/** Whether the holder of the Lease gives it up. */
export function isLeaving(lease: Lease | null): boolean {
  return lease?.metadata.annotations?.[LEAVING_ANNOTATION] !== undefined
}

/** Whether the Lease names this release, even if the release gives it up. */
export function isHeldBy(lease: Lease | null, release: BatchRelease): boolean {
  return lease?.spec?.holderIdentity === holderText(release)
}
