/** Reasons of nodes that keep their old pod while executors prepare them; nothing has failed there. */
export const underWayReasons = ['Pulling', 'Draining'] as const
/** @see underWayReasons */
export type UnderWayReason = (typeof underWayReasons)[number]

/** Reasons of nodes that keep their old pod because a check of the node does not allow its deletion (`status.flight.blocked`). */
export const blockedReasons = [
  'NoRoom',
  'RoomUnread',
  'RoomNotAllowed',
  'ImagePull',
  'PrePullNotAllowed',
  'DrainBlocked',
  'DrainTaken',
  'DrainNotAllowed',
  'NodeLocked',
  'NodeLockFailed',
  'NodeLockNotAllowed',
  'DeletionRefused',
  'DowntimeSpent',
  'DowntimeFailed',
  'DowntimeNotAllowed',
  'CheckFailed',
  ...underWayReasons,
] as const
/** @see blockedReasons */
export type BlockedReason = (typeof blockedReasons)[number]

/**
 * Reasons of `status.waiting` of a release that waits for its group (G13). In this order: another release has it or comes first; a program
 * that is no release has it; its Lease cannot be read or taken; the installation allows no groups.
 */
export const groupWaitReasons = ['GroupBusy', 'GroupLocked', 'GroupFailed', 'GroupNotAllowed'] as const
/** @see groupWaitReasons */
export type GroupWaitReason = (typeof groupWaitReasons)[number]

/** Whether a release that waits for this reason waits for its group. */
export function isGroupWait(reason: string | undefined): boolean {
  return groupWaitReasons.some((one) => one === reason)
}

/** Reasons of `status.waiting` of a batch that reaches no node: machines may return; or the policy excludes all of them. */
export const reachWaitReasons = ['NoNodeInReach', 'NodesExcluded'] as const
/** @see reachWaitReasons */
export type ReachWaitReason = (typeof reachWaitReasons)[number]

/** Whether a release that waits for this reason waits for nodes that it can reach. */
export function isReachWait(reason: string | undefined): boolean {
  return reachWaitReasons.some((one) => one === reason)
}

/**
 * Reason of `status.waiting` of a release that waits for nothing but nodes whose failures a retry accepted, once they have had their time to
 * recover.
 */
export const ACCEPTED_FAILED = 'AcceptedFailed'

/**
 * Reason of `status.waiting` of a release that waits only for nodes on which no failure counts: some were not available before their update
 * either. They have had their time to recover.
 */
export const UNAVAILABLE_BEFORE = 'UnavailableBefore'

/** Reason of `status.waiting` of a release whose permits no executor uses, although the budget allows it. */
export const NOT_DELETED = 'NotDeleted'

/** Whether only a person ends a wait, by its reason. False where it may also end by itself: a request that failed is sent again. */
export const personWaits: Readonly<
  Record<
    BlockedReason | GroupWaitReason | ReachWaitReason | typeof ACCEPTED_FAILED | typeof UNAVAILABLE_BEFORE | typeof NOT_DELETED,
    boolean
  >
> = {
  NoRoom: false,
  RoomUnread: false,
  RoomNotAllowed: true,
  ImagePull: false,
  PrePullNotAllowed: true,
  DrainBlocked: false,
  DrainTaken: false,
  DrainNotAllowed: true,
  NodeLocked: false,
  NodeLockFailed: false,
  NodeLockNotAllowed: true,
  DeletionRefused: false,
  DowntimeSpent: false,
  DowntimeFailed: false,
  DowntimeNotAllowed: true,
  CheckFailed: false,
  Pulling: false,
  Draining: false,
  GroupBusy: false,
  GroupLocked: false,
  GroupFailed: false,
  GroupNotAllowed: true,
  [ACCEPTED_FAILED]: true,
  [UNAVAILABLE_BEFORE]: true,
  [NOT_DELETED]: true,
  NoNodeInReach: false,
  NodesExcluded: true,
}

/** The reasons of waits that only a person ends. */
export const personWaitReasons: readonly string[] = Object.entries(personWaits).flatMap(([reason, isForPerson]) =>
  isForPerson ? [reason] : [],
)
