import type { Outcome } from '@tranche/api-schema'

/** Public exit codes of every command but `status`. A command stopped by a signal ends by that signal, without an exit code. */
export const exitCodes = {
  /** The command succeeded, or a long-running command was stopped. */
  done: 0,
  /** The command failed, such as by the cluster, a file or a port. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
} as const

/** @see exitCodes */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Public exit codes of `status`: the outcome of the release, with a separate code for an unknown outcome. */
export const statusExitCodes = {
  /** Every node that can be updated runs the requested version. */
  done: 0,
  /** The version failed, or was rolled back, or the Rollout is blocked until a user fixes the cause. */
  failed: 1,
  /** The release was still in progress when the timeout elapsed. */
  timedOut: 2,
  /** A person has to decide. */
  waiting: 3,
  /** The outcome is unknown: invalid command line, no answer from the cluster, or no such Rollout. */
  unknown: 4,
} as const

/** @see statusExitCodes */
export type StatusExitCode = (typeof statusExitCodes)[keyof typeof statusExitCodes]

/**
 * @param waitsThrough whether `status` waits through pauses; a release in a pause then counts as timed out
 * @returns the exit code for the last outcome seen
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
