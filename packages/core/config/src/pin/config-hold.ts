/** Reasons why config is not pinned, as in the condition `ConfigUnversioned`. */
export const configHoldReasons = [
  /** The installation does not allow it. */
  'PinNotAllowed',
  /** The API server would not name copies in pods. */
  'PodPolicyMissing',
  /** The API server does not answer. */
  'NoAnswer',
  /** An object, or the copies of the DaemonSet, cannot be read. */
  'ConfigUnread',
  /** An object is of a kind that cannot be copied. */
  'Uncopyable',
  /** The template names more than can be pinned. */
  'BeyondLimits',
  /** A copy cannot be created: a quota, a right, or a webhook. */
  'CopyFailed',
  /** The template, or the mark of a copy, cannot be written. */
  'PinFailed',
  /** Config changed the template too often. */
  'TooManyChanges',
  /** The template may change only under the strategy `OnDelete`. */
  'StrategyNotOnDelete',
  /** The template stays as it is until the rollback is over. */
  'RollbackInProgress',
  /** Pods of the present revision read config itself. */
  'ReadByPods',
] as const

/** One of {@link configHoldReasons}. */
export type ConfigHoldReason = (typeof configHoldReasons)[number]

/** Why config is not pinned as the policy asks. */
export interface ConfigHold {
  readonly reason: ConfigHoldReason
  /** Cause and fix. */
  readonly message: string
  /** Whether it holds a rollback too: its pods would read content that was never pinned. @default false */
  readonly holdsRollback?: boolean
}
