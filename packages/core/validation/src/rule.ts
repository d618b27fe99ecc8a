import type { StalledReason } from '@tranche/api-schema'

/** One rule about what people write. */
export interface Rule {
  /** Kind of the object that it is about; `any`: of one whose kind is not known. */
  readonly of: 'Rollout' | 'BatchRelease' | 'ReleasePolicy' | 'DaemonSet' | 'any'
  /** Path of the field, with `[i]` for the number of an entry. */
  readonly path: string
  /** The rule as a sentence without full stop; a finding may say more of its case. */
  readonly says: string
  /** What to do, as an imperative without full stop; a finding may name values. */
  readonly fix: string
}

/** A rule whose breach is a problem. */
export interface ProblemEntry extends Rule {
  /** Reason of the condition `Stalled` while the problem stands. */
  readonly reason: StalledReason
}

/** What to do about a size that is none. */
export const sizeFix = 'set it to a whole number of nodes such as 3, or to a percentage such as "10%"'
/** What to do about a failureThreshold that is none. */
export const thresholdFix = 'set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"'
