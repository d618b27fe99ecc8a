import type { StalledReason } from '@tranche/api-schema'

/** A rule about one field of an object that users write. */
export interface Rule {
  /** Kind of object that the rule is about; `any` when the kind is not known. */
  readonly of: 'Rollout' | 'BatchRelease' | 'ReleasePolicy' | 'DaemonSet' | 'any'
  /** Path of the field, with `[i]` for the index of an entry. */
  readonly path: string
  /** The rule as a sentence without a full stop; a finding may replace it with details. */
  readonly says: string
  /** The fix as an imperative without a full stop; a finding may name values. */
  readonly fix: string
}

/** A rule whose breach is a problem. */
export interface ProblemEntry extends Rule {
  /** Reason of the condition `Stalled` until the problem is fixed. */
  readonly reason: StalledReason
}

/** Fix for an invalid size. */
export const sizeFix = 'set it to a whole number of nodes such as 3, or to a percentage such as "10%"'
/** Fix for an invalid failureThreshold. */
export const thresholdFix = 'set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"'
