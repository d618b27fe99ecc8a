import type { WaitingFor } from '../status-fields.ts'
import { blockedReasons } from './wait-reasons.ts'

/**
 * The text of a wait, with its start where that is known. Nodes that a check keeps have times of their own in the message: the release waits
 * for nothing else since then.
 */
export function waitText({ reason, message, since }: Pick<WaitingFor, 'reason' | 'message' | 'since'>): string {
  if (since === undefined) return message
  const isForChecks = blockedReasons.some((one) => one === reason)
  return `${message} (${isForChecks ? 'waiting only for such nodes since' : 'since'} ${since})`
}
