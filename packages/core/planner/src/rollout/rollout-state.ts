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

/** What keeps a Rollout from being acted on at all, until somebody changes something. */
export interface Obstacle {
  readonly reason: StalledReason
  readonly message: string
  /** When the clock alone may take it away; absent where only an event does. */
  readonly recheckAfterMs?: number
  /** The DaemonSet is bound all the same, so that nobody else releases its next template either. @default false */
  readonly binds?: boolean
  /** An abort is carried out all the same (G9): it puts a template back, and no pod is deleted while the obstacle stands. @default false */
  readonly takesAborts?: boolean
}

/** The status a Rollout should have now. */
export interface NextStatus {
  readonly status: RolloutStatus
  /** Something somebody wrote could not be taken; for an event of type Warning. */
  readonly warning: string | null
  /** When only the clock will change the status. */
  readonly recheckAfterMs: number | null
  /** Null where the Rollout can be acted on. */
  readonly obstacle: Obstacle | null
  /** The Rollout goes, and its release is brought to an end before. */
  readonly goesOn: boolean
  /** What the status is about to hold, and the BatchRelease is stopped with first; null where it is nothing new. */
  readonly hold: HeldBy | null
}

/** Where a Rollout stands, before it is put into the words of the API. */
export interface RolloutState {
  readonly phase: RolloutPhase
  readonly reason: ProgressingReason | null
  readonly canary: CanaryStatus
  readonly stableRevision: string | undefined
  /** Generation of the DaemonSet with which the release began. */
  readonly releaseGeneration: number | undefined
  /** `revision` of the ControllerRevision that is released. */
  readonly canaryNumber: number | undefined
  readonly succeeded: boolean | null
  /** Templates that are not released again by a re-apply (G12), oldest first. */
  readonly heldRevisions: readonly HeldRevision[]
  /** Actions that count until the release ends. */
  readonly acceptedActions: AcceptedActions
  /** Why the version is taken to be bad, which the release brings or took back; undefined while it is not. */
  readonly failure: Failure | undefined
  /** The revision that the release takes back, or the last one took back; undefined for any other release. */
  readonly rollbackFrom: string | undefined
  /** Since when (RFC 3339) `spec.strategy.paused` has stopped the release; counts only while the reason is `Paused`. */
  readonly pausedSince: string | undefined
  readonly message: string
  /** What the step under way waits for, or the end of the release; absent where the message is about anything else. */
  readonly waitingFor?: WaitingFor | undefined
  readonly stalled: { readonly reason: StalledReason; readonly message: string } | null
  readonly warning: string | null
  readonly recheckAfterMs: number | null
  readonly obstacle: Obstacle | null
  /** The Rollout goes, and its release is brought to an end before. */
  readonly goesOn: boolean
}
