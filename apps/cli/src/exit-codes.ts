/** Exit codes of the command, part of its public face. */
export const exitCodes = {
  /** It did what was asked, or was stopped by a person. */
  done: 0,
  /** It could not: the cluster, the file, the port. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
} as const

/** @see exitCodes */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
