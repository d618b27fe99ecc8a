import type { BlockedReason, GroupWaitReason, RolloutStatus } from '@tranche/api-schema'

/**
 * Whether only a person ends a wait, by its reason. False where it may also end by itself: images may be pushed, other pods leave, and a
 * request that failed is sent again.
 */
export const personWaits: Readonly<Record<BlockedReason | GroupWaitReason, boolean>> = {
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
  // Only a request that is forbidden.
  GroupFailed: true,
  GroupNotAllowed: true,
}

/** Whether only a person ends a wait with this reason; false for reasons of a newer version. */
export function needsPerson(reason: string): boolean {
  return Object.hasOwn(personWaits, reason) && personWaits[reason as keyof typeof personWaits]
}

/** Whether a release runs and no pause stops it: what it waits for then is `waitingFor`. */
export function isUnpaused({ phase, conditions, canaryStatus }: RolloutStatus): boolean {
  const progressing = conditions?.find(({ type }) => type === 'Progressing')
  return phase === 'Progressing' && progressing?.reason !== 'Paused' && canaryStatus?.currentStepState !== 'StepPaused'
}
