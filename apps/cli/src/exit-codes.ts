import type { Outcome } from '@tranche/api-schema'

/** Exit codes of every command but `status`, part of its public face. A command that a signal ends has none: it ends by the signal. */
export const exitCodes = {
  /** It did what was asked; of what runs until it is stopped, it was. */
  done: 0,
  /** It could not: the cluster, the file, the port. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
} as const

/** @see exitCodes */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Exit codes of `status`, part of its public face: what the release came to, apart from what kept us from knowing. */
export const statusExitCodes = {
  /** Every node that can be is on the version that was asked for. */
  done: 0,
  /** The version failed, or was rolled back, or the Rollout is blocked until someone fixes what blocks it. */
  failed: 1,
  /** It was still going on when the time was up. */
  timedOut: 2,
  /** A person has to decide. */
  waiting: 3,
  /** It could not be found out: the command line is wrong, the cluster does not answer, there is no such Rollout. */
  unknown: 4,
} as const

/** @see statusExitCodes */
export type StatusExitCode = (typeof statusExitCodes)[keyof typeof statusExitCodes]

/**
 * @param waitsThrough pauses are waited through, so that a release that stands in one when the time is up was still going on
 * @returns the exit code for what was seen last
 */
export function statusExitCodeOf(outcome: Outcome, { waitsThrough }: { readonly waitsThrough: boolean }): StatusExitCode {
  return outcome === 'Waiting' && waitsThrough ? statusExitCodes.timedOut : codeOfOutcome[outcome]
}

const codeOfOutcome: Readonly<Record<Outcome, StatusExitCode>> = {
  Done: statusExitCodes.done,
  Failed: statusExitCodes.failed,
  RolledBack: statusExitCodes.failed,
  Blocked: statusExitCodes.failed,
  Waiting: statusExitCodes.waiting,
  Running: statusExitCodes.timedOut,
}
