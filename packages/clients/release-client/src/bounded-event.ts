import type { EventReport } from '@tranche/api-schema'
import { type SeenEvent, toEventReport } from './read-events.ts'

/** Maximum lengths of a message and a reason, in characters: the limits of events.k8s.io. core/v1 events can be longer. */
const LONGEST_MESSAGE = 1_024
const LONGEST_REASON = 128

/** Converts an event to a report of bounded size, because many accounts may write events. */
export function toBoundedReport(event: SeenEvent): EventReport {
  const report = toEventReport(event)
  return { ...report, reason: cutReason(report.reason), message: cut(report.message, LONGEST_MESSAGE) }
}

/** @returns the text with the length of a reason, at most */
export function cutReason(text: string): string {
  return cut(text, LONGEST_REASON)
}

/** Copies the cut text, so that it does not retain the long one in memory. Half a surrogate pair becomes U+FFFD. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${new TextDecoder().decode(new TextEncoder().encode(text.slice(0, most - 1)))}…`
}
