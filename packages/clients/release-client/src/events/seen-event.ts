import type { EventReport } from '@tranche/api-schema'
import { compareResourceVersions, type KubeObject, clipText } from '@tranche/kube-types'

/** Event of core/v1, with the fields that are used. */
export interface SeenEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly eventTime?: string | null
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null
}

/** Timestamps are whole seconds: within one second, the last written event is newest. */
export function newestFirst(a: StampedEvent, b: StampedEvent): number {
  if (a.report.at !== b.report.at) return a.report.at < b.report.at ? 1 : -1
  return compareResourceVersions(b.resourceVersion, a.resourceVersion)
}

/** Event with the version of its object. */
export interface StampedEvent {
  readonly report: EventReport
  readonly resourceVersion: string
}

/** Converts an event to its report. */
export function toEventReport(event: SeenEvent): EventReport {
  const { involvedObject, type, reason = '', message = '', series, metadata } = event
  const at = series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? metadata.creationTimestamp
  const count = series?.count ?? event.count
  return {
    at: at ?? '',
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason,
    object: `${involvedObject?.kind ?? ''}/${involvedObject?.name ?? ''}`,
    message,
    ...(count !== undefined && { count }),
  }
}

/** Maximum lengths of a message and a reason, in characters: the limits of events.k8s.io. core/v1 events can be longer. */
const LONGEST_MESSAGE = 1_024
const LONGEST_REASON = 128

/** Converts an event to a report of bounded size, because many accounts may write events. */
export function toBoundedReport(event: SeenEvent): EventReport {
  const report = toEventReport(event)
  return { ...report, reason: cutReason(report.reason), message: clipText(report.message, LONGEST_MESSAGE) }
}

/** @returns the text with the length of a reason, at most */
export function cutReason(text: string): string {
  return clipText(text, LONGEST_REASON)
}
