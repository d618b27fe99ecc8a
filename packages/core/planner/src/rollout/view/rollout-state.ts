import type {
  AcceptedActions,
  CanaryStatus,
  Failure,
  HeldBy,
  HeldRevision,
  ProgressingReason,
  RolloutPhase,
  RolloutStatus,
  StalledReason,
  WaitingFor,
} from '@tranche/api-schema'

/** Obstacle that prevents acting on a Rollout until a user changes something. */
export interface Obstacle {
  readonly reason: StalledReason
  readonly message: string
  /** When (ms) the clock alone may remove it; absent where only an event does. */
  readonly recheckAfterMs?: number
  /** The DaemonSet is bound nevertheless, so that no other controller releases its next template. @default false */
  readonly binds?: boolean
  /**
   * An abort is carried out nevertheless (G9): it restores a template, and no pod is deleted while the obstacle remains.
   * @default false
   */
  readonly takesAborts?: boolean
  /** Whether it stops the release. @default true */
  readonly holds?: boolean
}

/** The next status of a Rollout. */
export interface NextStatus {
  readonly status: RolloutStatus
  /** A user's write that was rejected, for an event of type Warning. */
  readonly warning: string | null
  /** Milliseconds until only the clock changes the status. */
  readonly recheckAfterMs: number | null
  /** Null where the Rollout can be acted on. */
  readonly obstacle: Obstacle | null
  /** Whether the Rollout is being deleted or disabled, and its release is ended first. */
  readonly goesOn: boolean
  /** The new hold that must stop the BatchRelease before the status records it; null without a new one. */
  readonly hold: HeldBy | null
}

/** Internal state of a Rollout, independent of API terms. */
export interface RolloutState {
  readonly phase: RolloutPhase
  readonly reason: ProgressingReason | null
  readonly canary: CanaryStatus
  readonly stableRevision: string | undefined
  /** Generation of the DaemonSet with which the release started. */
  readonly releaseGeneration: number | undefined
  /** `revision` of the ControllerRevision being released. */
  readonly canaryNumber: number | undefined
  readonly succeeded: boolean | null
  /** Templates that a re-apply does not release again (G12), oldest first. */
  readonly heldRevisions: readonly HeldRevision[]
  /** Actions in force until the release ends. */
  readonly acceptedActions: AcceptedActions
  /** Why the released or rolled-back version counts as bad; undefined while it does not. */
  readonly failure: Failure | undefined
  /** Revision that the present or last rollback rolls back; undefined for any other release. */
  readonly rollbackFrom: string | undefined
  /** Since when (RFC 3339) `spec.strategy.paused` has stopped the release; valid only while the reason is `Paused`. */
  readonly pausedSince: string | undefined
  readonly message: string
  /** What the present step, or the end of the release, waits for; absent where the message is about something else. */
  readonly waitingFor?: WaitingFor | undefined
  readonly stalled: { readonly reason: StalledReason; readonly message: string } | null
  readonly warning: string | null
  readonly recheckAfterMs: number | null
  readonly obstacle: Obstacle | null
  /** Whether the Rollout is being deleted or disabled, and its release is ended first. */
  readonly goesOn: boolean
}
